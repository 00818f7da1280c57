"""The pages by the names of their folders: as the menu has them, and in the order of a clicker. Each name is
the page's address, but Explore's is "".
"""

from collections.abc import Mapping
from typing import NamedTuple

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import st
from attention_lab.pages.shared.browser.acts import Act, Kinds
from attention_lab.pages.shared.lab_stops import NAMES, STOPS


class Door(NamedTuple):
    """An entry of the menu: a list of pages under a title or, without one, pages that stand in the menu."""

    title: str
    pages: dict[str, str]


MENU = (
    Door(title="", pages={"explore": "Explore"}),
    Door(title="Learn", pages={"start": "Start here"} | {stop.name: stop.title for stop in STOPS}),
    Door(title="Compare", pages={"beside": "Side by side", "findings": "Findings"}),
    Door(title="Train", pages={"train": "Train", "runs": "Runs", "sweeps": "Sweeps"}),
    Door(title="More", pages={"documents": "Long texts", "talks": "Talks"}),
)
PAGES = {name: title for door in MENU for name, title in door.pages.items()}
ORDER = ("start", "explore", *NAMES, "beside", "findings", "runs")
"""The order in which a clicker goes through them: the way in, the lab, what was measured and trained."""
ACTS: Kinds = {"go": {"by": int}, "skip": {"by": int}}
"""A clicker goes past the last frame, or back before the first; or it skips to the next or previous part."""


def open_page(name: str, params: Mapping[str, str] | None = None) -> None:
    """Leaves for the page of this name, with these query parameters. For callbacks, too."""
    # Pages of the lab have no file of their own: Streamlit knows them by their address.
    page = st.Page(lambda: None, title=name, url_path=name) if name in NAMES else f"{name}/page.py"
    st.switch_page(page, query_params=params)


def neighbour(page: str, by: int) -> str | None:
    """Finds the page after this one, or before it where `by` is negative; a kiosk shows one page alone."""
    at = ORDER.index(page) + (1 if by > 0 else -1) if page in ORDER else -1
    return ORDER[at] if 0 <= at < len(ORDER) and not in_force().kiosk else None


def go(page: str, act: Act) -> None:
    """Leaves a page for its neighbour, where there is one. For callbacks.

    A page of the lab is entered by its first part, or by its last one; Explore by its story's end.
    """
    name = neighbour(page, act["by"])
    if name in ("explore", *NAMES):
        st.session_state.entered_by = act["by"]
    if name:
        open_page(name)
