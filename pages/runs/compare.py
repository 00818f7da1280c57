"""Several runs over each other, and only the settings that tell them apart."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from models.zoo.offers import offer_of
from pages.shared.places import without_places
from pages.shared.table.component import Row, message
from pages.shared.training import curves, runs
from pages.shared.training.history import history_of
from pages.shared.training.runs import Run
from viz_core.boards import Board, Curves, Line, Panel


def board_of(compared: Sequence[Run]) -> Board:
    """Held-out loss, held-out score and training loss of each run."""
    found = [history_of(run.folder.path / "metrics.jsonl").entries() for run in compared]
    last = max((entries[-1]["step"] for entries in found if entries), default=1)
    x = curves.grid(last)
    names = [run.title for run in compared]
    panels: list[Panel] = [
        _over("loss, held out", found, names, [curves.validated("loss")] * len(found), x),
        _score(found, names, x),
        _over("loss, training", found, names, [curves.of("loss")] * len(found), x),
    ]
    return Board(rows=[panels], notice=_notice(found, names))


def heads_link(compared: Sequence[Run]) -> dict[str, str]:
    """The link to the heads of two runs beside each other, matched by likeness; {} of more, or where one has
    no model yet."""
    found = [offer_of(run.model_link) for run in compared]
    if len(found) != 2 or found[0] is None or found[1] is None:
        return {}
    first = found[0]
    about = {"text": first.text, "stack": str(first.story["stack"]), "layer": "0", "head": "0"}
    models = {"model": compared[0].model_link, "differs": "model", "model2": compared[1].model_link}
    return models | {"matched": "likeness"} | about


def _score(found: Sequence[list[dict[str, Any]]], names: Sequence[str], x: np.ndarray) -> Panel:
    """The main score of each run, with its name where the runs have different ones."""
    first = [(curves.scores_of(entries) or [""])[0] for entries in found]
    reads = [curves.validated(name) for name in first]
    if len(set(first)) == 1:
        return _over(f"{first[0] or 'score'}, held out", found, names, reads, x)
    named = [f"{name}: {score}" if score else name for name, score in zip(names, first, strict=True)]
    return _over("scores, held out", found, named, reads, x)


def _over(
    title: str,
    found: Sequence[list[dict[str, Any]]],
    names: Sequence[str],
    reads: Sequence[curves.Read],
    x: np.ndarray,
) -> Curves:
    lines = [
        Line(y=curves.series(entries, read, x), name=name, colour=at)
        for at, (entries, name, read) in enumerate(zip(found, names, reads, strict=True))
    ]
    return Curves(title=title, x=x, lines=lines, x_label="step")


def _notice(found: Sequence[list[dict[str, Any]]], names: Sequence[str]) -> str:
    """The sentence that names the run with the lowest held-out loss."""
    losses = [curves.last(entries, curves.validated("loss")) for entries in found]
    known = [(loss, name) for loss, name in zip(losses, names, strict=True) if loss is not None]
    if not known:
        return "None of these runs has been validated yet."
    loss, name = min(known)
    return f"**{name}** has the lowest held-out loss of them, {loss:.4f}."


def differences(compared: Sequence[Run]) -> bytes:
    """The table of the settings that are not the same in all runs."""
    settings = [flat(runs.described(run)) for run in compared]
    names = list(dict.fromkeys(name for each in settings for name in each))
    rows = []
    for name in names:
        values = [each.get(name, "–") for each in settings]
        if len(set(values)) > 1:
            usual = max(values, key=values.count)
            marks = [at for at, value in enumerate(values, start=1) if value != usual]
            rows.append(Row(name, [name, *values], marks=marks))
    called = [run.title for run in compared]
    if not rows:
        rows.append(Row("none", ["all settings are the same", *("" for _ in compared)]))
    return message("Settings that differ", ("setting", *called), rows)


def flat(described: Mapping[str, Any]) -> dict[str, str]:
    """The settings of a run's config as texts, by name."""
    found = {"task": described["task"].get("name", ""), **described["task"]["options"]}
    found |= {**described["model"], **described["training"]}
    return {name: _text(value) for name, value in found.items()}


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else without_places(str(value))
