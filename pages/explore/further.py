"""Quantities of a head or of its stack that are computed when the stage asks for them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pages.explore.measured import shares
from pages.explore.state import Inputs
from pages.explore.subject import Stack, Subject, subject_of
from pages.shared import cache
from viz_core.measures import attention_flow, plane_of_queries_and_keys, rollout, value_weighted
from viz_core.measures.planes import QueriesAndKeys

MOST_FLOW = 10_000_000
"""queries x keys x the edges between them, of attention flow: a third of a second."""


def made(inputs: Inputs, show: str, stack: str, layer: int, head: int, q0: int, k0: int) -> dict[str, Any]:
    """The quantity over all queries and keys that the stage's window may show.

    Raises ValueError, with a sentence, for what is not defined here.
    """
    from pages.explore.payload import WINDOW

    subject = subject_of(inputs)
    of = next((each for each in subject.stacks if each.id == stack), subject.stacks[0])
    layer, head = of.attention.nearest(layer), min(head, of.n_heads - 1)
    if show == "plane":
        found = plane(subject, of, layer, head, slice(q0, q0 + WINDOW), slice(k0, k0 + WINDOW))
        return {name: points.round(4).tolist() for name, points in found._asdict().items()}
    values = matrix(subject, of, layer, head, show)
    part = values[q0 : q0 + WINDOW, k0 : k0 + WINDOW]
    return {"values": [float(f"{value:.4g}") for value in part.ravel()], "shape": list(part.shape)}


def matrix(subject: Subject, stack: Stack, layer: int, head: int, show: str) -> np.ndarray:
    """[query, key]: "length", what the head takes from each key; "rollout" and "flow", from the first layer
    up to this one through all heads. Raises ValueError where it is not defined, or would take long.
    """
    return _QUANTITIES[show](subject, stack, layer, head)


def plane(
    subject: Subject, stack: Stack, layer: int, head: int, queries: slice, keys: slice
) -> QueriesAndKeys:
    """These queries and keys of a head in one plane. Raises ValueError where they are not known."""
    if not stack.attention.whole:
        raise ValueError("Of this model, queries and keys are not known, only patterns; look at the weights.")
    side, kind = stack.id.split(".")
    at = {f"{side}.{layer}.{kind}.q": head, f"{side}.{layer}.{kind}.k": head // stack.sharing}
    q, k = _arrays(subject, lambda a, t: t[at[a]].clone() if a in at else None).values()
    return plane_of_queries_and_keys(q[queries], k[keys])


def _length(subject: Subject, stack: Stack, layer: int, head: int) -> np.ndarray:
    output = subject.model.projection(stack.id, layer)
    if output is None or not stack.attention.whole:
        raise ValueError(
            "Of this model, values or their output projection are not known, so the length of what a head "
            "takes from a key cannot be computed; look at the weights."
        )
    side, kind = stack.id.split(".")
    wanted = {f"{side}.{layer}.{kind}.{name}" for name in ("pattern", "v")}
    of_key = head // stack.sharing
    found = _arrays(subject, lambda a, t: t[[of_key if a.endswith(".v") else head]] if a in wanted else None)
    pattern, v = (found[f"{side}.{layer}.{kind}.{name}"] for name in ("pattern", "v"))
    return value_weighted(pattern, v, output[[head]].float().numpy())[0]


def _rollout(subject: Subject, stack: Stack, layer: int, head: int) -> np.ndarray:
    return rollout(_means(subject, stack, layer, "rollout"))[-1]


def _flow(subject: Subject, stack: Stack, layer: int, head: int) -> np.ndarray:
    work = stack.n_query * stack.n_key * (layer + 1) * stack.n_query * stack.n_key
    if work > MOST_FLOW:
        most = int((MOST_FLOW / (layer + 1)) ** 0.25)
        raise ValueError(
            f"Attention flow between {stack.n_query} tokens through {layer + 1} layers would take long; "
            f"take at most {most} tokens, or look at the rollout."
        )
    return attention_flow(_means(subject, stack, layer, "flow"))


def _means(subject: Subject, stack: Stack, layer: int, name: str) -> np.ndarray:
    """The mean pattern of each layer's heads up to a layer: [layer, 1, query, key]."""
    side, kind = stack.id.split(".")
    if kind == "cross":
        raise ValueError(
            f"Attention {name} follows positions of one text through the layers, but in cross-attention "
            "queries and keys are of two; choose a stack of self-attention."
        )
    stack.attention.check_all_below(layer, f"attention {name}")
    wanted = {f"{side}.{at}.{kind}.pattern" for at in range(layer + 1)}
    found = _arrays(subject, lambda a, t: t.mean(0, keepdim=True) if a in wanted else None)
    return np.stack([shares(mean) for mean in found.values()])


def _arrays(subject: Subject, reduce: Callable[[str, Any], Any]) -> dict[str, np.ndarray]:
    trace = cache.on_worker(lambda: subject.run(reduce))
    return {address: trace[address].numpy() for address in trace}


_QUANTITIES = {"length": _length, "rollout": _rollout, "flow": _flow}
NAMES = {"length": "length", "rollout": "share", "flow": "flow"}
"""What viz_core calls them."""
