"""Copy suppression: a head takes down what the model is about to repeat (McDougall et al. 2023)."""

import random
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..data.tasks import Reading
from ..fields import Field, whole
from ..interventions.head_paths import summed
from ..percent import percent
from ..scores.intervals import wilson
from ..zoo.model import Model
from .finding import Chart, Finding, Number, Outcome, Tell, in_words, words_of
from .sources import longest

_PIECE = 64  # tokens that are read at once, each looking at itself alone
_WORDS = 48  # tokens of a text
_SHOWN = 12
_PUBLISHED = 0.847


def alone(model: Model, ids: Sequence[int], layer: int) -> Float[Tensor, "head token d_model"]:
    """Vectors that each head of a layer adds to the stream when a query looks at one of these tokens alone.

    The token is its effective embedding: the stream that leaves layer 0 where every token looks at itself
    alone, given to the layer as it is; to layer 0, the embedding itself.
    """
    names = model.outputs
    reading = Reading((torch.tensor([list(ids)]),), {"decoder": [names[id_] for id_ in ids]})
    edits = ["decoder.0.self.pattern: identity", *(f"decoder.{at}: off" for at in range(1, layer))]
    address = f"decoder.{layer}.self.v"
    trace = model.trace(reading, edits=edits, reduce=lambda at, x: x if at == address else None)
    return added(model, trace[address], layer)


def added(model: Model, values: Float[Tensor, "key_head token d_head"], layer: int) -> Tensor:
    """v W_O of every head; key heads are those that query heads share."""
    w_o: Any = model.projection("decoder.self", layer)
    each = values.repeat_interleave(len(w_o) // len(values), dim=0)
    return each.to(w_o) @ w_o


@torch.no_grad()
def suppressed(parts: Float[Tensor, "head token d_model"], words: Tensor, ids: Tensor, lowest: int) -> Tensor:
    """[head, token]: whether a token's own logit is among the `lowest` that a head makes of it."""
    are_lowest = []
    for part in parts:
        logits = part @ words  # [token, output]
        own = logits.gather(1, ids[:, None])
        are_lowest.append((logits < own).sum(dim=1) < lowest)
    return torch.stack(are_lowest)


def expected(logits: Float[Tensor, "query output"], ids: Tensor, best: int) -> Bool[Tensor, "query key"]:
    """Tells of each place up to the query if its token is among the `best` of the logits there."""
    top = logits.topk(min(best, logits.shape[1])).indices  # [query, best]
    return (top[:, :, None] == ids).any(dim=1).tril()


@torch.no_grad()
def effects(
    model: Model, reading: Reading, lowest: int
) -> tuple[Float[Tensor, "layer head"], Int[Tensor, " layer"]]:
    """Sums, and over how many pairs: the direct effect on the logit of a token that stands at a key and that
    the stream entering the layer holds among its `lowest` best, of looking at that key. In nats.
    """
    trace = summed(model, reading, "decoder")
    ids = reading.inputs[0][0].cpu()
    n_layers = model.attention("decoder.self").n_layers
    final = trace[f"decoder.{n_layers - 1}.resid_post"]
    output = model.unembedding()
    towards = output.words[:, ids] - output.words.mean(dim=1, keepdim=True)  # [d_model, key]
    sums, pairs = [], []
    for layer in range(n_layers):
        logits = output.logits(trace[f"decoder.{layer}.resid_pre"], final) + output.constant
        unsuppressed = expected(logits, ids, lowest)
        parts = output.normed(added(model, trace[f"decoder.{layer}.self.v"], layer))
        gain = (parts * towards.T).sum(dim=-1)  # [head, key]
        pulls = trace[f"decoder.{layer}.self.pattern"] * gain[:, None, :] / output.scale(final)
        sums.append((pulls * unsuppressed).sum(dim=(1, 2)))
        pairs.append(unsuppressed.sum())
    return torch.stack(sums).double(), torch.stack(pairs)


def measure(model: Model, tell: Tell, *, tokens: int, texts: int, lowest: int) -> Outcome:
    """Every head's share of tokens whose own logit it takes down, and what it does to those that are due."""
    alphabet = model.made_of()
    if alphabet is None or list(alphabet.before) != ["decoder"] or not alphabet.own:
        raise ValueError(
            f"{model.name!r} does not read from left to right; choose GPT-2 small or another decoder"
        )
    room = min(model.max_len, alphabet.length or model.max_len)
    n_layers = (attention := model.attention("decoder.self")).n_layers
    attention.check_all_below(max(attention.layers), "the effect of a token that is read alone")
    sums = pairs = torch.zeros(())
    for at in range(texts):
        pulls, counted = effects(model, longest(model, min(_WORDS, room), seed=at + 1), lowest)
        sums, pairs = sums + pulls, pairs + counted
        tell((at + 1) / texts / 2)
    repeated = random.Random(0).sample(list(alphabet.own), min(tokens, len(alphabet.own)))
    output = model.unembedding()
    shares = []
    for layer in range(n_layers):
        pieces = [
            repeated[start : start + min(_PIECE, room)]
            for start in range(0, len(repeated), min(_PIECE, room))
        ]
        parts = [(output.normed(alone(model, ids, layer)), torch.tensor(ids)) for ids in pieces]
        hit = [suppressed(part, output.words, ids, lowest) for part, ids in parts]
        shares.append(torch.cat(hit, dim=1).double().mean(dim=1))
        tell(0.5 + (layer + 1) / n_layers / 2)
    n_outputs, effect = len(output.constant), sums / pairs.clamp(min=1)[:, None]
    return _outcome(torch.stack(shares), effect, len(repeated), lowest, n_outputs)


def _outcome(shares: Tensor, effect: Tensor, n: int, lowest: int, n_outputs: int) -> Outcome:
    n_heads, chance = shares.shape[1], min(1.0, lowest / n_outputs)
    order = shares.flatten().argsort(descending=True, stable=True)[:_SHOWN].tolist()
    names = [f"L{at // n_heads} H{at % n_heads}" for at in order]
    best, pull = float(shares.flatten()[order[0]]), float(effect.flatten()[order[0]])
    most_likely = wilson(round(best * n), n)[1]
    most = int(effect.argmin())
    return Outcome(
        numbers=(
            Number(f"share of tokens whose own logit is among the {lowest} lowest, {names[0]}",
                   best, "0.847, L10 H7"),
            Number("the same, median of all heads", float(shares.median())),
            Number("the same, by chance", chance, digits=4),
            Number(f"direct effect of {names[0]} on tokens that are due", pull, digits=3),
            Number(f"the most negative of such effects, L{most // n_heads} H{most % n_heads}",
                   float(effect.min()), digits=3),
        ),
        holds=most_likely >= _PUBLISHED and best >= 3 * chance and pull < 0,
        said=(
            f"{in_words(names[0])} takes a token that it looks at among the {lowest} "
            f"lowest of {n_outputs:,} for {percent(best)} of {n} tokens."
        ),
        charts=(
            Chart(
                title="takes down what it looks at", x_label="head", y_label="share of tokens", x=names,
                series={"share": [float(shares.flatten()[at]) for at in order]}, line=(chance, "by chance"),
            ),
            Chart(
                title="direct effect on seen tokens that are due", x_label="head", y_label="logits",
                x=names, series={"effect": [float(effect.flatten()[at]) for at in order]}, digits=3,
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("copy-suppression"),
    model="hf:gpt2",
    fits=lambda sizes: sizes.get("kind") == "decoder-only",
    measure=measure,
    parameters={
        "tokens": Field(64, whole(8, 1000), "Tokens"),
        "texts": Field(5, whole(1, 50), "Texts"),
        "lowest": Field(10, whole(1, 50), "Among so many"),
    },
    code=(alone, suppressed, expected, effects, measure),
)
