"""The words and single numbers of a board: facts, tables, signs, the sentence to notice."""

from __future__ import annotations

import textwrap

import numpy as np

from viz_core import theme
from viz_core._axes import text_width
from viz_core.board_figures.sheet import (
    CAPTION,
    MEDIUM,
    SMALL,
    WIDTH,
    Drawing,
    Place,
    Room,
    at_frame,
    word,
    written,
)
from viz_core.boards import Fact, Facts, Scrub, Sign, Table
from viz_core.labels import escape

_FACT_LINE, _TABLE_LINE = 54, 28
_LARGE, _SIGN = 22, 22
NOTICE_LINE, NOTICE_SIZE = 22, 16


def facts_room(panel: Facts) -> Room:
    lines = _lines(panel)
    width = max(left + _width(fact) for line in lines for left, fact in line)
    return Room(width=width, height=_FACT_LINE * len(lines), above=CAPTION * bool(panel.title))


def draw_facts(panel: Facts, place: Place, frame: int) -> Drawing:
    drawing = Drawing(notes=place.caption(panel.title, 4))
    for row, line in enumerate(_lines(panel)):
        for left, fact in line:
            top, muted = row * _FACT_LINE, {"size": SMALL, "color": place.palette["muted"]}
            colour = place.palette["ink"] if fact.colour is None else place.colour(fact.colour)
            text = f"<b>{_said(fact, frame)}</b>"
            if fact.unit:
                text += f' <span style="font-size:{SMALL}px">{escape(fact.unit)}</span>'
            drawing.notes += [
                place.note(escape(fact.label), left, top, yanchor="top", font=muted),
                place.note(text, left, top + 18, yanchor="top", font={"size": _LARGE, "color": colour}),
            ]
    return drawing


def _said(fact: Fact, frame: int) -> str:
    if isinstance(fact.values, str):
        return escape(fact.values)
    value = float(at_frame(fact.values, frame, 0))
    whole = fact.digits == 0 and np.isfinite(value)
    return f"{value:z,.0f}".replace("-", "−") if whole else written(value, fact.digits)


def _width(fact: Fact) -> int | float:
    """Room for the longest that a fact says in any frame."""
    frames = 1 if isinstance(fact.values, str) else np.size(fact.values)
    longest = max(text_width(_said(fact, frame), _LARGE) for frame in range(frames))
    return max(text_width(fact.label, SMALL), longest * 1.05 + text_width(f" {fact.unit}", SMALL)) + 30


def _lines(panel: Facts) -> list[list[tuple[float, Fact]]]:
    """Facts with their distance from the left, in as many lines as it takes."""
    lines: list[list[tuple[float, Fact]]] = [[]]
    left = 0.0
    for fact in panel.facts:
        if lines[-1] and left + _width(fact) > WIDTH:
            lines, left = [*lines, []], 0.0
        lines[-1].append((left, fact))
        left += _width(fact)
    return lines


def table_room(panel: Table) -> Room:
    height = _TABLE_LINE * (len(panel.rows) + 1) + 8
    return Room(width=sum(_column_widths(panel)), height=height, above=CAPTION * bool(panel.title))


def draw_table(panel: Table, place: Place, frame: int) -> Drawing:
    p, n_rows = place.palette, len(panel.rows)
    marked = at_frame(panel.marked, frame, 1) if panel.marked is not None else [False] * n_rows
    fills = [theme.with_alpha(p["accent"], 0.16) if mark else p["background"] for mark in marked]
    look = {"align": "left", "height": _TABLE_LINE, "line": {"color": p["grid"], "width": 1}}
    table = dict(
        type="table",
        columnwidth=_column_widths(panel),
        header={
            **look,
            "values": [f"<b>{word(name, 60)}</b>" for name in panel.columns],
            "fill": {"color": p["background"]},
            "font": {"size": MEDIUM, "color": p["muted"]},
        },
        cells={
            **look,
            "values": [[word(row[at], 60) for row in panel.rows] for at in range(len(panel.columns))],
            "fill": {"color": [fills]},
            "font": {"size": MEDIUM, "color": p["ink"]},
        },
        domain=place.domain,
    )
    return Drawing([table], notes=place.caption(panel.title, 4))


def _column_widths(panel: Table) -> list[int | float]:
    columns = zip(panel.columns, *panel.rows, strict=True)
    return [max(text_width(word(text, 60), MEDIUM) for text in column) * 1.1 + 24 for column in columns]


def sign_room(panel: Sign) -> Room:
    return Room(width=text_width(panel.text, _SIGN), height=_SIGN)


def draw_sign(panel: Sign, place: Place) -> Drawing:
    font = {"size": _SIGN, "color": place.palette["muted"]}
    middle = place.note(
        escape(panel.text), place.width / 2, place.height / 2, xanchor="center", yanchor="middle", font=font
    )
    return Drawing(notes=[middle])


def notice_lines(notice: str, width: int | float) -> list[str]:
    """The sentence to notice, bold between **stars**, in lines of about `width` pixels."""
    lines, bold = [], False
    for line in textwrap.wrap(notice, int(width / (0.52 * NOTICE_SIZE))):
        parts = line.split("**")
        marked = [
            f"<b>{escape(part)}</b>" if bold != bool(at % 2) else escape(part)
            for at, part in enumerate(parts)
        ]
        lines.append("".join(marked))
        bold ^= len(parts) % 2 == 0
    return lines


def scrub_words(scrub: Scrub, frame: int) -> str:
    """What is written beside the scrub at a frame."""
    if scrub.words:
        return word(scrub.words[frame], 80)
    return f"{float(scrub.values[frame]):.3g}".replace("-", "−")
