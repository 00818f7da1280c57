"""The map of a stack: its heads by the likeness of their patterns, computed when it is asked for."""

from typing import Any

import numpy as np

from pages.explore.measured import shares
from pages.explore.state import Inputs
from pages.explore.subject import Stack, Subject, subject_of
from pages.shared import cache
from viz_core.measures import map_of_heads
from viz_core.measures.likeness import Plane

MOST_WORK = 160_000_000
"""heads² x queries x keys: a fifth of a second."""


def made(inputs: Inputs, stack: str) -> dict[str, Any]:
    """Points of all heads [layer * head], what the axes show, and of how many queries it was computed."""
    subject = subject_of(inputs)
    of = next((each for each in subject.stacks if each.id == stack), subject.stacks[0])
    rows, plane = plane_of(subject, of)
    return {
        "points": plane.points.round(4).tolist(),
        "shares": plane.shares.round(4).tolist(),
        "queries": len(rows),
    }


def plane_of(subject: Subject, stack: Stack) -> tuple[np.ndarray, Plane]:
    """Which queries were compared, and where each head lies. Raises ValueError where it would take long."""
    rows = rows_of(stack)
    side, kind = stack.id.split(".")
    wanted = {f"{side}.{layer}.{kind}.pattern" for layer in stack.attention.layers}
    trace = cache.on_worker(lambda: subject.run(lambda a, t: t[:, rows] if a in wanted else None))
    patterns = np.concatenate([trace[address].numpy() for address in trace])  # [layer * head, query, key]
    return rows, map_of_heads(shares(patterns))


def rows_of(stack: Stack) -> np.ndarray:
    """The queries by which heads are compared: all, or as many as there is time for, evenly spread."""
    n_heads = stack.n_layers * stack.n_heads
    count = min(stack.n_query, MOST_WORK // (n_heads**2 * stack.n_key))
    if count < 1:
        raise ValueError(
            f"{n_heads} heads cannot be compared over {stack.n_key:,} keys in reasonable time; "
            "take a shorter text or fewer heads."
        )
    return np.linspace(0, stack.n_query - 1, count).round().astype(int)
