"""A hall of twenty follows a talk that a phone drives: two in Chromium, the others as plain connections."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, Route, expect

from benchmarks.hall import Follower
from tests.browser.conftest import usual_options
from tests.browser.test_phone import PHONE
from tests.browser.test_talk import packed
from tools.background_servers import until

TALK = """# A talk

## Who is hidden?

[Masks](/masks)

Say **who**.

### Which pairs are left?

- [ ] all
- [x] ten of sixteen

Because it is **causal**.

## How spread is it?

[Softmax](/softmax)

## The end

## Far

[Positions](/positions)
"""
PLAIN = 18


@contextmanager
def following(url: str, code: str) -> Iterator[list[Follower]]:
    """So many followers without a browser, until the hall ends."""
    followers = [Follower(url, code) for _ in range(PLAIN)]

    async def follow() -> None:
        await asyncio.gather(*(follower.follow() for follower in followers))

    thread = threading.Thread(target=lambda: asyncio.run(follow()))
    thread.start()
    try:
        yield followers
    finally:
        for follower in followers:
            follower.ended = True
        thread.join(timeout=60)


def test_twenty_follow_answer_try_and_come_back(
    browser: Browser, app_url: str, new_page: Callable[..., Page]
) -> None:
    show = new_page()
    show.goto(packed(TALK))
    expect(show.locator(".frames iframe.behind[data-ready]")).to_be_attached()
    show.keyboard.press("h")
    written = show.locator(".invitation .link")
    expect(written).to_have_text(re.compile(rf"^{app_url.removeprefix('http://')}/hall/\w{{5}}$"))
    link = f"http://{written.inner_text()}"
    expect(show.locator(".invitation")).to_contain_text("start the app with HOST=0.0.0.0")
    show.get_by_role("button", name="close").click()
    code, secret = show.evaluate("Object.values(JSON.parse(sessionStorage['attention-lab:hall']))")

    cut = browser.new_context(**usual_options(app_url))  # its console tells of the network that is cut
    desk, phone = cut.new_page(), new_page(**PHONE)
    desk.goto(link)
    phone.goto(link.upper().replace("HTTP", "http").replace("HALL", "hall"))  # as a phone's keyboard begins
    clicker = phone.context.new_page()
    clicker.goto(f"{link}/clicker#{secret}")
    with following(app_url, code) as plain:
        for page in (desk, phone):
            seen = page.frame_locator("iframe[title='What is shown']")
            expect(seen.locator(".board .notice")).to_contain_text("10 of 16 pairs are left")
            expect(page.get_by_role("heading")).to_have_text("1 / 4 Who is hidden?")
        assert desk.locator("html").evaluate("html => html.scrollWidth") == 1366
        assert phone.locator("html").evaluate("html => html.scrollWidth") == 390
        expect(clicker.locator(".notes strong")).to_have_text("who")

        answers_are_counted_and_uncovered(show, desk, phone, clicker)

        clicker.get_by_role("button", name="On", exact=True).click()
        for page in (show, desk, phone):
            expect(page.get_by_role("heading", level=1)).to_contain_text("How spread is it?")
        until(lambda: all(f.state["at"] == 1 and len(f.shown) > 1 for f in plain), lambda: plain[0].state)
        shown = desk.frame_locator("iframe[title='What is shown']").locator(".board .notice")
        expect(shown).to_contain_text("standard deviation")

        two_devices_drive_and_the_pen_stays(show, phone, clicker)
        a_stop_that_is_not_ready_is_waited_for(show, desk, clicker)
        show.reload()
        expect(show.get_by_role("heading", level=1)).to_contain_text("How spread is it?")

        desk.get_by_role("button", name="try it yourself").click()
        expect(
            desk.frame_locator("iframe[title='The app, to try']").locator(".board .notice")
        ).to_be_visible()
        cut.set_offline(True)
        expect(desk.get_by_text("The connection is cut")).to_be_visible()
        clicker.get_by_role("button", name="On", exact=True).click()
        expect(phone.get_by_role("heading", level=1)).to_have_text("3 / 4 The end")
        cut.set_offline(False)
        expect(desk.get_by_role("heading", level=1)).to_have_text("The talk is at 3 / 4 The end")
        expect(desk.get_by_text("The connection is cut")).to_be_hidden()
        desk.get_by_role("button", name="back to the talk").click()
        expect(desk.get_by_role("heading", level=1)).to_have_text("3 / 4 The end")
        expect(desk.locator(".card")).to_contain_text("The end")

        show.keyboard.press("h")
        show.once("dialog", lambda dialog: dialog.accept())
        show.get_by_role("button", name="end for all").click()
        for page in (desk, phone, clicker):
            expect(page.get_by_text("The talk has ended.")).to_be_visible()
        until(lambda: all(f.ended for f in plain), lambda: plain[0].state)
    cut.close()


def answers_are_counted_and_uncovered(show: Page, desk: Page, phone: Page, clicker: Page) -> None:
    """One changes an answer, one comes late; the show has how many before the answer, the hall with it."""
    desk.get_by_role("button", name="all", exact=True).click()
    expect(clicker.locator(".options b")).to_have_text(["1", "0"])
    desk.get_by_role("button", name="ten of sixteen").click()
    expect(clicker.locator(".options b")).to_have_text(["0", "1"])
    assert desk.locator(".question b").count() == 0
    clicker.get_by_role("button", name="uncover").click()
    expect(show.locator(".question .options b")).to_have_text(["0", "1"])
    expect(show.locator(".question .right")).to_have_count(0)
    clicker.get_by_role("button", name="uncover").click()
    for page in (desk, phone):
        expect(page.locator(".question .right b")).to_have_text("1")
        expect(page.locator(".because strong")).to_have_text("causal")
    expect(desk.locator(".options button:disabled")).to_have_count(2)
    phone.get_by_role("button", name="all").click()
    expect(desk.locator(".options b")).to_have_text(["1", "1"])


def two_devices_drive_and_the_pen_stays(show: Page, phone: Page, clicker: Page) -> None:
    """Whoever has the secret drives, the newest press wins, and the speaker's window keeps its pen."""
    other = phone.context.new_page()
    other.goto(clicker.url)
    with show.context.expect_page() as opened:
        show.keyboard.press("s")
    speaker = opened.value
    speaker.get_by_role("button", name="pen").click()
    now = speaker.frame_locator("iframe[title='What is shown']")
    expect(now.locator(".ink-layer")).to_have_attribute("data-mode", "pen")
    box = speaker.locator(".mirror").first.bounding_box()
    assert box is not None
    drawn = show.locator(".frames iframe:not(.behind)").content_frame.locator(".ink polyline")
    for count, device in enumerate((clicker, other), start=1):
        device.get_by_role("button", name="blank").click()
        expect(show.locator(".show > .veil")).to_be_visible(visible=count == 1)
        speaker.mouse.move(box["x"] + 100, box["y"] + 50 * count)
        speaker.mouse.down()
        speaker.mouse.move(box["x"] + 200, box["y"] + 50 * count, steps=4)
        speaker.mouse.up()
        expect(drawn).to_have_count(count)
    speaker.get_by_role("button", name="clear").click()
    expect(drawn).to_have_count(0)
    for page in (other, speaker):
        page.close()


def a_stop_that_is_not_ready_is_waited_for(show: Page, desk: Page, clicker: Page) -> None:
    """The hall keeps what it sees until the far stop has opened; the speaker knows where the talk goes."""
    held: list[Route] = []
    show.route("**/positions*", lambda route: held.append(route))
    show.keyboard.press("End")
    expect(clicker.locator("h1")).to_have_text("4 / 4 Far")
    expect(desk.get_by_role("heading", level=1)).to_have_text("2 / 4 How spread is it?")
    shown = desk.frame_locator("iframe[title='What is shown']").locator(".board .notice")
    expect(shown).to_contain_text("standard deviation")
    held[0].continue_()
    expect(desk.get_by_role("heading", level=1)).to_have_text("4 / 4 Far")
    expect(shown).not_to_contain_text("standard deviation")
    for title in ("The end", "How spread is it?"):
        show.keyboard.press("N")
        expect(desk.get_by_role("heading", level=1)).to_contain_text(title)
