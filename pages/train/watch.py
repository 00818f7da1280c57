"""A run as it trains: read from its folder once a second, drawn by one component that stays where it is."""

from typing import Any

import streamlit as st

from models.runs import jobs
from models.runs.outcome import growing
from models.runs.status import Status
from pages.shared import visitors, wording
from pages.shared.board.component import board
from pages.shared.browser.acts import Act
from pages.shared.places import without_places
from pages.shared.problems import say
from pages.shared.state import State, problems, refuse
from pages.shared.training import curves, figures, further, runs, settings, tasks_on_offer, view
from pages.shared.training.history import history_of
from pages.shared.training.message import message
from pages.shared.training.runs import Run
from pages.train import state
from pages.train.board import board_of

SECONDS = 1.0
KEY = "train.live"
RUNS, EXPLORE = "runs/page.py", "explore/page.py"
STATES = {
    "queued": "Waiting for its turn",
    "running": "Training",
    "paused": "Paused",
    "stopping": "Ending",
    "finished": "Finished",
    "stopped": "Stopped",
    "failed": "Failed",
}


def draw(run: Run) -> None:
    """Draws the run as long as it is live, and then once more as it ended."""
    live = runs.status_of(run).live
    st.fragment(_live, run_every=SECONDS if live else None)(run.id, live)


def _live(run_id: str, was_live: bool) -> None:
    run = runs.find(run_id)
    if run is None or st.session_state.pop("train_left", False):
        st.rerun()
    status = runs.status_of(run)
    _heading(run, status)
    say(problems())
    entries = history_of(run.folder.path / "metrics.jsonl").entries()
    described = runs.described(run)
    steps = _whole(described["training"].get("steps"))
    st.progress(min(1.0, status.step / steps), text=_progress(status, entries, steps))
    notice = _notice(described, status, entries)
    seen = view_state()
    view.draw(seen, parts=status.live or curves.has_norms(entries))
    shown = board_of(run, entries, steps=steps, notice=notice, live=status.live, view=view.of(seen))
    info = tasks_on_offer.tasks().get(str(described["task"].get("name")))
    link = {
        **(settings.link_of_run(info, described) if info else {}),
        "run": run.id,
        **seen.link(seen.params),
    }
    board.show(message(shown, part=run.id, link=link), key=KEY, on_act=_on_act)
    _samples(run)
    if status.live != was_live or "takeaway" in st.session_state:
        st.rerun()  # the page as a whole: the clock stops with the run, and a dialog outlives its ticks


def _on_act(act: Act) -> None:
    st.session_state.takeaway = act


def take_away(run: Run) -> None:
    """The dialog with the board as it stands."""
    from pages.shared.board import takeaway  # Plotly's figures are needed only now

    described = runs.described(run)
    entries = history_of(run.folder.path / "metrics.jsonl").entries()
    steps = _whole(described["training"].get("steps"))
    shown = board_of(run, entries, steps=steps, notice=run.folder.name, view=view.of(view_state()))
    code = f"{runs.opening(run)}\nrecords, model = run.metrics(), run.model()"
    takeaway.dialog(run.folder.name, run.id, shown, 0, code)


def _heading(run: Run, status: Status) -> None:
    """The run's name and what can be done with it now."""
    with st.container(horizontal=True, vertical_alignment="center", key="train_heading"):
        st.html("<h1>Train</h1>", width="content")
        st.text(run.folder.name, width="content")
        if runs.may_change(run):
            _asking(run, status)
            if not status.live and (run.folder.path / "checkpoint.safetensors").is_file():
                further.draw(run, status, _watch_it)
        st.page_link(RUNS, label="Scrub through it", query_params={"runs": run.id})
        if (run.folder.path / "checkpoint.safetensors").is_file():
            st.page_link(EXPLORE, label="Open in Explore", query_params={"model": run.model_link})
        if run.best:
            of_best = {"model": run.of_best.model_link}
            st.page_link(EXPLORE, label=f"Open its best, step {run.best.step:,}", query_params=of_best)
        st.button("New run", on_click=_leave, key="train.new")


def _asking(run: Run, status: Status) -> None:
    """What the run can be asked to do."""
    if status.live:
        asked = bool(status.asked)
        st.button("Pause", on_click=_ask, args=("pause", run.id), disabled=asked, key="train.pause")
        st.button("Stop", on_click=_ask, args=("stop", run.id), disabled=asked, key="train.stop")
    elif status.state != "finished":
        st.button("Resume", on_click=_ask, args=("resume", run.id), key="train.resume", type="primary")


def _watch_it(run_id: str) -> None:
    """Watches the run that goes on from this one, in the whole page."""
    state.watch(run_id)
    st.rerun()


def _leave() -> None:
    """Goes back to the settings, in the whole page and not only in its live part."""
    state.watch("")
    st.session_state.train_left = True


def _ask(what: str, run_id: str) -> None:
    by = visitors.visitor()
    try:
        if what == "resume":
            jobs.resume(run_id, by=by, keep_going=state.page().kept["keep_going"])
        else:
            (jobs.pause if what == "pause" else jobs.stop)(run_id, by=by)
    except (ValueError, OSError) as error:
        refuse(str(error))


def _progress(status: Status, entries: list[dict[str, Any]], steps: int) -> str:
    """Where the run is and how long it will take, in words without Markdown."""
    if status.state == "running" and not entries:
        return f"Starting: {steps:,} steps to go"
    where = f"{STATES[status.state]}: step {status.step:,} of {steps:,} in {wording.duration(status.seconds)}"
    if status.state != "running" or not entries or not status.step or status.seconds <= 0:
        return where
    left = (steps - status.step) * status.seconds / status.step
    return f"{where}, about {wording.duration(left)} left"


def view_state() -> State:
    """How the curves are drawn."""
    return view.state(state.PAGE)


def _notice(described: dict[str, Any], status: Status, entries: list[dict[str, Any]]) -> str:
    """What to look for; before it, that the run stopped early, or that its loss grows."""
    info = tasks_on_offer.tasks().get(str(described["task"].get("name")))
    see = info.look_for(described["task"]["options"]) if info else ""
    usual = info.training.get("learning_rate") if info else None
    said = growing(described, entries, usual) if status.live else status.outcome
    if said and status.state in ("running", "finished"):
        return f"**{said[:1].upper()}{said[1:]}.** {see}"
    if status.state in ("running", "finished") and see:
        return see
    sentence = status.sentence[:1].upper() + status.sentence[1:]
    return f"**{STATES[status.state]}.** {without_places(sentence)}"


def _samples(run: Run) -> None:
    """What the model makes of held-out examples: text as text."""
    found = history_of(run.folder.path / "samples.jsonl").entries()
    text = figures.sample_text(found[-1].get("samples")) if found else ""
    if text:
        st.caption(f"What it makes at step {found[-1]['step']:,}")
        st.code(text, language=None, wrap_lines=True)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1
