"""A clicker's chain of pages: each is there, none is left out, and it ends where it ends."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import page_order
from attention_lab.pages.shared.lab_stops import NAMES


def test_all_pages_in_order_are_there_and_the_lab_stands_in_its_middle() -> None:
    pages = Path(page_order.__file__).parents[1]
    assert all((pages / name / "page.py").exists() for name in page_order.ORDER if name not in NAMES)
    at = page_order.ORDER.index(NAMES[0])
    assert page_order.ORDER[at - 1] == "explore" and page_order.ORDER[at : at + len(NAMES)] == NAMES
    assert page_order.ORDER[0] == "start" and page_order.ORDER[-1] == "runs"


def test_each_page_leads_to_the_next_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for one, other in zip(page_order.ORDER, page_order.ORDER[1:], strict=False):
        assert (page_order.neighbour(one, 1), page_order.neighbour(other, -7)) == (other, one)
    assert (
        page_order.neighbour("start", -1)
        is page_order.neighbour("runs", 1)
        is page_order.neighbour("train", 1)
        is None
    )
    monkeypatch.setattr(page_order, "in_force", lambda: replace(in_force(), kiosk="explore"))
    assert page_order.neighbour("explore", 1) is None


def test_explore_hears_that_it_is_entered_from_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that its story stands at its end; no other page outside the lab asks."""
    state = SimpleNamespace()
    monkeypatch.setattr(page_order, "st", SimpleNamespace(session_state=state, switch_page=lambda page: None))
    page_order.go("beside", {"by": 1})
    assert not hasattr(state, "entered_by")
    page_order.go(NAMES[0], {"by": -1})
    assert state.entered_by == -1
