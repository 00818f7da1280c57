"""A clicker's chain of pages: each is there, none is left out, and it ends where it ends."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import chain
from attention_lab.pages.shared.lab_stops import NAMES


def test_all_pages_of_the_chain_are_there_and_the_lab_stands_in_its_middle() -> None:
    pages = Path(chain.__file__).parents[1]
    assert all((pages / name / "page.py").exists() for name in chain.CHAIN if name not in NAMES)
    at = chain.CHAIN.index(NAMES[0])
    assert chain.CHAIN[at - 1] == "explore" and chain.CHAIN[at : at + len(NAMES)] == NAMES
    assert chain.CHAIN[0] == "start" and chain.CHAIN[-1] == "runs"


def test_each_page_leads_to_the_next_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for one, other in zip(chain.CHAIN, chain.CHAIN[1:], strict=False):
        assert (chain.neighbour(one, 1), chain.neighbour(other, -7)) == (other, one)
    assert chain.neighbour("start", -1) is chain.neighbour("runs", 1) is chain.neighbour("train", 1) is None
    monkeypatch.setattr(chain, "in_force", lambda: replace(in_force(), kiosk="explore"))
    assert chain.neighbour("explore", 1) is None


def test_explore_hears_that_it_is_entered_from_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that its story stands at its end; no other page outside the lab asks."""
    state = SimpleNamespace()
    monkeypatch.setattr(chain, "st", SimpleNamespace(session_state=state, switch_page=lambda page: None))
    chain.go("beside", {"by": 1})
    assert not hasattr(state, "entered_by")
    chain.go(NAMES[0], {"by": -1})
    assert state.entered_by == -1
