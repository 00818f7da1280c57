"""An outcome as a board: its numbers beside the paper's, its charts, and whether the claim holds."""

import re

import numpy as np

from attention_lab.models.findings import BarFilm, Chart, Film, Finding, Number, Outcome
from attention_lab.viz_core.boards import Bars, Board, Colour, Curves, Line, Matrix, Panel, Table, film_scrub
from attention_lab.viz_core.labels import decimal, tick_labels

HYPHEN = re.compile(r"(?<![\w.–-])-(?=\d)")  # that stands before a number for a minus
COLOURS: tuple[Colour, ...] = ("accent", 1, 2, 3, 4, 5)


def claim(finding: Finding) -> str:
    """What a paper claims, in Markdown."""
    return f"**The claim.** {finding.claim} *{finding.paper}.*"


def board_of(outcome: Outcome) -> Board:
    """The board of a finding, its pictures first; one scrubs through its film, if it has one."""
    said, film = HYPHEN.sub("−", outcome.said), outcome.film
    notice = f"**{'It holds here.' if outcome.holds else 'It does not hold here.'}** {said}"
    charts = [_chart(chart, film) for chart in outcome.charts]
    if film is None:
        return Board(rows=[charts, [_numbers(outcome.numbers)]], notice=notice)
    rows: list[list[Panel]] = [[_moving(film)], charts, [_numbers(outcome.numbers)]]
    return Board(rows=rows, notice=[notice] * len(film.steps), scrub=film_scrub(film.steps))


def _moving(film: Film | BarFilm) -> Panel:
    if isinstance(film, BarFilm):
        return Bars(
            values=film.values.numpy().astype(np.float16), labels=film.names, title=film.title,
            x_label=film.x_label, y_label=film.y_label,
        )  # fmt: skip
    names = tick_labels(list(film.tokens), escaped=False)
    return Matrix(
        values=film.patterns.numpy().astype(np.float16), title=film.title, rows=names, columns=names,
        row_axis="query", column_axis="key", scale="weights", picture=True, large=True,
    )  # fmt: skip


def _numbers(numbers: tuple[Number, ...]) -> Table:
    rows = [(each.label, _said(each), each.published) for each in numbers]
    return Table(columns=("", "measured here", "in the paper"), rows=rows)


def _said(number: Number) -> str:
    return f"{number.value:,.0f}" if number.digits == 0 else decimal(number.value, number.digits)


def _chart(chart: Chart, film: Film | BarFilm | None) -> Panel:
    """Bars over names, curves over numbers; a level to compare with is said in the title of bars."""
    if all(isinstance(each, str) for each in chart.x):
        ((_, values),) = chart.series.items()
        return Bars(
            values=np.array(values, dtype=np.float32),
            labels=[str(each) for each in chart.x],
            title=chart.title
            if chart.line is None
            else f"{chart.title} (to compare, {chart.line[1]}: {chart.line[0]:.2f})",
            x_label=chart.x_label,
            y_label=chart.y_label,
            digits=chart.digits,
        )
    x = np.array(chart.x, dtype=np.float64)
    least = x[0] if chart.log_x else -np.inf  # step 0 has no place on a logarithmic axis
    lines = [
        Line(y=np.array(values, dtype=np.float64), name=name, colour=COLOURS[at % len(COLOURS)])
        for at, (name, values) in enumerate(chart.series.items())
    ]
    if chart.line is not None:
        height, name = chart.line
        lines.append(Line(y=np.full(len(x), height), name=name, colour="muted", dashed=True))
    return Curves(
        x=x, lines=lines, title=chart.title, x_label=chart.x_label, y_label=chart.y_label,
        log_x=chart.log_x, at=None if film is None else np.maximum(film.steps, least),
    )  # fmt: skip
