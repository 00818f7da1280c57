"""What the masks page can be asked."""

import re
from dataclasses import dataclass

from models.mask_names import MASK_TITLES
from pages.shared import mask_choice, widget
from pages.shared.link import Table, characters, checked, number, one_of, param, table, text, whole

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
MASK = widget.select(
    "Mask",
    "Who may attend to whom; or paint your own on the board",
    lambda mask: MASK_TITLES.get(mask, "painted"),
)


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs. Masks are names or painted rows; queries and nodes count from 0."""

    mask: str = param("causal", _MASK, MASK)
    argument: str = param("", characters(200), mask_choice.ARGUMENT)
    n: int = param(4, whole(2, MOST_SCORED), widget.slider("Words"))
    scores: Table = param(TALK, table((1, MOST_SCORED), (1, MOST_SCORED), limit=99))
    flow: str = param("causal+window", _MASK, MASK)
    flow_argument: str = param("3", characters(200), mask_choice.ARGUMENT)
    length: int = param(12, whole(4, len(WORDS)), widget.slider("Words"))
    layers: int = param(2, whole(1, MOST_LAYERS))
    text_length: int = param(49, one_of(LENGTHS), widget.segmented("Words"))
    stride: int = param(7, whole(1, max(LENGTHS)))
    hidden: float = param(0.1, number(0, 120))
    query: int = param(
        1, whole(0, MOST_SCORED - 1), widget.slider("Query", "The row whose hidden score moves, from 0")
    )
    padding: int = param(3, whole(0, MOST_PADDING), widget.slider("Padding", "How many <pad> follow"))
    seed: int = param(0, whole(0, 99), widget.slider("Seed"))
    graph: str = param(
        "0-1 1-2 2-3 1-4",
        _GRAPH,
        widget.line("Edges", f"Pairs of nodes from 0 to {N_NODES - 1} with spaces between: 0-1 1-2"),
    )
    changed: int = param(0, whole(0, N_NODES - 1), widget.slider("Node that changes"))
