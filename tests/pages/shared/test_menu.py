"""A clicker's chain of pages: each is there, none is left out, and it ends where it ends."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import menu
from attention_lab.pages.shared.lab_stops import NAMES


def test_all_pages_in_order_are_there_and_the_lab_stands_in_its_middle() -> None:
    pages = Path(menu.__file__).parents[1]
    assert all((pages / name / "page.py").exists() for name in menu.ORDER if name not in NAMES)
    at = menu.ORDER.index(NAMES[0])
    assert menu.ORDER[at - 1] == "explore" and menu.ORDER[at : at + len(NAMES)] == NAMES
    assert menu.ORDER[0] == "start" and menu.ORDER[-1] == "runs"


def test_each_page_leads_to_the_next_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for one, other in zip(menu.ORDER, menu.ORDER[1:], strict=False):
        assert (menu.neighbour(one, 1), menu.neighbour(other, -7)) == (other, one)
    assert menu.neighbour("start", -1) is menu.neighbour("runs", 1) is menu.neighbour("train", 1) is None
    monkeypatch.setattr(menu, "in_force", lambda: replace(in_force(), kiosk="explore"))
    assert menu.neighbour("explore", 1) is None


def test_explore_hears_that_it_is_entered_from_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that its story stands at its end; no other page outside the lab asks."""
    state = SimpleNamespace()
    leaves = {name: lambda *_, **__: None for name in ("Page", "switch_page")}
    monkeypatch.setattr(menu, "st", SimpleNamespace(session_state=state, **leaves))
    menu.go("beside", {"by": 1})
    assert not hasattr(state, "entered_by")
    menu.go(NAMES[0], {"by": -1})
    assert state.entered_by == -1
