"""The download of data that a task needs: a button that starts it, and its progress."""

import threading
from dataclasses import dataclass

import streamlit as st

from models.byte_units import readable
from models.data import downloads
from models.data.downloads import SOURCES
from models.limits import in_force
from pages.shared.state import refuse
from pages.shared.visitors import without_places


@dataclass
class _Fetch:
    """A download of this server, whoever asked for it."""

    come: int = 0
    total: int = 1
    problem: str = ""
    running: bool = True


_fetches: dict[str, _Fetch] = {}
_lock = threading.Lock()
SECONDS = 0.5


def offer(source: str) -> None:
    """The button for a named source; its progress while it is coming."""
    if source not in SOURCES:
        return
    fetch = _fetches.get(source)
    running = fetch is not None and fetch.running
    st.fragment(_progress, run_every=SECONDS if running else None)(source, running)


def _progress(source: str, was_running: bool) -> None:
    fetch = _fetches.get(source)
    if fetch is None or not fetch.running:
        if was_running:
            st.rerun()  # the task can read it now, or the page says why not
        label = f"Download {SOURCES[source].title} ({readable(SOURCES[source].to_come)})"
        if fetch is not None and fetch.problem:
            st.text(without_places(fetch.problem))
        st.button(label, on_click=start, args=(source,), key="train.download")
        return
    share = min(1.0, fetch.come / max(1, fetch.total))
    st.progress(share, text=f"{readable(fetch.come)} of {readable(fetch.total)} have come")


def start(source: str) -> None:
    """Fetches a source on a thread of its own, only once, however many visitors ask."""
    if in_force().read_only:
        refuse("this server is for looking only (read_only): it downloads nothing")
        return
    with _lock:
        known = _fetches.get(source)
        if known is not None and known.running:
            return
        fetch = _fetches[source] = _Fetch()
    threading.Thread(target=_run, args=(source, fetch), name=f"download {source}", daemon=True).start()


def _run(source: str, fetch: _Fetch) -> None:
    def tell(come: int, total: int) -> None:
        fetch.come, fetch.total = come, total

    try:
        downloads.fetch(source, tell)
    except (ValueError, OSError) as error:
        fetch.problem = str(error)
    finally:
        fetch.running = False
