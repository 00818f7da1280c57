"""What is seen of a sweep: the setting of one chart, the trials that stand out, the opened one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from models.sweeps import Spec, Trial
from pages.shared import wording
from pages.shared.browser.acts import Act
from pages.shared.places import without_places
from pages.shared.state import guard
from pages.shared.table.component import Row, message, table
from pages.shared.training import runs
from pages.shared.training.labels import label_of
from pages.shared.waiting import sentence
from pages.sweeps import state
from pages.sweeps.board import value_of, values_of, words
from viz_core.numbers import short
from viz_core.sweeps import best_first

KEY = "sweeps.trials"
MOST = 300
"""Rows of the table: more are not read one by one, and every trial is in the take-away."""
MOST_RUNS = 8
"""Runs that Runs compares at once."""
RUNS, EXPLORE = "runs/page.py", "explore/page.py"
ALL, BEST, VALUE = "", "*best", "*value"


@dataclass(frozen=True)
class Seen:
    """by: the setting of one chart. brushed [trial]: which trials stand out; order: their places."""

    by: str
    brushed: list[bool]
    order: list[int]


def controls(name: str, spec: Spec, trials: Sequence[Trial]) -> Seen:
    """The choices above the figures; name: of the sweep, whose brush is its own."""
    shown = state.page()
    labels = {each: label_of(each) for each in spec.space}
    brushes = {ALL: "all trials", BEST: "the best quarter", VALUE: spec.score or "score", **labels}
    for field, options in (("by", labels), ("brush", brushes)):
        if shown.kept[field] not in options:
            shown.put({field: next(iter(options))})
    with st.container(horizontal=True, vertical_alignment="top", key="sweeps_seen"):
        if len(labels) > 1:
            shown.draw("by", options=list(labels), format_func=labels.__getitem__, width=220)
        shown.draw("brush", options=list(brushes), format_func=brushes.__getitem__, width=220)
        within = _within(name, shown.kept["brush"], trials)
        shown.draw("order")
    values = values_of(trials)
    less = spec.direction == "minimize"
    best = [int(at) for at in best_first(values, lower_is_better=less)]
    if shown.kept["brush"] == BEST:
        finished = [at for at in best if trials[at].state == "finished"]
        within = set(finished[: max(1, -(-len(finished) // 4))])
    brushed = [within is None or at in within for at in range(len(trials))]
    order = best if shown.kept["order"] == "best" else list(range(len(trials)))
    return Seen(shown.kept["by"], brushed, order)


def _within(name: str, brush: str, trials: Sequence[Trial]) -> set[int] | None:
    """The trials between two values of a setting, which a slider chooses; None for all."""
    if brush in (ALL, BEST):
        return None
    given = [trial.value if brush == VALUE else trial.settings.get(brush) for trial in trials]
    if all(value is None or _is_number(value) for value in given):
        steps: list[Any] = sorted({value for value in given if value is not None})
    else:
        steps = list(dict.fromkeys(given))
    if len(steps) < 2:
        return None
    key, places = f"sweeps.between.{name}.{brush}", list(range(len(steps)))
    now = st.session_state.get(key)
    if now is not None and not _fits(now, len(steps)):  # the sweep goes on, and has other values now
        st.session_state.pop(key)
    ends = st.select_slider(
        "Between", places, (0, len(steps) - 1), key=key, width=280,
        format_func=lambda at: words(steps[at]) if at < len(steps) else "",
    )  # fmt: skip
    whole = (0, len(steps) - 1)
    guard(key, lambda value: _fits(value, len(steps)), lambda _: "Between: no such values.", lambda: whole)
    low, high = ends if _fits(ends, len(steps)) else whole
    kept = steps[low : high + 1]
    return {at for at, value in enumerate(given) if value in kept}


def _fits(value: Any, count: int) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(isinstance(each, int) and 0 <= each < count for each in value)
        and value[0] <= value[1]
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def table_of(spec: Spec, trials: Sequence[Trial], shown: Seen) -> None:
    """The trials that stand out; a pressed one leads to its runs."""
    opened = state.page().kept["trial"]
    kept = [trials[at] for at in shown.order if shown.brushed[at]]
    if len(kept) < len(trials):
        st.caption(f"{len(kept):,} of {len(trials):,} trials stand out")
    if len(kept) > MOST:
        st.caption(f"The first {MOST} of {len(kept):,} trials; Take away has all of them.")
    columns = ("trial", *map(label_of, spec.space), f"#{spec.score or 'score'}", "state", "#runs", "#took")
    rows = [_row(spec, trial, opened) for trial in kept[:MOST]]
    table.show(message("Trials", columns, rows), key=KEY, on_act=_on_act)
    trial = next((trial for trial in trials if trial.number == opened), None)
    if trial is not None:
        _opened(trial)


def _row(spec: Spec, trial: Trial, opened: int) -> Row:
    cells = [
        str(trial.number),
        *(words(trial.settings.get(name)) for name in spec.space),
        value_of(trial),
        trial.state,
        str(len(trial.runs)),
        "–" if trial.seconds is None else wording.duration(trial.seconds),
    ]
    return Row(str(trial.number), cells, opened=trial.number == opened)


def _on_act(act: Act) -> None:
    number = str(act.get("id", ""))
    if act["type"] == "open" and number.isdecimal() and len(number) < 9:
        shown = state.page()
        shown.put({"trial": -1 if shown.kept["trial"] == int(number) else int(number)})


def _opened(trial: Trial) -> None:
    """A trial's runs: each of its seeds, all together on Runs, and each in Explore."""
    with st.container(border=True, key="sweeps_trial"):
        said = ", ".join(f"{label_of(name)} {words(value)}" for name, value in trial.settings.items())
        st.markdown(f"**Trial {trial.number}**: {wording.plain(said)}. {wording.plain(trial.state)}")
        if trial.sentence:
            st.text(sentence(without_places(trial.sentence)))
        there = [run for run_id in trial.runs if (run := runs.find(run_id))]
        if not there:
            st.caption("None of its runs is here to be seen.")
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            ids = ".".join(run.id for run in there[:MOST_RUNS])
            st.page_link(RUNS, label="Its runs on Runs", query_params={"runs": ids})
            for run in there[:MOST_RUNS]:
                seed = runs.described(run)["training"].get("seed", "?")
                value = trial.values.get(seed) if isinstance(seed, int) else None
                label = f"Seed {seed}" + ("" if value is None else f": {short(value)}")
                if (run.folder.path / "checkpoint.safetensors").is_file():
                    explore = f"{label}, in Explore"
                    st.page_link(EXPLORE, label=explore, query_params={"model": run.model_link})
                else:
                    st.markdown(wording.plain(label), width="content")
