"""What is watched while a run trains: numbers, curves, all heads on the probe, pictures."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention_lab.models.byte_units import readable
from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import Status
from attention_lab.models.runs.results import growing, tracker_of
from attention_lab.pages.shared import phrases, visitors
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser.clock import run_again
from attention_lab.pages.shared.page_parts import as_typed, heading, show_problems
from attention_lab.pages.shared.state import State, attempt, problems
from attention_lab.pages.shared.training import (
    buttons,
    curves,
    further,
    heads,
    runs,
    settings,
    tasks_on_offer,
)
from attention_lab.pages.shared.training.curves import STEPS, View
from attention_lab.pages.shared.training.heads import head_curves
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.shared.visitors import without_places
from attention_lab.pages.train import state
from attention_lab.viz_core.boards import Board, Fact, Facts, Line, Panel


def board_of(
    run: Run,
    entries: Sequence[dict[str, Any]],
    *,
    steps: int,
    notice: str,
    live: bool = False,
    view: View = STEPS,
) -> Board:
    """The board of a run after these records. Its shape stays the same while the run goes on: a `live` board
    has empty heads until the first snapshot.
    """
    view = view.known_in(entries)
    x = curves.axis(entries, steps, view)
    steps_kept = run.folder.snapshots()
    rows, head_steps = heads.head_rows(run, steps_kept[-1:])
    if live and not rows:
        rows = heads.awaited_rows(run)
    described = runs.described(run)
    how, marks = described["training"], curves.marks_of(described, entries, view)
    top: list[Panel] = [
        curves.loss_curves(entries, x, view, marks=marks),
        curves.score_curves(entries, x, view, marks=marks),
        curves.gradient_curve(entries, x, how.get("clip"), view, marks=marks),
        *heads.large(rows, heads.at_work(run, [*steps_kept[:1], *steps_kept[-1:]])[0]),
    ]
    # The measure of every head, which is empty until there are two snapshots.
    blank = curves.chart("a measure of every head", [Line(y=np.full(len(x), np.nan), name="head")], x, view)
    more = [
        curves.rate_curve(entries, x, how.get("learning_rate"), view),
        *([curves.part_curves(entries, x, view)] if live or curves.has_norms(entries) else []),
        head_curves(run, entries, x, view) or blank,
        curves.speed_curve(entries, x, view),
    ]
    pictures = heads.pictures_panel(run)
    return Board(rows=[[numbers(entries, head_steps)], top, *rows, more, *pictures], notice=notice)


def numbers(entries: Sequence[dict[str, Any]], head_steps: Sequence[int]) -> Facts:
    """The latest numbers as texts; each keeps its place."""
    read = {
        "step": curves.of("step"),
        "loss": curves.of("loss"),
        "loss, held out": curves.validated("loss"),
        "gradient norm": curves.of("gradient_norm"),
        "learning rate": curves.of("learning_rate"),
        "tokens / s": curves.of("tokens_per_second"),
    }
    forms = {"step": ",.0f", "tokens / s": ",.0f", "learning rate": ".2e", "gradient norm": ".2f"}
    facts = []
    for label, reader in read.items():
        value = curves.last(entries, reader)
        words = "–" if value is None else _number(value, forms.get(label, ".4f"))
        facts.append(Fact(label=label, values=words))
    for name in curves.scores_of(entries)[:1] or ["score"]:
        value = curves.last(entries, curves.validated(name))
        words = "–" if value is None else runs.worded(name, value)
        facts.append(Fact(label="score, held out", values=words))
    best = tracker_of(entries, {}, {}).best
    words = f"{runs.worded(best.score, best.value)} at step {best.step:,}" if best else "–"
    facts.append(Fact(label="best, held out", values=words))
    memory = curves.last(entries, curves.of("memory"))
    facts.append(Fact(label="memory", values="–" if memory is None else readable(round(memory))))
    peak = curves.last(entries, curves.of("share_of_peak"))
    if peak is not None:
        facts.append(Fact(label="share of peak", values=f"{peak:.1%}"))
    facts.append(Fact(label="heads of step", values=f"{head_steps[-1]:,}" if head_steps else "–"))
    return Facts(facts=facts)


def _number(value: float, form: str) -> str:
    """A number in a form, none of which writes a small one as nothing, nor nothing as a power of ten."""
    if value == 0:
        return "0"
    return format(value, ".2e" if form == ".4f" and abs(value) < 1e-3 else form)


# A run as it trains: read from its folder once a second, drawn by one component that stays where it is.

SECONDS = 1.0
KEY = "train.live"
RUNS, EXPLORE = "runs/page.py", "explore/page.py"
STATES = buttons.STATES | {"queued": "Waiting for its turn", "running": "Training"}


def draw(run: Run) -> None:
    """Draws the run as long as it is live, and then once more as it ended."""
    live = runs.status_of(run).live
    st.fragment(_live)(run.id, live)


def _live(run_id: str, was_live: bool) -> None:
    run = runs.find(run_id)
    if run is None or st.session_state.pop("train_left", False):
        st.rerun()
    if was_live:
        run_again(SECONDS, KEY)
    status = runs.status_of(run)
    _heading(run, status)
    show_problems(problems())
    entries = run.records()
    described = runs.described(run)
    steps = _whole(described["training"].get("steps") or status.steps)
    minutes = described["training"].get("minutes")
    minutes = max(0.0, minutes) if curves.is_number(minutes) else 0.0
    st.progress(_share(status, steps, minutes), text=_progress(status, entries, steps, minutes))
    notice = _notice(run, status, entries)
    view = view_state()
    curves.draw_view(view, parts=status.live or curves.has_norms(entries))
    content = board_of(run, entries, steps=steps, notice=notice, live=status.live, view=curves.view_of(view))
    link = {**settings.link_of_run(described), "run": run.id, **view.link(view.params)}
    on_page.show(content, key=KEY, part=run.id, link=link)
    _samples(run)
    if status.live != was_live or on_page.wants_take_away():
        st.rerun()  # the page as a whole: the clock stops with the run, and a dialog outlives its ticks


def take_away(run: Run) -> None:
    """The dialog with the board as it stands."""
    steps = _whole(runs.described(run)["training"].get("steps"))
    view = curves.view_of(view_state())
    content = board_of(run, run.records(), steps=steps, notice=run.folder.name, view=view)
    code = runs.records_and_model(run)
    on_page.take_away(run.folder.name, run.id, content, lambda frame: code, {"run": run.id})


def _heading(run: Run, status: Status) -> None:
    """The run's name and what can be done with it now."""
    with heading("Train", state.PAGE):
        st.text(run.folder.name, width="content")
        if runs.may_change(run) and not status.watched:
            buttons.control_buttons(status, partial(_ask, run.id), resume="Resume", key="train")
            if not status.live and run.has_weights:

                def watch_it(run_id: str) -> None:
                    state.watch(run_id)
                    st.rerun()  # the whole page

                further.draw(run, status, watch_it)
        st.page_link(RUNS, label="Scrub through it", query_params={"runs": run.id})
        if run.has_weights:
            st.page_link(EXPLORE, label="Open in Explore", query_params={"model": run.model_link})
        if run.best:
            of_best = {"model": run.of_best.model_link}
            st.page_link(EXPLORE, label=f"Open its best, step {run.best.step:,}", query_params=of_best)
        st.button("New run", on_click=_leave, key="train.new")


def _leave() -> None:
    """Goes back to the settings, in the whole page and not only in its live part."""
    state.watch("")
    st.session_state.train_left = True


def _ask(run_id: str, what: str) -> None:
    by, keep_going = visitors.visitor(), state.page().kept["keep_going"]
    if what == "resume":
        attempt(lambda: jobs.resume(run_id, by=by, keep_going=keep_going))
    else:
        attempt(lambda: (jobs.pause if what == "pause" else jobs.stop)(run_id, by=by))


def _share(status: Status, steps: int, minutes: float) -> float:
    """How much of the run is done, by its steps or by its minutes, whichever has gone further."""
    return min(1.0, max(status.step / steps, status.seconds / (60 * minutes) if minutes else 0.0))


def _progress(status: Status, entries: list[dict[str, Any]], steps: int, minutes: float = 0.0) -> str:
    """Where the run is and how long it will take, in words without Markdown."""
    if status.state == "running" and not entries:
        return f"Starting: {steps:,} steps to go"
    where = f"{STATES[status.state]}: step {status.step:,} of {steps:,} in {phrases.duration(status.seconds)}"
    if status.compiling:
        where += f", after {phrases.duration(status.compiling)} of compiling"
    if status.state != "running" or not entries or not status.step or status.seconds <= 0:
        return where
    share = _share(status, steps, minutes)
    seconds = status.seconds * (1 - share) / share
    return f"{where}, about {phrases.duration(seconds)} left"


def view_state() -> State:
    """How the curves are drawn."""
    return curves.view_state(state.PAGE)


def _notice(run: Run, status: Status, entries: list[dict[str, Any]]) -> str:
    """The held-out score so far and the head that does the task best; before it, that the run stopped early,
    or that its loss grows. Without a score yet: what to look for.
    """
    described = runs.described(run)
    info = tasks_on_offer.task_of(described)
    usual = info.training.get("learning_rate") if info else None
    outcome = growing(described, entries, usual) if status.live else status.outcome
    if status.state not in ("running", "finished"):
        return f"**{STATES[status.state]}.** {without_places(phrases.capitalised(status.sentence))}"
    sentences = [f"**{phrases.capitalised(outcome)}.**"] if outcome else []
    steps, best = described["training"].get("steps") or status.steps, tracker_of(entries, {}, {}).best
    name = best.score if best else "loss"
    value = curves.last(entries, curves.validated(name))
    if value is not None:
        score, words = phrases.capitalised(name), runs.worded(name, value)
        sentences.append(f"**{score}, held out: {words} after {status.step:,} of {steps:,} steps.**")
        sentences += _at_work(run)
    elif info:
        sentences.append(info.look_for(described["task"]["options"]))
    return " ".join(sentences)


def _at_work(run: Run) -> list[str]:
    """A sentence about the head that does the task best; [] before there are two snapshots."""
    steps = run.folder.snapshots()
    head, shares = heads.at_work(run, steps[:: max(1, len(steps) - 1)]) if steps[1:] else ("", ())
    if not (head and shares):
        return [f"Head {head} has changed most since the start."] if head else []
    start, share = shares
    if share < start + heads.BEGINS:
        return ["No head copies yet."]
    if share < heads.COPIES:
        return [f"Head {head} begins to copy: {share:.0%} of its attention is on the token to write."]
    return [f"Head {head} copies: {share:.0%} of its attention is on the token to write."]


def _samples(run: Run) -> None:
    """What the model makes of held-out examples: text as text."""
    entries = run.samples()
    text = heads.sample_text(entries[-1].get("samples")) if entries else ""
    if text:
        st.caption(f"What it makes at step {entries[-1]['step']:,}")
        as_typed(text)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1
