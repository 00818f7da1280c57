"""What the masks page can be asked."""

import re
from dataclasses import dataclass
from typing import Any

from models.fields import Table, characters, checked, number, one_of, setting, table, text, whole
from models.mask_names import MASK_TITLES

TALK: Table = ((0.7, 0.1, 0.1, 0.1), (0.1, 0.6, 0.2, 0.1), (0.1, 0.3, 0.6, 0.1), (0.1, 0.3, 0.3, 0.3))
WORDS = (
    "<start>", "I", "am", "fine", "and", "how", "are", "you", "my", "old", "friend", "who", "came", "so",
    "far", "today",
)  # fmt: skip
MASKS = tuple(name for name in MASK_TITLES if name != "painted")
MOST_SCORED = 8
MOST_LAYERS = 5
MOST_PADDING = 6
N_NODES = 6
LENGTHS = (16, 25, 36, 49)


def painted(raw: str) -> bool:
    """Whether this is a mask's rows, "10;11", with as many rows as cells in each."""
    rows = raw.split(";")
    return all(re.fullmatch("[01]+", row) and len(row) == len(rows) <= len(WORDS) for row in rows)


_MASK = text(
    f"a mask, one of {', '.join(MASKS)}, or its painted rows, such as 10;11",
    lambda raw: checked(raw, lambda given: given in MASKS or painted(given)),
)
_GRAPH = text(
    "edges, such as 0-1 1-2, or painted rows, such as 10;11",
    lambda raw: checked(raw, lambda given: painted(given) or len(given) <= 200),
)
_WHO = "Who may attend to whom; or paint your own on the board"


def _mask(default: str) -> Any:
    return setting(default, _MASK, "Mask", _WHO, "list", show=lambda mask: MASK_TITLES.get(mask, "painted"))


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs. Masks are names or painted rows; queries and nodes count from 0."""

    mask: str = _mask("causal")
    argument: str = setting("", characters(200), "Mask argument")
    n: int = setting(4, whole(2, MOST_SCORED), "Words", control="slider")
    scores: Table = setting(TALK, table((1, MOST_SCORED), (1, MOST_SCORED), limit=99))
    flow: str = _mask("causal+window")
    flow_argument: str = setting("3", characters(200), "Mask argument")
    length: int = setting(12, whole(4, len(WORDS)), "Words", control="slider")
    layers: int = setting(2, whole(1, MOST_LAYERS))
    text_length: int = setting(49, one_of(LENGTHS), "Words", control="segments")
    stride: int = setting(7, whole(1, max(LENGTHS)))
    hidden: float = setting(0.1, number(0, 120))
    query: int = setting(
        1, whole(0, MOST_SCORED - 1), "Query", "The row whose hidden score moves, from 0", control="slider"
    )
    padding: int = setting(3, whole(0, MOST_PADDING), "Padding", "How many <pad> follow", control="slider")
    seed: int = setting(0, whole(0, 99), "Seed", control="slider")
    graph: str = setting(
        "0-1 1-2 2-3 1-4",
        _GRAPH,
        "Edges",
        f"Pairs of nodes from 0 to {N_NODES - 1} with spaces between: 0-1 1-2",
        control="line",
    )
    changed: int = setting(0, whole(0, N_NODES - 1), "Node that changes", control="slider")
