"""What the masks page can be asked."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
from jaxtyping import Bool
from torch import Tensor

from attention_lab.models.engine import masks
from attention_lab.models.fields import (
    Table,
    characters,
    checked,
    number,
    one_of,
    setting,
    table,
    text,
    whole,
)
from attention_lab.models.mask_names import MASK_TITLES, about_argument
from attention_lab.pages.lab.lesson import Note, Own
from attention_lab.pages.shared import st
from attention_lab.pages.shared.state import State
from attention_lab.viz_core.boards import Matrix, query_by_key

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
    lambda raw: checked(raw, lambda raw_value: raw_value in MASKS or painted(raw_value)),
)
_GRAPH = text(
    "edges, such as 0-1 1-2, or painted rows, such as 10;11",
    lambda raw: checked(raw, lambda raw_value: painted(raw_value) or len(raw_value) <= 200),
)
_PAIRS = f"Pairs of nodes from 0 to {N_NODES - 1} with spaces between: 0-1 1-2"
_WHO = "Who may attend to whom."


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
        1, whole(0, MOST_SCORED - 1), "Query", "The row of the hidden score, from 0", "slider"
    )
    padding: int = setting(3, whole(0, MOST_PADDING), "Padding", "How many <pad> follow", control="slider")
    seed: int = setting(0, whole(0, 99), "Seed", control="slider")
    graph: str = setting("0-1 1-2 2-3 1-4", _GRAPH, "Edges", _PAIRS, "line")
    changed: int = setting(0, whole(0, N_NODES - 1), "Node that changes", control="slider")


def allowed_of(mask: str, argument: str, n: int) -> Bool[Tensor, "n n"]:
    """The mask of that name (`masks.named`), or the one that `mask` paints row by row, such as "10;11".

    Painted rows are cut to n tokens, or continued by the causal mask. Raises ValueError as `masks.named` and
    `masks.painted` do.
    """
    if not re.fullmatch("[01;]+", mask):
        return masks.named(mask, argument, n)[0, 0]
    painted = masks.painted(mask)[0, 0, :n, :n]
    allowed = masks.causal(n, n)[0, 0]
    allowed[: len(painted), : len(painted)] = painted
    return allowed


PAINT = Note("Paint: click or drag over the cells of the mask.")
HIDDEN, SEEN = "−∞", "0"
NO_ARGUMENT = "The window's width"
AXES: dict[str, Any] = {"row_axis": "query", "column_axis": "key"}


def of_mask(field: str, argument: str) -> Own:
    """Chooses a mask, one by name or the one that was painted on the board, and its argument."""

    def draw(state: State) -> None:
        now = state.kept[field]
        options = (*MASKS, now) if painted(now) else MASKS
        state.draw(field, options=options, then=lambda: state.put({argument: ""}))
        about = about_argument(now)
        help = f"{about.example} = {about.meaning}" if about.rule else NO_ARGUMENT
        state.draw(argument, placeholder=about.example or "none", disabled=not about.rule, help=help)

    return Own(draw, (field, argument))


def on_explore(field: str, argument: str, length: str) -> Own:
    """A link to all heads of an untrained model under this mask."""

    def parameters(state: State) -> dict[str, Any]:
        mask, code, n = (state.kept[name] for name in (field, argument, length))
        if painted(mask):
            mask, code = "painted", mask
        return {"model": "untrained", "text": " ".join(WORDS[:n]), "mask": mask, "mask_arg": code}

    help = "All heads of an untrained model under this mask"
    return link_to_explore("This mask on Explore", help, parameters)


def link_to_explore(label: str, help: str, parameters: Callable[[State], dict[str, Any]]) -> Own:
    """A button that opens Explore in a tab of its own."""

    def draw(state: State) -> None:
        st.link_button(label, f"/?{urlencode(parameters(state))}", width="stretch", help=help)

    return Own(draw)


def names(n: int) -> dict[str, Any]:
    """Rows and columns of a matrix [query, key] over the first n words."""
    return query_by_key(WORDS[:n])


def mask_matrix(allowed: np.ndarray, edit: str | None = None, **options: Any) -> Matrix:
    """The mask as what it adds to the scores: 0 or −∞ [query, key]."""
    return Matrix(values=allowed, title="mask", scale="mask", words=(HIDDEN, SEEN), edit=edit, **options)
