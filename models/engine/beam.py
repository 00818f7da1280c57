"""Beam search that remembers everything it considered, so that its tree can be drawn."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from models.engine.decoding import NextToken, room
from models.engine.transformer import Transformer

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
    use_cache: bool = True,
) -> BeamTree:
    """The likeliest continuation of one prefix, keeping the `width` best hypotheses at every step.

    Each hypothesis proposes its `width` likeliest tokens. One that ends with `eos_id` is finished and takes
    its place out of the beam (Sutskever et al. 2014, 3.2), so the search ends with `width` finished
    hypotheses, or after `max_new_tokens`. They rank by log-probability / `length_divisor` with the exponent
    `length_penalty`: 0 favours short ones. Width 1 is greedy. The other arguments are those of `greedy`.
    Raises ValueError as `greedy` does, and for width < 1, a negative length_penalty, more than one prefix.
    """
    n_new = room(model, prefix, source, eos_id, max_new_tokens)
    _check_beam(len(prefix), width, length_penalty)
    next_token = NextToken(model, source, use_cache=use_cache)
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
    kept = {node.id for node in sorted(proposals, key=lambda node: -node.score)[:places]}
    return [
        replace(node, kept=True, finished=node.token == eos_id) if node.id in kept else node
        for node in proposals
    ]


def _check_beam(batch: int, width: int, length_penalty: float) -> None:
    if batch != 1:
        raise ValueError(
            f"prefix has {batch} rows, but a tree grows from one; search prefix[i : i + 1], row by row"
        )
    if width < 1:
        raise ValueError(f"width={width} must be at least 1 (which is greedy); try 4")
    if not (math.isfinite(length_penalty) and length_penalty >= 0):
        raise ValueError(f"length_penalty={length_penalty} must be 0 (none) or a positive number; try 0.6")
