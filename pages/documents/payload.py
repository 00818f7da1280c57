"""What the map gets: the picture of the whole, the window that is looked at, a row, a column, the pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pages.documents.reading import Seen
from pages.shared.board.pack import pack
from viz_core.labels import visible

if TYPE_CHECKING:
    from models.engine.long_cells import Picture

AROUND = 4
"""Tokens that are shown on each side of one that is spoken of."""
MOST_NAMED = 12
LONGEST = 24
LEAST = 5e-4
MOST_CELLS = 24_000_000
"""The pairs of a window: about a tenth of a second."""


def whole(seen: Seen, **own: Any) -> bytes:
    """The message with everything: the tokens, the picture of the whole, the brightest pairs."""
    queries = [visible(token, max_length=LONGEST) for token in seen.queries]
    keys = [visible(token, max_length=LONGEST) for token in seen.keys]
    pairs = [
        {
            "query": pair.query,
            "key": pair.key,
            "weight": pair.weight,
            "words": [_around(queries, pair.query), _around(keys, pair.key)],
        }
        for pair in seen.pairs
    ]
    own |= {"lone": seen.n_lone}
    if seen.queries is not seen.keys:
        own["queries"] = queries
    return pack(tokens=keys, whole=_cells(seen.picture), pairs=pairs).message(**own)


def window(seen: Seen, area: dict[str, int]) -> dict[str, Any] | None:
    """A part of the pattern, in as many cells as a screen has; None for a part so large that it would take
    longer than a person waits, and show little more than the picture of the whole.
    """
    rows, keys = bounded(seen, area)
    if (rows.stop - rows.start) * (keys.stop - keys.start) > MOST_CELLS:
        return None
    asked = seen.asked
    found = seen.heads.window(seen.place.head, rows, keys, measure=asked.measure, without=asked.without)
    return _cells(found)


def look(seen: Seen, query: int, key: int) -> dict[str, Any]:
    """Where one query looks most, and which queries look most at one key; with the whole row and column."""
    query, key = min(max(query, 0), len(seen.queries) - 1), min(max(key, 0), len(seen.keys) - 1)
    head = seen.place.head
    row, column = seen.heads.row(head, query), seen.heads.column(head, key)
    return {
        "query": query, "key": key, "weight": float(row[key]),
        "row": _top(row.numpy()), "column": _top(column.numpy()),
    }  # fmt: skip


def bounded(seen: Seen, area: dict[str, int]) -> tuple[slice, slice]:
    """The window that was asked for, within the document and with at least one cell."""

    def part(begin: int, end: int, n: int) -> slice:
        start = min(max(0, begin), n - 1)
        return slice(start, min(max(start + 1, end), n))

    rows = part(area["q0"], area["q1"], len(seen.queries))
    return rows, part(area["k0"], area["k1"], len(seen.keys))


def _cells(picture: Picture) -> dict[str, Any]:
    """A picture, with the sizes of its cells."""
    cells = np.ascontiguousarray(picture.cells.numpy(), dtype=np.float32)
    place = {"q0": picture.q0, "k0": picture.k0, "tall": picture.tall, "wide": picture.wide}
    return {"cells": cells, **place}


def _top(weights: np.ndarray) -> list[tuple[int, float]]:
    """The heaviest positions with their weights, without those that are next to nothing."""
    order = np.argsort(-weights, kind="stable")[:MOST_NAMED]
    return [(int(at), float(weights[at])) for at in order if weights[at] >= LEAST]


def _around(tokens: list[str], at: int) -> list[str]:
    before, after = tokens[max(0, at - AROUND) : at], tokens[at + 1 : at + 1 + AROUND]
    return [" ".join(before), tokens[at], " ".join(after)]
