"""Decoding: a model continues a text greedily, by sampling, or by beam search with its whole tree kept."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .transformer import Transformer

# Greedy decoding and sampling

Prefix = Int[Tensor, "batch prefix"]
Source = Int[Tensor, "_ source"]
Written = Int[Tensor, "batch written"]


class NextToken:
    """Logits of what follows a growing sequence; computes only what is new."""

    def __init__(self, model: Transformer, source: Source | None = None) -> None:
        self.model = model
        self.source = source
        self.memory = None if source is None else model.encode(source)
        self.cache = model.new_cache()

    def __call__(self, tokens: Written) -> Float[Tensor, "batch vocab"]:
        """Logits for the position after the last of `tokens` (all so far: the cache knows which are new)."""
        new = tokens[:, self.cache.length :]
        return self.model.decode(new, self.memory, self.source, cache=self.cache)[:, -1]

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Goes on with these rows of the batch, in this order, repeats allowed."""
        if self.memory is not None and self.source is not None:
            self.memory, self.source = self.memory[rows], self.source[rows]
        self.cache.select(rows)


@torch.no_grad()
def greedy(
    model: Transformer,
    prefix: Prefix,
    *,
    source: Source | None = None,
    eos_id: int | None = None,
    max_new_tokens: int | None = None,
) -> Written:
    """Writes the most probable token, again and again.

    `prefix` is what the decoder begins with: a prompt, or <bos> for an encoder-decoder, which also needs
    `source`. All prefixes are equally long, without padding. A row ends with `eos_id`, which then fills it
    until every row has ended or `max_new_tokens` (None: as many as max_len allows) are written. Returns the
    prefix and what was written. Raises ValueError for a request that the model cannot serve.
    """
    n_new = room(model, prefix, source, eos_id, max_new_tokens)
    next_token = NextToken(model, source)
    return _write(next_token, prefix, lambda logits: logits.argmax(dim=-1), eos_id, n_new)


@torch.no_grad()
def sample(
    model: Transformer,
    prefix: Prefix,
    *,
    generator: torch.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_new_tokens: int | None = None,
) -> Written:
    """Writes as many tokens as asked for, each drawn from `distribution`; all else is as in `greedy`."""
    n_new = room(model, prefix, None, None, max_new_tokens)
    draw = partial(drawn, generator=generator, temperature=temperature, top_k=top_k, top_p=top_p)
    return _write(NextToken(model), prefix, draw, None, n_new)


def drawn(logits: Float[Tensor, "*batch vocab"], *, generator: torch.Generator, **settings: Any) -> Tensor:
    """A token of each row, by the chances of `distribution`."""
    chances = distribution(logits, **settings)
    if chances.device.type == "cpu":
        return torch.multinomial(chances, 1, generator=generator)[..., 0]
    # The same as `multinomial` draws, which waits for the device to look whether these are chances.
    return (chances / torch.empty_like(chances).exponential_(generator=generator)).argmax(dim=-1)


def distribution(
    logits: Float[Tensor, "*batch vocab"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """Probabilities to draw from: softmax(logits / temperature), cut to the likeliest tokens.

    `top_k` keeps that many tokens (Fan et al. 2018); `top_p` then keeps the fewest whose probabilities
    reach it (Holtzman et al. 2020). Raises ValueError unless temperature > 0, 1 <= top_k <= vocab and
    0 < top_p <= 1.
    """
    vocab_size = logits.shape[-1]
    if not (math.isfinite(temperature) and temperature > 0):
        raise ValueError(
            f"temperature={temperature} must be a positive number; try 1.0, or greedy() for the limit 0"
        )
    if top_k is not None and not 1 <= top_k <= vocab_size:
        raise ValueError(
            f"top_k={top_k} must be from 1 to the vocabulary's size {vocab_size}; try {min(40, vocab_size)}"
        )
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p={top_p} is outside 0 < top_p <= 1; try 0.9, or None to keep every token")
    # The largest is 0, so that the least temperature makes no two of them infinite.
    below = logits - logits.amax(dim=-1, keepdim=True)
    probabilities = (below / max(temperature, torch.finfo(below.dtype).tiny)).softmax(dim=-1)
    if top_k is None and top_p is None:
        return probabilities
    likeliest, token = probabilities.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        likeliest[..., top_k:] = 0.0
        likeliest /= likeliest.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached_before = likeliest.cumsum(dim=-1) - likeliest
        likeliest = likeliest.masked_fill(reached_before >= top_p, 0.0)
        likeliest /= likeliest.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, token, likeliest)


def room(
    model: Transformer, prefix: Prefix, source: Source | None, eos_id: int | None, max_new_tokens: int | None
) -> int:
    """How many tokens to write at most. Raises ValueError for a request that the model cannot serve."""
    config = model.config
    if config.kind == "encoder-only":
        raise ValueError("kind='encoder-only' writes nothing; decode with a model that has a decoder")
    if (source is None) == (config.kind == "encoder-decoder"):
        state, remedy = ("is missing", "give one") if source is None else ("is given", "leave it out")
        raise ValueError(f"source {state} for kind={config.kind!r}; {remedy}")
    if source is not None and len(source) != len(prefix):
        raise ValueError(
            f"source has {len(source)} rows, prefix {len(prefix)}; give one prefix to each source"
        )
    if eos_id is not None and not 0 <= eos_id < config.output_vocab_size:
        raise ValueError(
            f"eos_id={eos_id} is outside the vocabulary; give one from 0 to {config.output_vocab_size - 1}"
        )
    if model.training and config.dropout:
        raise ValueError(
            f"dropout={config.dropout} is on, so tokens would be chance; call model.eval() first"
        )
    length = prefix.shape[1]
    if not 1 <= length < config.max_len:
        raise ValueError(
            f"the prefix has {length} tokens, but needs at least 1, and room below max_len={config.max_len}; "
            f"give 1 to {config.max_len - 1}"
        )
    free = config.max_len - length
    if max_new_tokens is not None and not 1 <= max_new_tokens <= free:
        raise ValueError(
            f"max_new_tokens={max_new_tokens} after {length} tokens does not fit max_len={config.max_len}; "
            f"ask for 1 to {free}"
        )
    return free if max_new_tokens is None else max_new_tokens


_LOOK_EVERY = 16
"""Tokens after which a GPU is asked whether all rows have ended: each question waits for it."""


def _write(
    next_token: NextToken, tokens: Tensor, choose: Callable[[Tensor], Tensor], eos_id: int | None, n_new: int
) -> Tensor:
    finished = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    n_read, every = tokens.shape[1], 1 if tokens.device.type == "cpu" else _LOOK_EVERY
    for step in range(1, n_new + 1):
        chosen = choose(next_token(tokens))  # [batch]
        if eos_id is not None:
            chosen = chosen.masked_fill(finished, eos_id)
            finished = chosen == eos_id
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        if eos_id is not None and step % every == 0 and bool(finished.all()):
            break
    if eos_id is None or every == 1:
        return tokens
    going = (tokens[:, n_read:] != eos_id).any(dim=0).sum()  # columns before all rows have ended
    return tokens[:, : n_read + min(int(going) + 1, tokens.shape[1] - n_read)]


# Beam search

LengthPenalty = Literal["gnmt", "length"]


def length_divisor(length: int, alpha: float, penalty: LengthPenalty = "gnmt") -> float:
    """What a log-probability is divided by: ((5 + length) / 6)^alpha, or length^alpha.

    The former is that of GNMT (Wu et al. 2016, equation 14); Vaswani et al. 2017, 6.1, take alpha = 0.6.
    """
    return float(((5 + length) / 6 if penalty == "gnmt" else length) ** alpha)


@dataclass(frozen=True)
class BeamNode:
    """One candidate: `token` written after the node `parent`. Logarithms are natural.

    `id` is its place in the tree's nodes. The root (id 0, step 0, parent None) stands for the prefix.
    """

    id: int
    parent: int | None
    step: int
    token: int
    log_prob: float  # of this token, given all before it
    score: float  # sum of log_prob from the root to here
    normalised_score: float  # score / length_divisor(step), by which finished nodes are compared
    kept: bool  # in the beam after this step; False = pruned
    finished: bool  # kept and the end token


@dataclass(frozen=True)
class BeamTree:
    """All nodes, pruned ones too, in the order they were considered; a node's id is its index."""

    nodes: list[BeamNode]

    @property
    def best(self) -> BeamNode:
        """The last node of the best hypothesis."""
        return self.hypotheses()[0]

    def path(self, node_id: int | None = None) -> list[BeamNode]:
        """The nodes from the root's child to a node, or to the best one if none is given."""
        node = self.best if node_id is None else self.nodes[node_id]
        path = []
        while node.parent is not None:
            path.append(node)
            node = self.nodes[node.parent]
        return path[::-1]

    def tokens(self, node_id: int | None = None) -> list[int]:
        """The token ids written on that path, the prefix left out."""
        return [node.token for node in self.path(node_id)]

    def hypotheses(self) -> list[BeamNode]:
        """Last nodes of the finished hypotheses, best first; if none finished, of those cut off."""
        parents = {node.parent for node in self.nodes}
        ends = [node for node in self.nodes if node.kept and node.id not in parents]
        finished = [node for node in ends if node.finished]
        return sorted(finished or ends, key=lambda node: -node.normalised_score)


@torch.no_grad()
def beam_search(
    model: Transformer,
    prefix: Int[Tensor, "1 prefix"],
    *,
    width: int,
    source: Int[Tensor, "1 source"] | None = None,
    eos_id: int | None = None,
    max_new_tokens: int | None = None,
    length_penalty: float = 0.0,
    penalty: LengthPenalty = "gnmt",
) -> BeamTree:
    """The likeliest continuation of one prefix, keeping the `width` best hypotheses at every step.

    Each hypothesis proposes its `width` likeliest tokens. One that ends with `eos_id` is finished and takes
    its place out of the beam (Sutskever et al. 2014, 3.2), so the search ends with `width` finished
    hypotheses, or after `max_new_tokens`. They rank by log-probability / `length_divisor` with the exponent
    `length_penalty`: 0 favours short ones. Width 1 is greedy. The other arguments are those of `greedy`.
    Raises ValueError as `greedy` does, and for width < 1, a negative length_penalty, more than one prefix.
    """
    n_new = room(model, prefix, source, eos_id, max_new_tokens)
    if len(prefix) != 1:
        raise ValueError(
            f"prefix has {len(prefix)} rows, but a tree grows from one; search prefix[i : i + 1], row by row"
        )
    if width < 1:
        raise ValueError(f"width={width} must be at least 1 (which is greedy); try 4")
    if not (math.isfinite(length_penalty) and length_penalty >= 0):
        raise ValueError(f"length_penalty={length_penalty} must be 0 (none) or a positive number; try 0.6")
    next_token = NextToken(model, source)
    root = BeamNode(0, None, 0, int(prefix[0, -1]), 0.0, 0.0, 0.0, kept=True, finished=False)
    nodes, live, tokens, places = [root], [root], prefix, width
    for _ in range(n_new):
        log_probs = next_token(tokens).log_softmax(dim=-1)  # [live hypothesis, vocab]
        proposals = _propose(live, log_probs, width, len(nodes), (length_penalty, penalty))
        grown = _prune(proposals, places, eos_id)
        nodes += grown
        places -= sum(node.finished for node in grown)
        row_of: dict[int | None, int] = {node.id: row for row, node in enumerate(live)}
        live = [node for node in grown if node.kept and not node.finished]
        if not live:
            break
        rows = torch.tensor([row_of[node.parent] for node in live], device=tokens.device)
        written = torch.tensor([[node.token] for node in live], device=tokens.device)
        tokens = torch.cat([tokens[rows], written], dim=1)  # [live hypothesis, position]
        next_token.select(rows)
    return BeamTree(nodes)


def _propose(
    live: list[BeamNode], log_probs: Tensor, width: int, first_id: int, by: tuple[float, LengthPenalty]
) -> list[BeamNode]:
    """Each live hypothesis' `width` likeliest next tokens, nothing kept yet."""
    values, tokens = log_probs.topk(min(width, log_probs.shape[-1]), dim=-1)  # [live hypothesis, proposal]
    proposals: list[BeamNode] = []
    for parent, row, ids in zip(live, values.tolist(), tokens.tolist(), strict=True):
        for log_prob, token in zip(row, ids, strict=True):
            step, score = parent.step + 1, parent.score + log_prob
            normalised = score / length_divisor(step, *by)
            new_id = first_id + len(proposals)
            proposals.append(
                BeamNode(new_id, parent.id, step, token, log_prob, score, normalised, False, False)
            )
    return proposals


def _prune(proposals: list[BeamNode], places: int, eos_id: int | None) -> list[BeamNode]:
    """The same nodes, the best of them kept, and finished where they end."""
    best = {node.id for node in sorted(proposals, key=lambda node: -node.score)[:places]}
    return [
        replace(node, kept=True, finished=node.token == eos_id) if node.id in best else node
        for node in proposals
    ]
