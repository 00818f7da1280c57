"""The download of a model that is not on this machine: looked up first, then fetched, shown, stopped."""

import threading
from collections.abc import Callable

from attention_lab.models.byte_units import MB, readable
from attention_lab.models.files import FileError
from attention_lab.models.limits import in_force
from attention_lab.models.zoo.hub import download
from attention_lab.models.zoo.hub.download import Coming
from attention_lab.models.zoo.hub.model_folder import PREFIX, folder_of, is_path
from attention_lab.pages.shared import on_offer, st, visitors
from attention_lab.pages.shared.phrases import capitalised, plain
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.work import STOPPED, Job, Queue, progress

PLACE = "the model that comes"
"""One comes at a time, whoever asked for it."""
_lock = threading.Lock()
WANTED, FOUND, SURE, BEGUN = "download.wanted", "download.found", "download.sure", "download.begun"


def want(name: str) -> None:
    """Notes that a person asked for a model, which may not be on this machine."""
    st.session_state.pop(FOUND, None)
    st.session_state[WANTED] = "" if is_path(name) or _is_here(name) else name


def _is_here(name: str) -> bool:
    try:
        folder_of(name)
    except FileError:
        return False
    return True


def why_not(name: str) -> str:
    """Why this visitor may not download a model; "" where they may."""
    if in_force().read_only:
        return "this server is read-only: it downloads nothing"
    if visitors.is_class() and not visitors.visitor().all_rights:
        return f"{name.removeprefix(PREFIX)!r} is not on this machine, and only a teacher may download models"
    if not on_offer.may_name(name):
        return on_offer.why_not(name)
    return ""


def field(open_model: Callable[[str], None]) -> None:
    """Draws what comes just now, and the offer to look up what was asked for. open_model: shows a model."""
    latest, name = queue.jobs.get(PLACE), st.session_state.get(WANTED, "")
    if latest is not None and not why_not(latest.request.name):
        if not latest.done.is_set():
            progress(latest, key="download.stop")
            return
        if st.session_state.get(BEGUN) == latest.request.name:  # it may have come for another visitor
            _ended(latest, open_model)
            name = name if latest.problem else ""
    if not name:
        return
    refused = why_not(name)
    if refused:
        st.caption(plain(f"{capitalised(refused)}."))
        return
    coming: Coming | None = st.session_state.get(FOUND)
    if coming is None:
        st.button(
            plain(f"Look up {name.removeprefix(PREFIX)} on Hugging Face"), key="download.look",
            help="Asks for size and licence; downloads nothing yet",
            on_click=_look_up, args=(name, open_model),
        )  # fmt: skip
        return
    _offer(coming)


def _look_up(name: str, open_model: Callable[[str], None]) -> None:
    """Looks a model up; one that is here already, by its full name, is opened."""
    try:
        coming = download.look_up(name)
        if _is_here(coming.name):
            want(coming.name)
            open_model(coming.name)
        else:
            st.session_state[FOUND] = coming
    except FileError as error:
        names = [name.removeprefix(PREFIX) for name in on_offer.of_transformers()]
        here = f" On this machine: {', '.join(names) or 'no model of transformers yet'}."
        instead = here if isinstance(error, download.UnreachableError) else ""
        refuse(f"{capitalised(str(error))}.{instead}")


def is_large(coming: Coming) -> bool:
    """Whether a person has to confirm that it comes."""
    return coming.n_bytes > in_force().confirm_mb * MB


def _offer(coming: Coming) -> None:
    """Says what would come, and the button that brings it; a large one has to be confirmed."""
    numbers = coming.numbers or "number format not stated"
    licence = coming.licence or "not stated"
    size = f"{readable(coming.n_bytes)} in {len(coming.files)} file{'s' * (len(coming.files) != 1)}"
    st.markdown(plain(f"{coming.repository}: {size}, {numbers}; licence: {licence}."))
    large = is_large(coming)
    if large:
        st.checkbox(f"Yes, download {readable(coming.n_bytes)}", key=SURE)
    sure = not large or st.session_state.get(SURE) is True
    st.button(
        f"Download {readable(coming.n_bytes)}", key="download.start", on_click=_start, args=(coming,),
        disabled=not sure,
    )  # fmt: skip


def _start(coming: Coming) -> None:
    refused = why_not(coming.name)
    if not refused and is_large(coming) and st.session_state.get(SURE) is not True:
        refused = f"{readable(coming.n_bytes)} were not confirmed; tick the box first"
    try:
        if refused:
            raise FileError(refused)
        begin(coming)
    except ValueError as error:
        refuse(f"{capitalised(str(error))}.")
        return
    for name in (FOUND, SURE):
        st.session_state.pop(name, None)
    st.session_state[BEGUN] = coming.name


def begin(coming: Coming) -> None:
    """Begins to fetch a model. Raises FileError while another one comes, and where the disk has no room."""
    with _lock:
        latest = queue.jobs.get(PLACE)
        if latest is not None and not latest.done.is_set():
            raise FileError(
                f"{latest.request.repository!r} is being downloaded, and one model comes at a time; wait, or "
                "stop it"
            )
        download.check_room(coming)
        queue.ask(coming, PLACE, anew=True)


def _fetch(job: Job) -> None:
    coming: Coming = job.request

    def tell(n_bytes: int) -> None:
        come = f"{readable(n_bytes)} of {readable(max(1, coming.n_bytes))} have come"
        job.tell(n_bytes / max(1, coming.n_bytes), f"fetches {coming.repository}: {come}")

    tell(0)
    download.fetch(coming, tell)


queue = Queue("downloads of models", _fetch, smaller="choose a smaller model")


def _ended(latest: Job, open_model: Callable[[str], None]) -> None:
    """Why it has not come, or the button that opens it."""
    coming: Coming = latest.request
    if latest.problem == STOPPED:
        st.caption(plain(f"{coming.repository!r} was stopped; its whole files stay for next time."))
    elif latest.problem:
        st.caption(plain(f"{capitalised(latest.problem)}."))
    else:
        st.button(
            plain(f"Open {coming.repository}, which has come"), key="download.open", on_click=open_model,
            args=(coming.name,),
        )  # fmt: skip
