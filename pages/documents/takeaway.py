"""The take-away of a map: the figure of what is seen, the brightest pairs, and the lines that give them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models.zoo.offers import offer_of
from pages.documents import reading
from pages.documents.reading import DocumentJob, HeadPicture, on_tiles
from pages.shared import cache, takeaway_dialog
from pages.shared.takeaway_dialog import Download
from viz_core import pattern_window, to_html


@st.dialog("Take away", width="large")
def dialog(area: dict[str, int], work: DocumentJob) -> None:
    """Offers the window that is seen as a figure, and the pairs as a table."""
    seen = work.seen
    if seen is None:
        return
    asked = seen.asked
    rows, keys = reading.bounded_window(seen, area)
    found = on_tiles(
        lambda: seen.heads.window(seen.place.head, rows, keys, measure=asked.measure, without=asked.without)
    )
    offer = offer_of(asked.model)
    title = f"{offer.title if offer else asked.model}, layer {seen.place.layer}, head {seen.place.head}"
    figure = pattern_window(
        found.cells.numpy(), (found.q0, found.k0), (found.tall, found.wide),
        measure=asked.measure, dark=st.context.theme.type == "dark", title=title,
    )  # fmt: skip
    table = pd.DataFrame(
        [
            (p.query, *_cell(seen.queries, p.query), p.key, *_cell(seen.keys, p.key), p.weight)
            for p in seen.pairs
        ],
        columns=["query_position", "query", "key_position", "key", "weight"],
    )
    name = f"layer-{seen.place.layer}-head-{seen.place.head}"
    files = [
        Download("Figure, offline HTML", lambda: to_html(figure), f"{name}.html", "text/html"),
        Download("Brightest pairs, CSV", lambda: table.to_csv(index=False), f"{name}.csv", "text/csv"),
    ]
    takeaway_dialog.show(figure, files, title=title, file_name=name, code=_code(seen, rows, keys))


def _cell(tokens: list[str], at: int) -> list[str]:
    return takeaway_dialog.spreadsheet_cells([tokens[at]])


def _code(seen: HeadPicture, rows: slice, keys: slice) -> str:
    """The lines of Python that give the same window."""
    asked = seen.asked
    model = cache.model(asked.model, dict(asked.settings))
    opened = model.code("").rsplit("\n", 1)[0].replace("lm = ", "model = ")
    longer = f"model = model.stretched({max(map(len, seen.tokens.values()))})\n" if seen.stretched else ""
    return (
        f"{opened}\n{longer}"
        "reading = model.read(text)  # the document\n"
        f'heads = model.long(reading)["{seen.place.address}"]\n'
        f"heads.whole({seen.place.head})  # the whole, and what each row's softmax needs\n"
        f"picture = heads.window({seen.place.head}, {rows}, {keys}, "
        f"measure={asked.measure!r}, without={asked.without})"
    )
