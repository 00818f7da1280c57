"""Shows one sweep: its progress, its buttons, its figures and its trials, in a table and on a board."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_lab.models.files import FileError
from attention_lab.models.runs.folder import Status
from attention_lab.models.sweeps import Spec, Sweep, Trial, ask, delete, start
from attention_lab.models.sweeps.sweep import DONE, by_rank
from attention_lab.pages.shared import on_offer, phrases, visitors
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.page_parts import as_typed, show_problems
from attention_lab.pages.shared.phrases import sentence
from attention_lab.pages.shared.state import attempt, problems
from attention_lab.pages.shared.table import Row, message, table
from attention_lab.pages.shared.training import runs, settings, tasks_on_offer
from attention_lab.pages.shared.training.buttons import STATES, confirm_deletion, control_buttons
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.pages.shared.visitors import without_places
from attention_lab.pages.sweeps import state
from attention_lab.viz_core import training
from attention_lab.viz_core.boards import Board, Panel
from attention_lab.viz_core.labels import short

KEY = "sweeps.board"
TRIALS = "sweeps.trials"
MOST_RUNS = 8
"""Runs that Runs compares at once."""
TRAIN, RUNS, EXPLORE = "train/page.py", "runs/page.py", "explore/page.py"


def draw(sweep: Sweep) -> None:
    """Draws the sweep as it stands now."""
    status = sweep.status()
    try:
        spec, trials, importance = sweep.spec, sweep.trials(), sweep.importance()
    except FileError as error:
        _heading(sweep, status, None, None)
        show_problems([sentence(without_places(str(error))), *problems()])
        return
    _heading(sweep, status, spec, sweep.best())
    show_problems(problems())
    _progress(status, spec, trials)
    _board(sweep, board_of(spec, trials, importance))
    table_of(spec, trials)
    if sweep.repeats:
        st.caption("On the command line")
        as_typed(spec.command())


def _board(sweep: Sweep, content: Board) -> None:
    if not content.rows[0]:
        st.markdown(content.notice if isinstance(content.notice, str) else "")
        return
    link = {"sweep": sweep.name, **state.page().link(("trial",))}
    where = f"Sweep {sweep.name}"
    on_page.show(content, key=KEY, part=sweep.name, link=link, presents=len(content.rows), where=where)


def take_away(sweep: Sweep | None) -> None:
    """The dialog with the board as it stands, and the lines that read the sweep."""
    boards = sweep and attempt(lambda: [board_of(sweep.spec, sweep.trials(), sweep.importance())])
    if not sweep or not boards:
        del st.session_state[on_page.TAKE_AWAY]
        return
    facts = {"sweep": sweep.name}
    on_page.take_away(sweep.name, f"sweep-{sweep.name}", boards[0], lambda frame: code_of(sweep), facts)


def code_of(sweep: Sweep) -> str:
    """Lines of Python that read the trials of a sweep on its machine."""
    return (
        f"from attention_lab.models.sweeps import find\n\nsweep = find({sweep.name!r})\n"
        "for trial in sweep.trials():\n    print(trial.number, trial.settings, trial.state, "
        "trial.value, trial.spread, trial.n)\nprint(sweep.importance())\n"
    )


def _heading(sweep: Sweep, status: Status, spec: Spec | None, best: Trial | None) -> None:
    """The sweep's name and what can be done with it now."""
    with st.container(horizontal=True, vertical_alignment="center", key="sweeps_actions"):
        st.markdown(f"**{phrases.plain(sweep.name)}**", width="content")
        link = train_link(best)
        if link:
            st.page_link(TRAIN, label="Train with the best", query_params=link)
        if spec is not None and sweep.repeats and spec.task in tasks_on_offer.tasks():

            def again() -> None:
                info = tasks_on_offer.tasks()[spec.task]
                state.put_form(info, *state.form_of_spec(info, spec))
                st.session_state.sweeps_acted = True

            st.button("Same again with…", on_click=again, key="sweeps.again")
        if sweep.may_change(visitors.visitor()):
            asking = partial(_ask, sweep.name)
            control_buttons(status, asking, resume="Go on", key="sweeps")
            loss = "Its trials and figures are lost; its runs stay."
            with st.popover("Delete…"):
                confirm_deletion(
                    sweep.name, loss, partial(asking, "delete"), live=status.live, key="sweeps.delete"
                )


def train_link(trial: Trial | None) -> dict[str, str]:
    """The link that opens Train with the settings of a trial's first run; {} where that is not to be seen."""
    run = next((run for run_id in trial.runs if (run := runs.find(run_id))), None) if trial else None
    return settings.link_of_run(runs.described(run)) if run else {}


def _ask(name: str, what: str) -> None:
    """Asks a sweep for something, or deletes it."""
    stop = partial(ask, what="pause" if what == "pause" else "stop")
    act = {"resume": start, "delete": delete}.get(what, stop)
    attempt(lambda: act(name, by=visitors.visitor()), lambda words: sentence(without_places(words)))
    if what == "delete" and state.find_sweep(name) is None:
        state.open_sweep(state.NEW)
    st.session_state.sweeps_acted = True


def _progress(status: Status, spec: Spec, trials: list[Trial]) -> None:
    """How many trials have ended, how, and about how long the rest takes, in words without Markdown."""
    counts = {kind: sum(trial.state == kind for trial in trials) for kind in DONE}
    ended, in_all = sum(counts.values()), max(1, spec.trials)
    how = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count and kind != "finished")
    took = phrases.duration(status.seconds) if status.seconds else ""
    goes_on = status.state == "running" and 0 < ended < in_all and status.seconds > 0
    left = phrases.duration((in_all - ended) * status.seconds / ended) if goes_on else ""
    came = (
        f"{ended:,} of {spec.trials:,} trials{f' ({how})' if how else ''}"
        f"{f' in {took}' if took else ''}{f', about {left} left' if left else ''}"
    )
    st.progress(min(1.0, ended / in_all), text=phrases.plain(f"{STATES[status.state]}: {came}"))
    if status.sentence and status.state not in ("running", "stopping"):
        st.text(sentence(without_places(status.sentence)))


# What its board shows


def board_of(spec: Spec, trials: Sequence[Trial], importance: Mapping[str, float]) -> Board:
    """The board of a sweep."""
    name, lower = spec.score or "score", spec.direction == "minimize"
    known = {
        trial.number: trial.value for trial in trials if trial.state == "finished" and trial.value is not None
    }
    if not known:
        return Board(rows=[[]], notice=notice_of(spec, trials))
    values = np.array([*known.values()], dtype=np.float64)
    panels: list[Panel] = [
        training.history_panel(values, numbers=list(known), lower_is_better=lower, name=name)
    ]
    if importance:
        panels.append(
            training.importance_panel({label_of(each): share for each, share in importance.items()})
        )
    return Board(rows=[panels], notice=notice_of(spec, trials))


def settings_of(trial: Trial) -> str:
    """A trial's settings as the page writes them, or those that tell it from the others."""
    told = trial.turned or trial.settings
    return ", ".join(f"{label_of(name)} {words(value)}" for name, value in told.items())


def words(value: object) -> str:
    """A setting's value as the page writes it."""
    return short(value) if isinstance(value, float) else "none" if value is None else str(value)


def notice_of(spec: Spec, trials: Sequence[Trial]) -> str:
    """The best trial in a sentence, or why there is none."""
    ranked = [trial for trial in by_rank(spec, trials) if trial.state == "finished"]
    if not ranked:
        failed = [trial for trial in trials if trial.state == "failed"]
        if failed and len(failed) == len(trials):
            return f"**All {len(failed)} trials have failed.** {failed[0].sentence}"
        return "No trial has finished yet."
    best, *others = ranked
    ended = not any(trial.state in ("waiting", "running", "stopped") for trial in trials)
    all_came = ended and len(trials) >= spec.trials
    equal = sum(trial.value == best.value for trial in others)
    more = f", as {equal} more {'has' if equal == 1 else 'have'}" if equal else ""
    score = f"{spec.score or 'score'} {value_of(best)}{more}"
    settings = settings_of(best)
    return f"**{'Best' if all_came else 'Best so far'}: trial {best.number}**, with {settings}: {score}."


def value_of(trial: Trial) -> str:
    """The value of a trial with its spread over the seeds, as far as it is known."""
    if trial.value is None:
        return "–"
    spread = "" if trial.spread is None else f" ± {short(trial.spread)} (n = {trial.n})"
    return f"{short(trial.value)}{spread}"


# The trials in a table, and the runs of an opened one.


def table_of(spec: Spec, trials: Sequence[Trial]) -> None:
    """The trials, the best first; a pressed one leads to its runs."""
    opened = state.page().kept["trial"]
    others = [f"#{name}" for name in trials[0].others] if trials else []
    columns = ("trial", *map(label_of, spec.space), f"#{spec.score or 'score'}", *others)
    columns += ("state", "#runs", "#took")
    rows = [_row(spec, trial, opened) for trial in by_rank(spec, trials)]
    table.show(message("Trials", columns, rows), key=TRIALS, on_act=_on_act)
    trial = next((trial for trial in trials if trial.number == opened), None)
    if trial is not None:
        _opened(trial)


def _row(spec: Spec, trial: Trial, opened: int) -> Row:
    cells = [
        str(trial.number),
        *(words(trial.settings.get(name)) for name in spec.space),
        value_of(trial),
        *map(short, trial.others.values()),
        trial.state,
        str(len(trial.runs) or trial.n),
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
        tried = phrases.plain(settings_of(trial))
        st.markdown(f"**Trial {trial.number}**: {tried}. {phrases.plain(trial.state)}")
        if trial.sentence:
            st.text(sentence(without_places(trial.sentence)))
        if trial.link:
            if on_offer.may_open(trial.link["model"]):
                st.page_link(EXPLORE, label="Open in Explore", query_params=trial.link)
            return
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
