"""Several runs over each other, what they show against each other, and the settings that tell them apart."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention_lab.models.runs.ranking import (
    Outcomes,
    differences_table,
    differing,
    outcomes_in,
    scores_table,
    verdict,
)
from attention_lab.models.runs.results import is_share
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.pages.runs.listing import RunGroup, grouped
from attention_lab.pages.shared.table import Row, message
from attention_lab.pages.shared.training import curves, uploads
from attention_lab.pages.shared.training.curves import STEPS, View
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.shared.visitors import without_places
from attention_lab.viz_core.boards import Board, Curves, Line, Panel

MOST = 8
"""Configurations that are drawn over each other: more cannot be told apart."""
Entries = Sequence[Sequence[dict[str, Any]]]


def board_of(compared: Sequence[Run], view: View = STEPS) -> Board:
    """Held-out loss, held-out score and training loss: a line for a run, and a mean with a band for a group.

    The band is from the least to the greatest of the seeds.
    """
    run_groups = grouped(compared)
    compared_groups = run_groups[:MOST]
    records = [[run.records() for run in each.runs] for each in compared_groups]
    x, view = _axis([entries for each in records for entries in each if entries], view)
    names, plain = [each.name for each in compared_groups], replace(view, smoothing=0.0)
    panels: list[Panel] = [
        _over("loss, held out", records, names, [curves.validated("loss")] * len(records), x, plain),
        _score(records, names, x, plain),
        _over("loss, training", records, names, [curves.of("loss")] * len(records), x, view),
    ]
    return Board(rows=[panels], notice=sentences(run_groups)[0])


def sentences(run_groups: Sequence[RunGroup]) -> list[str]:
    """What these show against each other, the most important first; one sentence at least."""
    groups = [each.group for each in run_groups if each.group]
    none = ["None of these runs can be read."]
    words = verdict(groups, outcomes=_outcomes(run_groups)) or none
    if len(run_groups) > MOST:
        words.append(f"{len(run_groups)} configurations are more than can be told apart; {MOST} are drawn.")
    return words


def heads_link(compared: Sequence[Run]) -> dict[str, str]:
    """The link to the heads of two runs beside each other, matched by likeness; {} of more, or where one has
    no model yet."""
    offers = [offer_of(run.model_link) for run in compared]
    if len(offers) != 2 or offers[0] is None or offers[1] is None:
        return {}
    first = offers[0]
    about = {"text": first.text, "stack": str(first.story["stack"]), "layer": "0", "head": "0"}
    models = {"model": compared[0].model_link, "differs": "model", "model2": compared[1].model_link}
    return models | {"matched": "likeness"} | about


def _axis(records: Entries, view: View) -> tuple[np.ndarray, View]:
    """The x axis as far as the longest run; over steps where a run does not count what the view asks for."""
    if any(view.known_in(entries) != view for entries in records):
        view = replace(view, x="steps")
    axes = [curves.axis(entries, entries[-1]["step"], view) for entries in records] or [curves.grid(1)]
    return max(axes, key=lambda axis: float(axis[-1])), view


def _score(records: Sequence[Entries], names: Sequence[str], x: np.ndarray, view: View) -> Panel:
    """The main score of each, with its name where they have different ones."""
    first = [next((s[0] for each in group if (s := curves.scores_of(each))), "") for group in records]
    view = replace(view, log_y=view.log_y and not any(map(is_share, first)))
    reads = [curves.validated(name) for name in first]
    if len(set(first)) == 1:
        return _over(f"{first[0] or 'score'}, held out", records, names, reads, x, view)
    titles = [f"{name}: {score}" if score else name for name, score in zip(names, first, strict=True)]
    return _over("scores, held out", records, titles, reads, x, view)


def _over(
    title: str,
    records: Sequence[Entries],
    names: Sequence[str],
    reads: Sequence[curves.Reader],
    x: np.ndarray,
    view: View,
) -> Curves:
    raw, lines = replace(view, smoothing=0.0), list[Line]()
    for at, (group, name, read) in enumerate(zip(records, names, reads, strict=True)):
        if view.smoothing:
            behind = _line([curves.series(entries, read, x, raw) for entries in group], name, at)
            lines.append(replace(behind, low=None, high=None, faint=True, listed=False))
        lines.append(_line([curves.series(entries, read, x, view) for entries in group], name, at))
    return curves.chart(title, lines, x, view)


def _line(series: Sequence[np.ndarray], name: str, colour: int) -> Line:
    """One run as a line [point]; several as their mean, where all have come as far, with a band around it."""
    if len(series) == 1:
        return Line(y=series[0], name=name, colour=colour)
    values = np.stack([each for each in series if np.isfinite(each).any()] or series)  # [run, point]
    mean = values.mean(axis=0)
    return Line(y=mean, name=name, colour=colour, low=values.min(axis=0), high=values.max(axis=0))


def tables(compared: Sequence[Run]) -> list[tuple[str, bytes]]:
    """The tables below the curves, each with its name: scores, tests, and the settings that differ."""
    run_groups = grouped(compared)
    groups = [each.group for each in run_groups if each.group]
    rows_by_name = [("Held-out scores at the end", scores_table(groups))]
    tests = differences_table(groups, outcomes=_outcomes(run_groups))
    if len(tests) > 1:
        rows_by_name.append(("Differences, each tested", tests))
    messages = []
    for title, (header, *body) in rows_by_name:
        messages.append((title, message(title, header, [Row(str(at), row) for at, row in enumerate(body)])))
    return [*messages, ("Settings that differ", differences(compared))]


def _outcomes(run_groups: Sequence[RunGroup]) -> Outcomes:
    """The held-out examples of single runs, which have a report."""
    return outcomes_in({run.id: run.folder for each in run_groups for run in each.runs})


def differences(compared: Sequence[Run]) -> bytes:
    """The table of the settings that are not the same in all groups."""
    run_groups = [each for each in grouped(compared) if each.group]
    rows = []
    for name, values in differing([each.group for each in run_groups if each.group]).items():
        words = [_text(value) for value in values]
        usual = max(words, key=words.count)
        marks = [at for at, value in enumerate(words, start=1) if value != usual]
        rows.append(Row(name, [name, *words], marks=marks))
    if not rows:
        rows.append(Row("none", ["all settings but the seed are the same", *("" for _ in run_groups)]))
    return message("Settings that differ", ("setting", *(each.name for each in run_groups)), rows)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else uploads.with_short_name(without_places(str(value)))
