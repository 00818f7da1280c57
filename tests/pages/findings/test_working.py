"""Measurements in their thread: kept, stopped, and refused where too many wait."""

import pytest

from pages.findings import working
from pages.findings.working import Asked, Work
from pages.shared import cache
from pages.shared.wishes import MOST_WAITING

FEW = Asked("positional", "shakespeare", 0, (("texts", 5),))


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working.wishes, "works", {})
    cache.results.drop()


def test_an_outcome_is_kept_for_the_next_visitor() -> None:
    work = working.ask(FEW, "one")
    assert work.done.wait(60)
    assert not work.problem
    assert work.outcome is not None and work.outcome.holds
    assert working.ask(FEW, "one") is work
    other = working.ask(FEW, "two")
    assert other.done.is_set()
    assert other.outcome is work.outcome


def test_a_new_wish_stops_the_one_before() -> None:
    first = working.ask(Asked("explanation", "sentiment", 0, ()), "one")
    second = working.ask(FEW, "one")
    assert first.done.wait(60) and second.done.wait(60)
    assert first.problem == "It was stopped."
    assert first.outcome is None and second.outcome is not None


def test_what_cannot_be_measured_is_said() -> None:
    work = working.ask(Asked("rollout", "shakespeare", 0, ()), "one")
    assert work.done.wait(60)
    assert "'shakespeare' gives no single answer to a text; choose a model that classifies" in work.problem


def test_too_many_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = {str(at): Work(asked=FEW) for at in range(MOST_WAITING)}
    monkeypatch.setattr(working.wishes, "works", waiting)
    with pytest.raises(ValueError, match="8 findings are waiting, at most 8 may; try again later"):
        working.ask(FEW, "late")


def test_an_outcome_counts_as_many_bytes_as_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(cache.results, "put", lambda key, value, size: sizes.append(size))
    work = working.ask(Asked("induction", "", 0, ()), "one")
    assert work.done.wait(60)
    assert work.outcome is not None and work.outcome.film is not None
    assert sizes[0] > work.outcome.film.patterns.nbytes > 100_000


def test_an_error_of_the_measurement_s_own_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> None:
        raise RuntimeError("shapes")

    monkeypatch.setattr(working.cache, "model", fails)
    work = working.ask(FEW, "one")
    assert work.done.wait(60)
    assert work.problem.startswith("This met an error of its own (RuntimeError); choose another")
