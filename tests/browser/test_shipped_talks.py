"""The talks that ship, press by press: each halt shows what the talk says of it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from attention_lab.pages.shared.lab_stops import NAMES as LAB
from attention_lab.pages.talks.talks import NAMES
from tests.browser.letters import HEAR_CANVASES, check_letters
from tests.browser.test_talk import Show
from tests.pages.talks.reading import stops
from tests.pages.talks.test_shipped import board_at, frame_of, place_of

SHOWN = [name for name in NAMES if name not in ("paper", "positions")]
"""The stops of these are parts of the lab, whose letters tests/browser/test_lab_pages.py looks at."""


@pytest.mark.parametrize("name", SHOWN)
def test_a_press_leads_to_each_halt_of_each_stop(page: Page, name: str) -> None:
    """Its picture is there when its turn comes, can be read from the back, and has nothing to refuse."""
    page.add_init_script(HEAR_CANVASES)
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(f"/talk/#shipped={name}")
    show = Show(page)
    own = [stop for talk, _, stop in stops() if talk == name]
    assert 8 <= len(own) <= 14
    for at, stop in enumerate(own, start=1):
        expect(page.locator(".count")).to_have_text(f"{at} / {len(own)}")
        expect(page.locator(".faults")).to_be_hidden()
        if stop["link"]:
            expect(show.seen).to_have_attribute("title", stop["title"])
            expect(show.seen).to_have_attribute("data-ready", "")
            refused = show.inside.locator(".st-key-problems")
            assert refused.count() == 0, refused.first.inner_text()
            expect(show.inside.locator(".stage .notes:not(.absent)")).to_have_count(0)
        check_letters(page, 1920)
        check_letters(page, 1366)
        expect(page.locator(".show")).to_have_attribute("data-tidied", str(at - 1))
        for halt in stop["at"] or [None]:
            check(show, stop, halt)
            show.press("PageDown")
    expect(page.locator(".count")).to_have_text(f"{len(own)} / {len(own)}")


def check(show: Show, stop: dict[str, Any], halt: float | None) -> None:
    question = show.page.locator(".show .question")
    expect(question).to_be_visible(visible=bool(stop["question"]))
    if stop["question"]:
        expect(question).to_contain_text(stop["question"]["ask"])
    if not stop["link"]:
        expect(show.page.locator(".card")).to_contain_text(stop["title"])
        return
    name, query = place_of(stop)
    expect(show.notice).to_be_visible(visible="headline" not in stop["hide"])
    expect(show.inside.get_by_text("Point at a number")).to_be_hidden()
    if "beat" in query:
        beat = show.inside.locator(".story-bar [aria-pressed=true]")
        expect(beat).to_have_text(re.compile(f"^{query['beat']} "))
    if halt is None:
        return
    board = board_at(name, query)
    frame = frame_of(board, halt)
    expect(show.inside.locator(".scrub input")).to_have_value(str(frame))
    if name in LAB and "headline" not in stop["hide"]:
        headline = board.notice if isinstance(board.notice, str) else board.notice[frame]
        if "Measured" not in headline:
            assert letters(show.notice.inner_text()) == letters(headline)


def letters(headline: str) -> str:
    """Another process may round a number otherwise."""
    return re.sub(r"[^a-z]+", " ", headline.lower()).strip()
