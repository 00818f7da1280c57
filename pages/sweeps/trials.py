"""Shows the table of a sweep's trials, and the runs of an opened one."""

from collections.abc import Sequence

import streamlit as st

from attention_lab.models.sweeps import Spec, Trial, by_rank
from attention_lab.pages.shared import phrases
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.phrases import sentence
from attention_lab.pages.shared.table import Row, message, table
from attention_lab.pages.shared.training import runs
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.pages.shared.visitors import without_places
from attention_lab.pages.sweeps import state
from attention_lab.pages.sweeps.board import settings_of, value_of, words
from attention_lab.viz_core.labels import short

KEY = "sweeps.trials"
MOST = 300
"""Rows of the table: more are not read one by one, and every trial is in the take-away."""
MOST_RUNS = 8
"""Runs that Runs compares at once."""
RUNS, EXPLORE = "runs/page.py", "explore/page.py"


def table_of(spec: Spec, trials: Sequence[Trial]) -> None:
    """The trials, the best first; a pressed one leads to its runs."""
    opened = state.page().kept["trial"]
    if len(trials) > MOST:
        st.caption(f"The first {MOST} of {len(trials):,} trials; Take away has all of them.")
    columns = ("trial", *map(label_of, spec.space), f"#{spec.score or 'score'}", "state", "#runs", "#took")
    rows = [_row(spec, trial, opened) for trial in by_rank(spec, trials)[:MOST]]
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
        "–" if trial.seconds is None else phrases.duration(trial.seconds),
    ]
    return Row(str(trial.number), cells, opened=trial.number == opened)


def _on_act(act: Act) -> None:
    number = str(act.get("id", ""))
    if act["type"] == "open" and number.isdecimal() and len(number) < 9:
        inputs = state.page()
        inputs.put({"trial": -1 if inputs.kept["trial"] == int(number) else int(number)})


def _opened(trial: Trial) -> None:
    """A trial's runs: each of its seeds, all together on Runs, and each in Explore."""
    with st.container(border=True, key="sweeps_trial"):
        settings = phrases.plain(settings_of(trial))
        st.markdown(f"**Trial {trial.number}**: {settings}. {phrases.plain(trial.state)}")
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
                if run.has_weights:
                    explore = f"{label}, in Explore"
                    st.page_link(EXPLORE, label=explore, query_params={"model": run.model_link})
                else:
                    st.markdown(phrases.plain(label), width="content")
