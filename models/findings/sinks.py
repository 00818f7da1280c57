"""Attention sinks: weight on the first tokens, and a window without and with them (Xiao et al. 2023)."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..data.tasks import Reading
from ..fields import Field, number, whole
from ..zoo.model import Model
from .finding import Chart, Finding, Number, Outcome, Tell, words_of
from .sources import longest

_TIMES = 3
"""How many times the equal share the first tokens must have, beside `sink`, for the claim to hold."""
_LOWEST = 2
"""The layers that have no sink yet, in the paper (section 3.1)."""
_RUINS, _RESTORES = 2.0, 1.1
"""Times the perplexity of all keys that a window without the first has at least, and with them at most."""


def on_first(pattern: Float[Tensor, "head query key"], first: int) -> Float[Tensor, " head"]:
    """Mean weight on the first tokens, over the queries that see twice as many or more."""
    return pattern[:, 2 * first - 1 :, :first].sum(dim=-1).mean(dim=-1)


def by_layer(model: Model, reading: Reading, first: int) -> Float[Tensor, "layer head"]:
    """`on_first` of every head."""
    trace = model.trace(
        reading, reduce=lambda at, x: on_first(x, first) if at.endswith(".self.pattern") else None
    )
    return torch.stack([trace[address] for address in trace])


def equal_share(n: int, first: int) -> float:
    """What `on_first` is of n tokens where every query looks at all that it sees alike."""
    queries = range(2 * first - 1, n)
    return sum(first / (query + 1) for query in queries) / len(queries)


def window(n: int, width: int, n_first: int) -> Bool[Tensor, "query key"]:
    """A causal window of `width` keys: the `n_first` first ones and the nearest for the rest."""
    query, key = torch.arange(n)[:, None], torch.arange(n)
    return (key <= query) & ((query - key < width - n_first) | (key < n_first))


def hiding(open_: Bool[Tensor, "query key"]) -> Callable[[str, Tensor], Tensor]:
    """An edit that hides all other pairs in every layer, before the softmax."""

    def edit(address: str, values: Tensor) -> Tensor:
        if address.endswith(".self.scores"):
            return values.masked_fill(~open_.to(values.device), -torch.inf)
        return values

    return edit


def perplexity(model: Model, reading: Reading, since: int, edit: Any = None) -> float:
    """exp of the mean loss of the tokens after position `since`, each given those before it."""
    logits = model.trace(reading, reduce=lambda at, x: x if at == "logits" else None, edit=edit)["logits"]
    ids = reading.inputs[0][0].to(logits.device)
    return math.exp(float(cross_entropy(logits[since:-1].float(), ids[since + 1 :])))


def measure(
    model: Model, tell: Tell, *, tokens: int, texts: int, first: int, sink: float, width: int
) -> Outcome:
    """Weight on the first tokens of held-out text by layer; and what a text costs through a window."""
    if width <= first:
        raise ValueError(f"a window of {width} keys has no room beside the {first} first; widen it")
    heads: list[Tensor] = []  # [layer, head], a text each
    costs: list[list[float]] = []  # of all, of the window, of the window with the first: a text each
    for at in range(texts):
        reading = longest(model, tokens, seed=at + 1)
        n = len(reading.tokens.get("decoder", ()))
        least = max(2 * first, width + 1)
        if list(reading.tokens) != ["decoder"] or n <= least:
            raise ValueError(
                f"{model.name!r} reads {n} tokens from left to right, but this takes more than {least}; "
                "choose another decoder, more tokens, or a narrower window"
            )
        heads.append(by_layer(model, reading, first))
        edits = [None, hiding(window(n, width, 0)), hiding(window(n, width, first))]
        costs.append([perplexity(model, reading, width, edit) for edit in edits])
        tell((at + 1) / texts)
    numbers = model.attention("decoder.self").layers
    return _outcome(torch.stack(heads).mean(dim=0), numbers, costs, n, first, sink, width)


def _outcome(
    heads: Tensor,
    numbers: Sequence[int],
    costs: list[list[float]],
    n: int,
    first: int,
    sink: float,
    width: int,
) -> Outcome:
    layers, equal = heads.mean(dim=1).tolist(), equal_share(n, first)
    whole, narrow, with_first = torch.tensor(costs).log().mean(dim=0).exp().tolist()
    most = max(range(len(layers)), key=lambda layer: layers[layer])
    upper = layers[_LOWEST:] or layers[-1:]
    beyond = sum(upper) / len(upper)
    return Outcome(
        numbers=(
            Number(f"largest weight on the first {first}, mean of a layer", layers[most]),
            Number(f"the same, mean beyond the {_LOWEST} lowest layers", beyond),
            Number("the same, if all keys were alike", equal),
            Number(f"share of heads above {sink:g}", float((heads > sink).float().mean())),
            Number("perplexity, all keys", whole),
            Number(f"perplexity, window of {width}", narrow, "5158.07 (Llama 2 13B)"),
            Number(f"perplexity, first {first} kept", with_first, "5.40 (Llama 2 13B)"),
        ),
        holds=(
            beyond >= max(sink, _TIMES * equal)
            and narrow >= _RUINS * whole
            and with_first <= _RESTORES * whole
        ),
        said=(
            f"The first {first} get at most {layers[most]:.2f}, in layer {numbers[most]}; equal "
            f"weights would give {equal:.2f}. A window of {width} has perplexity {narrow:.2f} without and "
            f"{with_first:.2f} with them; all keys have {whole:.2f}."
        ),
        charts=(
            Chart(
                title=f"weight on the first {first:d}", x_label="layer", y_label="weight",
                x=list(map(str, numbers)), series={"weight": layers},
                line=(equal, "all keys alike"),
            ),
            Chart(
                title="perplexity", x_label="keys", y_label="perplexity",
                x=["all keys", f"window of {width}", f"first {first} + {width - first}"],
                series={"perplexity": [whole, narrow, with_first]},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("sinks"),
    model="shakespeare",
    fits=lambda sizes: sizes.get("kind") == "decoder-only",
    measure=measure,
    parameters={
        "tokens": Field(64, whole(16, 256), "Tokens of a text, at most"),
        "texts": Field(20, whole(1, 100), "Texts"),
        "first": Field(4, whole(1, 8), "First tokens"),
        "sink": Field(0.3, number(0.05, 0.95), "A sink has, at least"),
        "width": Field(16, whole(4, 128), "Keys of the window"),
    },
    code=(on_first, window, hiding, perplexity),
)
