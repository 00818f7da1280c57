"""A difference of two patterns looks at the answer and away from the rest (Ye et al. 2024)."""

from itertools import islice
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks.needle import ASKED
from ..fields import Field, whole
from ..zoo import load_model
from ..zoo.engine_model import TrainedModel
from ..zoo.folders import SHIPPED
from .finding import Chart, Finding, Number, Outcome, Tell, words_of
from .retrieval_heads import Fetch, fetch_of, texts

MODELS = {"one pattern": SHIPPED / "needle", "a difference": SHIPPED / "needle" / "differential"}
"""Both are trained by one recipe; in the second, heads stand in pairs."""
_WORDS = 64


def weights_of(model: TrainedModel[Any], fetch: Fetch) -> Float[Tensor, "layer head row key"]:
    """Where the answer is written, each head or pair gives these weights to the tokens."""
    trace = model.trace(fetch.reading)
    layers = []
    for layer in range(model.config.n_layers):
        at = f"decoder.{layer}.self"
        pattern = trace[f"{at}.pattern"][:, fetch.rows]  # [head, row, key]
        if model.config.differential:
            first, second = pattern.chunk(2)
            pattern = first - trace[f"{at}.lambda"][:, None, None] * second
        layers.append(pattern)
    return torch.stack(layers)


def shares_of(model: TrainedModel[Any], fetch: Fetch) -> Float[Tensor, "place layer"]:
    """Of all weights, without their signs: the share of those on the answer, and on the rest of the text
    before the question; means over rows and heads.
    """
    weights = weights_of(model, fetch).abs()
    tokens = [token.strip() for token in fetch.reading.tokens["decoder"]]
    rest = torch.tensor([at < tokens.index(ASKED) and at not in fetch.places for at in range(len(tokens))])
    sums = torch.stack([weights[..., fetch.places].sum(dim=-1), weights[..., rest].sum(dim=-1)])
    return (sums / weights.sum(dim=-1)).mean(dim=(2, 3))


def measure(model: None, tell: Tell, *, count: int) -> Outcome:
    """The shares of both models, over as many texts."""
    found: dict[str, Tensor] = {}
    losses = {}
    for at, (name, file) in enumerate(MODELS.items()):
        lm = load_model(file)
        read = (fetch_of(lm.read(text)) for text in islice(texts(_WORDS, "any"), count))
        fetches = [fetch for fetch in read if fetch is not None]
        found[name] = torch.stack([shares_of(lm, fetch) for fetch in fetches]).mean(dim=0)  # [place, layer]
        losses[name] = lm.card["metrics"]["exact match"]
        tell((at + 1) / len(MODELS))
    (one, rest_of_one), (two, rest_of_two) = (shares.mean(dim=1).tolist() for shares in found.values())
    published = {"answer": ("0.03 to 0.09", "0.27 to 0.40"), "rest": ("0.49 to 0.54", "0.01 to 0.02")}
    layers = range(len(found["one pattern"][0]))
    return Outcome(
        numbers=(
            Number("one pattern: share on the answer", one, published["answer"][0]),
            Number("a difference: share on the answer", two, published["answer"][1]),
            Number("one pattern: share on the rest", rest_of_one, published["rest"][0]),
            Number("a difference: share on the rest", rest_of_two, published["rest"][1]),
            Number("one pattern: texts answered", losses["one pattern"]),
            Number("a difference: texts answered", losses["a difference"]),
        ),
        holds=two > one and rest_of_two < rest_of_one,
        said=(
            f"Where the code is written, heads with one pattern give the code {one:.2f} of their weight, and "
            f"the other words before the question {rest_of_one:.2f}; pairs with a difference {two:.2f} and "
            f"{rest_of_two:.2f}."
        ),
        charts=tuple(
            Chart(
                title=title, x_label="heads or pairs, by layer", y_label="share",
                x=[f"{kind} {layer}" for kind in ("heads", "pairs") for layer in layers],
                series={"share": [each for shares in found.values() for each in shares[place].tolist()]},
            )
            for place, title in enumerate(("share on the answer", "share on the rest"))
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("difference-of-patterns"),
    measure=measure,
    parameters={"count": Field(60, whole(5, 500), "Texts")},
    code=(weights_of, shares_of),
)
