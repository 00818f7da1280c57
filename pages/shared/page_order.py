"""The order of pages that a clicker goes through: the way in, the lab, what was measured and trained."""

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import st
from attention_lab.pages.shared.browser.acts import Act, Kinds
from attention_lab.pages.shared.lab_stops import NAMES

ORDER = ("start", "explore", *NAMES, "beside", "findings", "runs")
"""The pages in their order, by the names of their folders."""
ACTS: Kinds = {"go": {"by": int}, "skip": {"by": int}}
"""What a clicker asks for: what comes after the last frame, or before the first; the next part, or the one
before."""


def neighbour(page: str, by: int) -> str | None:
    """The page after this one, or before it where `by` is negative; a kiosk shows one page alone."""
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
        st.switch_page(f"{'lab/' if name in NAMES else ''}{name}/page.py")
