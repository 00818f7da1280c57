"""Sums and means over chosen tokens: for each head, how much the chosen queries give to the chosen keys."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from attention_lab.pages.explore import state
from attention_lab.pages.explore.state import POSITIONS, Inputs
from attention_lab.pages.explore.subject import Stack, Subject, subject_of
from attention_lab.pages.shared import cache


def sums_message(inputs: Inputs, stack: str, queries: str, keys: str) -> dict[str, Any]:
    """A number per head [layer * head]. Raises ValueError, with a sentence, where no token is chosen."""
    subject = subject_of(inputs)
    of = subject.stack(stack)
    return {"values": values_of(subject, of, *chosen(of, queries, keys)).ravel().tolist()}


def chosen(stack: Stack, queries: str, keys: str) -> tuple[list[int], list[int]]:
    """The chosen queries, all where they are left open, and keys. Raises ValueError where there are none."""
    for name, written in (("queries", queries), ("keys", keys)):
        if not POSITIONS.fits(written):
            raise ValueError(f"The {name} {POSITIONS.refusal(written)}; choose them again.")
    of_queries = state.positions_within(queries, stack.n_query) if queries else list(range(stack.n_query))
    of_keys = state.positions_within(keys, stack.n_key)
    for name, places, count in (("query", of_queries, stack.n_query), ("key", of_keys, stack.n_key)):
        if not places:
            raise ValueError(f"No {name} of this text is chosen; choose at least one of 0 to {count - 1:,}.")
    return of_queries, of_keys


def values_of(
    subject: Subject, stack: Stack, queries: Sequence[int], keys: Sequence[int]
) -> Float[np.ndarray, "layer head"]:
    """The weight on the chosen keys together, in the mean of the chosen queries."""
    patterns = stack.patterns()
    layers: dict[str, np.ndarray] = {}

    def take(address: str, tensor: Any) -> None:
        if address in patterns:
            layers[address] = summed(tensor[:, list(queries)].numpy(), keys)

    cache.on_worker(lambda: subject.run(take))
    return np.stack([layers[address] for address in patterns])


def summed(rows: Float[np.ndarray, "head query key"], keys: Sequence[int]) -> Float[np.ndarray, "head"]:
    """The weight on these keys together, in the mean of the rows; those of no attention at all are left out,
    and a head that has no others has 0.
    """
    attending = rows.sum(-1, dtype=np.float64) > 0
    on_keys = rows[..., list(keys)].sum(-1, dtype=np.float64)
    counts = attending.sum(-1)
    return np.asarray((on_keys * attending).sum(-1) / np.maximum(counts, 1))


def definition(queries: int, keys: int, heads: int) -> str:
    """What the one number is."""
    on = "the chosen key" if keys == 1 else f"the {keys} chosen keys together"
    over = (
        f"{queries} {'query' if queries == 1 else 'queries'} and {heads} {'head' if heads == 1 else 'heads'}"
    )
    return f"the weight on {on}, on average over {over}"


def code(
    stack: Stack, queries: Sequence[int], keys: Sequence[int], heads: Sequence[tuple[int, int]]
) -> list[str]:
    """The lines of Python that compute it from `trace`."""
    address = f'f"{stack.id.replace(".", ".{layer}.")}.pattern"'
    return [
        f"queries, keys = {list(queries)}, {list(keys)}",
        f"heads = {list(heads)}  # (layer, head)",
        "def weight(layer, head):",
        f"    rows = trace[{address}][head][queries].double()",
        "    rows = rows[rows.sum(-1) > 0]  # queries that attend to nothing are left out",
        "    return float(rows[:, keys].sum(-1).mean()) if len(rows) else 0.0",
        "sums = {head: weight(*head) for head in heads}",
        "mean = sum(sums.values()) / len(heads)",
    ]
