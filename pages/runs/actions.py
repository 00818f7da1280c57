"""The actions on a run: rename, share, delete, download, open elsewhere, train further."""

from collections.abc import Callable

import streamlit as st

from models.runs import jobs, owners
from models.runs.notes import MAX_NAME
from models.runs.status import Status
from pages.runs import download, notes, state
from pages.shared import visitors, wording
from pages.shared.link import characters
from pages.shared.state import guard, refuse
from pages.shared.training import further, runs, scores, settings, tasks_on_offer
from pages.shared.training.runs import Run

TRAIN, EXPLORE = "train/page.py", "explore/page.py"


def draw(run: Run, status: Status) -> Run:
    """The name and the buttons of a run; those that would change a shipped one are left out.

    Returns the run with the weights that are chosen, its last ones or its best.
    """
    has_model = run.shipped or (run.folder.path / "checkpoint.safetensors").is_file()
    with st.container(horizontal=True, vertical_alignment="center", key="runs_actions"):
        st.markdown(f"**{wording.plain(run.title)}**", width="content")
        run = _with_weights(run)
        if has_model:
            st.page_link(EXPLORE, label="Open in Explore", query_params={"model": run.model_link})
        link = _settings_link(run)
        if link:
            st.page_link(TRAIN, label="Same again with…", query_params=link)
        if status.live:
            st.page_link(TRAIN, label="Watch", query_params={**link, "run": run.id})
        if not runs.may_change(run):
            return run
        if has_model and not status.live and status.step < further.MOST_STEPS:
            further.draw(run, status, lambda new: _watch(new, link))
        if has_model:
            download.draw(run)
        if visitors.is_class():
            _share(run)
        _rename(run)
        notes.edit(run)
        _delete(run, status)
    return run


def _with_weights(run: Run) -> Run:
    """The choice between the last and the best weights, for Explore, the export and trying it."""
    best = run.best
    if best is None or run.shipped:
        return run
    said = scores.worded(best.score, best.value)
    words = {"last": "Last step", "best": f"Best, step {best.step:,}: {best.score} {said}"}
    state.STATE.draw("weights", format_func=words.__getitem__)
    return run.of_best if state.STATE.kept["weights"] == "best" else run


def _watch(run_id: str, link: dict[str, str]) -> None:
    steps = jobs.status(run_id).steps
    st.switch_page(TRAIN, query_params={**link, "steps": str(steps), "run": run_id})


def _settings_link(run: Run) -> dict[str, str]:
    """The link that opens Train with the run's settings; {} for a task that is not known here."""
    described = runs.described(run)
    info = tasks_on_offer.tasks().get(str(described["task"].get("name")))
    return settings.link_of_run(info, described) if info else {}


def _share(run: Run) -> None:
    """A press lets everybody in the class look at the run; the next takes that back."""
    shared = owners.owned(run.folder.path).shared

    def share() -> None:
        _attempt(lambda: jobs.share(run.id, shared=not shared, by=visitors.visitor()))

    label, tip = ("Unshare", "Everybody here sees it") if shared else ("Share", "Lets everybody here see it")
    st.button(label, on_click=share, help=tip, key="runs.share")


def _rename(run: Run) -> None:
    def rename() -> None:
        name = str(st.session_state.get("runs.name", ""))  # a message by hand need not have it
        _attempt(lambda: jobs.rename(run.id, name, by=visitors.visitor()))

    with st.popover("Rename…"):
        rule, now = characters(MAX_NAME), run.folder.name
        st.text_input("Name", now, max_chars=MAX_NAME, key="runs.name")
        guard("runs.name", rule.fits, lambda value: f"Name: {rule.refusal(value)}", lambda: now)
        st.button("Rename", on_click=rename, key="runs.rename")


def _delete(run: Run, status: Status) -> None:
    def delete() -> None:
        _attempt(lambda: jobs.delete(run.id, by=visitors.visitor()))
        state.choose([])

    with st.popover("Delete…", disabled=status.live, help="Stop it first" if status.live else None):
        name = wording.plain(run.folder.name)
        st.markdown(f"Delete **{name}** for good? Its model and its curves are lost.")
        st.button("Delete for good", type="primary", on_click=delete, key="runs.delete")


def _attempt(action: Callable[[], str | None]) -> str | None:
    """Calls `action`; where it is refused, the page says why."""
    try:
        return action()
    except (ValueError, OSError) as error:
        refuse(str(error))
        return None
