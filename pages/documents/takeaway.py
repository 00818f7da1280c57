"""The take-away of a map: the figure of what is shown, the brightest pairs, and the lines that give them."""

import io
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_lab.models.spreadsheet import csv_text
from attention_lab.pages.documents import reading
from attention_lab.pages.documents.reading import HeadPicture, tiles
from attention_lab.pages.shared import cache, on_offer, takeaway_dialog
from attention_lab.pages.shared.takeaway_dialog import ARRAYS, Download
from attention_lab.viz_core import pattern_window, to_html
from attention_lab.viz_core.paper import Bundle


@st.dialog("Take away", width="large")
def dialog(area: dict[str, int], picture: HeadPicture) -> None:
    """Offers the window that is shown as a figure, and the pairs as a table."""
    request = picture.request
    rows, keys = reading.bounded_window(picture, area)
    window = tiles.run(
        lambda _: picture.heads.window(
            picture.place.head, rows, keys, measure=request.measure, without=request.without
        )
    )
    title = f"{on_offer.title(request.model)}, layer {picture.place.layer} head {picture.place.head}"
    draw = partial(
        pattern_window, window.cells.numpy(), (window.q0, window.k0), (window.tall, window.wide),
        measure=request.measure, title=title,
    )  # fmt: skip
    figure, code = draw(dark=st.context.theme.type == "dark"), _code(picture, rows, keys)
    table: list[Sequence[object]] = [["query_position", "query", "key_position", "key", "weight"]]
    table += [
        (p.query, picture.queries[p.query], p.key, picture.keys[p.key], p.weight) for p in picture.pairs
    ]
    name = f"layer-{picture.place.layer}-head-{picture.place.head}"
    files = [
        Download("Figure, offline HTML", lambda: to_html(figure), f"{name}.html", "text/html"),
        Download("Brightest pairs, CSV", partial(csv_text, table), f"{name}.csv", "text/csv"),
        Download("Numbers, NPZ", partial(_archive, window.cells.numpy()), f"{name}.npz", ARRAYS),
        Download("Document, TXT", lambda: request.text, "document.txt", "text/plain"),
    ]
    facts = {"model": request.model, "queries": f"{rows.start} to {rows.stop - 1}"}
    bundle = Bundle(title=title, figure=lambda width: draw(), code=code, facts=facts)
    takeaway_dialog.show(figure, files, title=title, file_name=name, code=code, paper=lambda: bundle)


def _archive(cells: np.ndarray) -> bytes:
    """What the figure shows [query, key]."""
    file = io.BytesIO()
    np.savez_compressed(file, cells=cells)
    return file.getvalue()


def _code(picture: HeadPicture, rows: slice, keys: slice) -> str:
    """The lines of Python that give the same window."""
    request = picture.request
    model = cache.model(request.model, dict(request.settings))
    opened = model.code("").rsplit("\n", 1)[0].replace("lm = ", "model = ")
    longer = (
        f"model = model.stretched({max(map(len, picture.tokens.values()))})\n" if picture.stretched else ""
    )
    return (
        f'{opened}\n{longer}text = open("document.txt", encoding="utf-8", newline="").read()\n'
        "reading = model.read(text)\n"
        f'heads = model.long(reading)["{picture.place.address}"]\n'
        f"heads.whole({picture.place.head})  # the whole, and what each row's softmax needs\n"
        f"picture = heads.window({picture.place.head}, {rows}, {keys}, "
        f"measure={request.measure!r}, without={request.without})"
    )
