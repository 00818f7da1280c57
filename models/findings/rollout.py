"""The finding on rollout: do rollout, flow or raw weights tell what each token contributes?

It repeats Abnar and Zuidema (2020).
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..engine.trace import Trace
from ..fields import Field, one_of, whole
from ..zoo.model import Model
from .attribution import BLANKS, asked_of, classifies, effects, spearman
from .finding import Chart, Finding, Number, Outcome, Tell, words_of
from .sources import is_word, own_texts, readings

RESOLUTION = 2**28
"""Pipes are counted in whole numbers of 32 bits."""


def flowing(
    patterns: Float[Tensor, "layer head query key"], queries: Sequence[int]
) -> Float[Tensor, "asked key"]:
    """The maximum flow from each of `queries` after the last layer to each input token, through edges of half
    of the heads' mean weight and half of the residual stream (Abnar & Zuidema 2020, section 3).
    """
    from scipy.sparse import csr_array  # comes with scikit-learn
    from scipy.sparse.csgraph import maximum_flow

    n_layers, _, n, _ = patterns.shape
    mixed = 0.5 * patterns.double().mean(dim=1) + 0.5 * torch.eye(n, dtype=torch.double)
    layer, query, key = mixed.nonzero(as_tuple=True)
    widths = (mixed[layer, query, key] * RESOLUTION).round().int().numpy()
    ends = ((layer + 1) * n + query).numpy(), (layer * n + key).numpy()
    nodes = (n_layers + 1) * n
    graph = csr_array((widths, ends), shape=(nodes, nodes), dtype=np.int32)
    flows = [[maximum_flow(graph, n_layers * n + q, k).flow_value for k in range(n)] for q in queries]
    return torch.tensor(flows, dtype=torch.double) / RESOLUTION


# The finding

RAW, ROLLOUT, FLOW, NORMS = "raw weights", "rollout", "flow", "weights × norms"
TABLE_1: dict[str, Sequence[int | float]] = {
    RAW: (0.69, 0.10, -0.11, -0.09, 0.20, 0.29),
    ROLLOUT: (0.32, 0.38, 0.51, 0.62, 0.70, 0.71),
    FLOW: (0.32, 0.44, 0.70, 0.70, 0.71, 0.70),
}
"""What the paper has, layer by layer."""
_CHANCE = (0, "no correlation")


def rolled(patterns: Float[Tensor, "layer head query key"]) -> Float[Tensor, "layer query key"]:
    """Rollout to each layer: it mixes positions by half its mean pattern and half the residual stream."""
    n = patterns.shape[-1]
    products = [torch.eye(n)]
    for pattern in patterns:
        products.append((0.5 * pattern.mean(dim=0) + 0.5 * torch.eye(n)) @ products[-1])
    return torch.stack(products[1:])


def normed(model: Model, trace: Trace, layer: int) -> Float[Tensor, "query key"]:
    """Length of what each key adds to each query, heads together: weight * v W_O (Kobayashi et al. 2020)."""
    projection = model.projection("encoder.self", layer)
    if projection is None:
        raise ValueError(f"{model.name!r} has no known output projection; choose another model")
    values = trace[f"encoder.{layer}.self.v"]
    values = values.repeat_interleave(projection.shape[0] // values.shape[0], dim=0)  # [head, key, d_head]
    moved = values @ projection  # [head, key, channel]
    return torch.einsum("hqk,hkc->qkc", trace[f"encoder.{layer}.self.pattern"], moved).norm(dim=-1)


def rated(model: Model, trace: Trace) -> dict[str, Float[Tensor, "layer key"]]:
    """Every key in each way, layer by layer, as the position sees it that gives the answer."""
    n_layers = (attention := model.attention("encoder.self")).n_layers
    attention.check_all_below(max(attention.layers), "a rollout")
    patterns = torch.stack([trace[f"encoder.{layer}.self.pattern"] for layer in range(n_layers)])
    n = patterns.shape[-1]
    queries = range(n) if asked_of(model, torch.eye(n))[1:].any() else [0]  # those that give the answer
    flows = [flowing(patterns[: at + 1], queries).mean(dim=0) for at in range(n_layers)]
    return {
        RAW: asked_of(model, patterns.mean(dim=1)),
        ROLLOUT: asked_of(model, rolled(patterns)),
        FLOW: torch.stack(flows),
        NORMS: torch.stack([asked_of(model, normed(model, trace, at)) for at in range(n_layers)]),
    }


def measure(model: Model, tell: Tell, *, texts: int, blank: str) -> Outcome:
    """Spearman's correlation of each way to rate the words with what blanking them out does, by text."""
    classifies(model)
    agreements: list[Tensor] = []  # [way, layer], a text each
    for reading in readings(model, own_texts(model), texts, tell):
        words = [at for at, token in enumerate(reading.tokens["encoder"]) if is_word(token)]
        changes = effects(model, reading, words, blank)
        trace = model.trace(
            reading, reduce=lambda at, x: x if at.endswith((".self.pattern", ".self.v")) else None
        )
        rates = rated(model, trace).values()
        agreements.append(torch.tensor([[spearman(layer[words], changes) for layer in way] for way in rates]))
    # Where a way rates all words of a text alike, there is no correlation.
    known = [each for each in agreements if not each.isnan().any()]
    if len(known) < 2:
        raise ValueError(f"{model.name!r} rates the words of nearly all texts alike; choose another model")
    every = torch.stack(known)
    return _outcome(every.mean(dim=0), every.std(dim=0), len(known))


def _outcome(means: Float[Tensor, "way layer"], spread: Float[Tensor, "way layer"], texts: int) -> Outcome:
    by_way = dict(zip((RAW, ROLLOUT, FLOW, NORMS), means.tolist(), strict=True))
    last = {way: layers[-1] for way, layers in by_way.items()}
    layers = list(range(means.shape[1]))
    return Outcome(
        numbers=(
            Number("raw weights, first layer", by_way[RAW][0], "0.69 ± 0.27"),
            Number("raw weights, last layer", last[RAW], "0.29 ± 0.39"),
            Number("rollout, last layer", last[ROLLOUT], "0.71 ± 0.24"),
            Number("flow, last layer", last[FLOW], "0.70 ± 0.22"),
            Number("weights × norms, last layer", last[NORMS]),
            Number("spread over texts: rollout", float(spread[1, -1]), "0.24"),
        ),
        holds=last[ROLLOUT] > last[RAW] and last[FLOW] > last[RAW],
        said=(
            f"In the last layer, over {texts} texts, the effect of blanking a word out has rank correlation "
            f"{last[RAW]:.2f} with raw weights, {last[ROLLOUT]:.2f} with rollout, {last[FLOW]:.2f} with flow "
            f"and {last[NORMS]:.2f} with weights with norms: {_better(last)}."
        ),
        charts=(
            Chart(
                title="here: rank correlation with the true effect", x_label="layer",
                y_label="Spearman's ρ, mean of texts", x=layers, series=by_way, line=_CHANCE,
            ),
            Chart(
                title="in the paper: six layers, on the number of a verb", x_label="layer",
                y_label="Spearman's ρ, mean of texts", x=list(range(6)), series=TABLE_1, line=_CHANCE,
            ),
        ),
    )  # fmt: skip


def _better(last: dict[str, float]) -> str:
    """Which of rollout and flow agree better than raw weights."""
    better = [way for way in (ROLLOUT, FLOW) if last[way] > last[RAW]]
    if len(better) == 1:
        (worse,) = {ROLLOUT, FLOW} - set(better)
        return f"{better[0]} agrees better than raw weights, {worse} does not"
    return "both agree better than raw weights" if better else "neither agrees better than raw weights"


FINDING = Finding(
    **words_of("rollout"),
    model="verbs",
    fits=lambda sizes: sizes.get("kind") == "encoder-only" and sizes.get("input_channels") is None,
    measure=measure,
    packages=("scipy",),
    parameters={
        "texts": Field(60, whole(5, 200), "Texts"),
        "blank": Field("unknown", one_of(BLANKS), "A blank is", control="segments"),
    },
    code=(rolled, flowing, normed, effects, spearman),
)
