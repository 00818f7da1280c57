"""What the masks page can be asked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pages.shared.link import Table, characters, number, one_of, param, table, whole
from pages.shared.mask_choice import NAMES

TALK: Table = ((0.7, 0.1, 0.1, 0.1), (0.1, 0.6, 0.2, 0.1), (0.1, 0.3, 0.6, 0.1), (0.1, 0.3, 0.3, 0.3))
WORDS = (
    "<start>", "I", "am", "fine", "and", "how", "are", "you", "my", "old", "friend", "who", "came", "so",
    "far", "today",
)  # fmt: skip
MASKS = tuple(name for name in NAMES if name != "painted")
MOST_SCORED = 8
MOST_LAYERS = 5
MOST_PADDING = 6
N_NODES = 6
LENGTHS = (16, 25, 36, 49)


def painted(raw: str) -> bool:
    """Whether this is a mask's rows, "10;11", with as many rows as cells in each."""
    rows = raw.split(";")
    return all(re.fullmatch("[01]+", row) and len(row) == len(rows) <= len(WORDS) for row in rows)


def _mask(raw: str) -> str:
    if raw not in MASKS and not painted(raw):
        raise ValueError
    return raw


_mask.__doc__ = f"a mask, one of {', '.join(MASKS)}, or its painted rows, such as 10;11"


def _graph(raw: str) -> str:
    if not painted(raw) and len(raw) > 200:
        raise ValueError
    return raw


_graph.__doc__ = "edges, such as 0-1 1-2, or painted rows, such as 10;11"


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs. Masks are names or painted rows; queries and nodes count from 0."""

    mask: str = param("causal", _mask)
    argument: str = param("", characters(200))
    n: int = param(4, whole(2, MOST_SCORED))
    scores: Table = param(TALK, table((1, MOST_SCORED), (1, MOST_SCORED), limit=99))
    flow: str = param("causal+window", _mask)
    flow_argument: str = param("3", characters(200))
    length: int = param(12, whole(4, len(WORDS)))
    layers: int = param(2, whole(1, MOST_LAYERS))
    text_length: int = param(49, one_of(LENGTHS))
    stride: int = param(7, whole(1, max(LENGTHS)))
    hidden: float = param(0.1, number(0, 120))
    query: int = param(1, whole(0, MOST_SCORED - 1))
    padding: int = param(3, whole(0, MOST_PADDING))
    seed: int = param(0, whole(0, 99))
    graph: str = param("0-1 1-2 2-3 1-4", _graph)
    changed: int = param(0, whole(0, N_NODES - 1))
