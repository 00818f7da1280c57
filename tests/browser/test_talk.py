"""A talk: its show, whose next stop is ready behind the one that is seen, and its speaker's window."""

import base64
import re
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

TALK = """# Looking back

- minutes: 10

Three pictures.

## Welcome

## Who hides the future?

[Masks](/masks)

- hide: headline, weights

Say **who** hides it.

## How spread is it?

[Softmax](/softmax)

- hide: headline
- at: 0.1, 10

### What grows?

- [ ] the entropy
- [x] the largest weight

Because it takes **all**.

## Nowhere

[Nothing](/nothing)

## It

[Explore](/?)

- at: 1, 3
"""


def packed(talk: str) -> str:
    """The address, from the root, that holds a talk whole."""
    small = zlib.compress(talk.encode(), wbits=-15)
    return f"talk/#talk={base64.urlsafe_b64encode(small).decode().rstrip('=')}"


class Show:
    """The show of a talk in one tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.title = page.get_by_role("heading", level=1)
        self.seen = page.locator(".frames iframe:not(.behind)")
        self.next_stop = page.locator(".frames iframe.behind[data-ready]").last

    @property
    def inside(self) -> FrameLocator:
        return self.seen.content_frame

    @property
    def notice(self) -> Locator:
        return self.inside.locator(".notice")

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def go_on(self, title: str) -> None:
        """Goes on to the next stop, once that is ready behind."""
        expect(self.page.locator(f".frames iframe.behind[data-ready][title={title!r}]")).to_be_attached()
        self.press("PageDown")
        expect(self.title).to_have_text(title)
        expect(self.seen).to_have_attribute("title", title)


@pytest.fixture
def show(page: Page) -> Show:
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(f"/{packed(TALK)}")
    expect(page.locator(".card")).to_be_visible()  # before that it hears no key
    return Show(page)


def test_a_talk_goes_from_stop_to_stop_without_a_reload(show: Show) -> None:
    page = show.page
    expect(page.locator(".card")).to_have_text("WelcomeThree pictures.")
    expect(page.get_by_role("heading", level=1)).to_have_text(["Welcome"])
    line = TALK.splitlines().index("[Nothing](/nothing)") + 1
    expect(page.locator(".faults")).to_contain_text(f"Line {line}: /nothing is no link to a page of this app")
    show.go_on("Who hides the future?")
    expect(page.locator(".faults")).to_be_hidden()
    expect(show.notice).to_be_hidden()
    weights = show.inside.locator(".panel", has_text="weights").last
    expect(weights).to_contain_class("answers")
    show.press("a")
    expect(show.notice).to_be_visible()
    expect(weights).not_to_contain_class("answers")
    expect(page.locator(".bar")).to_be_hidden()
    page.mouse.move(600, 300)  # over the stop
    expect(page.locator(".bar")).to_be_visible()
    expect(show.inside.get_by_role("button", name="add to talk")).to_be_hidden()
    show.go_on("How spread is it?")
    slider = show.inside.locator(".scrub output")
    question = page.locator(".show .question")
    expect(question).to_contain_text("What grows?")
    expect(question).not_to_contain_text("Because")
    expect(show.notice).to_be_hidden()
    expect(show.inside.locator(".cover")).to_have_text("")
    page.mouse.move(620, 320)  # for the bar
    page.get_by_role("button", name="uncover").press("Enter")
    expect(question.locator(".right")).to_have_text("the largest weight ✓")
    expect(question.locator("strong")).to_have_text("all")
    show.press("PageDown")
    expect(slider).to_have_text("10")
    show.press("PageUp")
    expect(slider).to_have_text("0.1")
    show.press("PageDown")
    show.press("PageDown")
    expect(page.locator(".card")).to_have_text("Nowhere")
    show.go_on("It")
    expect(show.notice).to_contain_text("looks at")
    show.press("PageDown")
    expect(show.inside.get_by_role("button", name="3 scores become shares")).to_have_attribute(
        "aria-pressed", "true"
    )
    show.press("b")
    expect(page.locator(".show > .veil")).to_be_visible()
    show.press("b")
    show.press("Home")
    expect(page.locator(".card")).to_contain_text("Welcome")
    show.press("Tab")  # for the bar
    page.get_by_label("All stops").select_option("5  It")
    expect(page.locator(".count")).to_have_text("5 / 5")
    page.reload()
    expect(page.locator(".count")).to_have_text("5 / 5")
    show.press("Tab")  # for the bar
    page.get_by_role("button", name="keyboard").press("Enter")
    page.get_by_label("Single-letter shortcuts").uncheck()
    show.press("b")
    expect(page.locator(".show > .veil")).to_be_hidden()
    show.press("Escape")
    expect(page.locator(".help")).to_be_hidden()


def test_a_show_is_left_by_two_presses(show: Show) -> None:
    page = show.page
    for key, count in ((" ", 2), ("ArrowUp", 1), ("ArrowDown", 2)):  # in the show, then in its frames
        if count == 2:
            expect(page.locator(".frames iframe[data-ready][title^=Who]")).to_be_attached()
        show.press(key)
        expect(page.locator(".count")).to_have_text(f"{count} / 5")
    show.press("Escape")
    question = page.locator(".faults")
    expect(question).to_have_text("Press Esc again to leave the show.")
    expect(question).to_be_hidden()  # and nothing is left by a press that comes late
    show.press("Escape")
    expect(question).to_be_visible()
    show.press("Escape")
    expect(page).to_have_url(re.compile("/talks$"))


def test_the_speakers_window_knows_what_comes_and_asks_the_show(show: Show) -> None:
    with show.page.context.expect_page() as opened:
        show.press("s")
    speaker = opened.value
    expect(speaker.get_by_role("heading", level=1)).to_have_text("1 / 5 Welcome")
    speaker.keyboard.press("PageDown")
    expect(show.title).to_have_text("Who hides the future?")
    expect(speaker.locator(".notes strong")).to_have_text("who")
    now = speaker.frame_locator("iframe[title='What is shown']")
    then = speaker.frame_locator("iframe[title='What comes next']")
    expect(now.locator(".board figcaption").first).to_have_text("scores")
    expect(now.locator(".notice")).to_be_hidden()
    expect(then.locator(".board figcaption").first).to_have_text("as they are")
    speaker.get_by_role("button", name="uncover").click()
    expect(show.notice).to_be_visible()
    expect(now.locator(".notice")).to_be_visible()
    speaker.get_by_role("button", name="pen").click()
    expect(now.locator(".ink-layer")).to_have_attribute("data-mode", "pen")
    box = speaker.locator(".mirror").first.bounding_box()
    assert box is not None
    speaker.mouse.move(box["x"] + 100, box["y"] + 150)
    speaker.mouse.down()
    speaker.mouse.move(box["x"] + 200, box["y"] + 200, steps=4)
    speaker.mouse.up()
    drawn = show.inside.locator(".ink polyline")
    expect(drawn).to_have_count(1)
    start = drawn.evaluate("(line) => [line.points[0].x / innerWidth, line.points[0].y / innerHeight]")
    size = now.locator("html").evaluate("() => [innerWidth, innerHeight]")
    scale = box["width"] / size[0]
    assert start == pytest.approx([100 / scale / size[0], 150 / scale / size[1]], abs=0.03)
    show.page.reload()
    expect(drawn).to_have_count(1)
    expect(now.locator(".ink polyline")).to_have_count(1)
    speaker.get_by_role("button", name="clear").click()
    expect(drawn).to_have_count(0)
    speaker.get_by_role("button", name="laser").click()
    expect(now.locator(".ink-layer")).to_have_attribute("data-mode", "laser")
    speaker.mouse.move(box["x"] + 120, box["y"] + 160)
    expect(show.inside.locator(".laser")).to_be_visible()
    timer = speaker.get_by_label("Timer")
    expect(timer).to_have_text(re.compile(r"0:\d\d / 10:00"))
    speaker.get_by_role("button", name="timer").click()
    expect(timer).to_have_text("0:00 / 10:00")
    show.press("PageDown")  # which the page in the frame hears
    expect(show.title).to_have_text("How spread is it?")
    expect(timer).to_have_text(re.compile(r"0:0[1-9] / 10:00"))
    speaker.get_by_role("button", name="Who hides the future?").click()
    expect(show.title).to_have_text("Who hides the future?")
    speaker.reload()
    expect(speaker.get_by_role("heading", level=1)).to_have_text("2 / 5 Who hides the future?")


def test_a_talk_as_a_file_needs_no_server(show: Show, browser: Browser, tmp_path: Path) -> None:
    """From a disk: without a network, a speaker's window with it."""
    file = tmp_path / "talk.html"
    show.page.mouse.move(9, 9)  # for the bar
    with show.page.expect_download() as download:
        show.page.get_by_role("button", name="as a file").click()
    assert download.value.suggested_filename == "looking-back.html"
    download.value.save_as(file)
    context = browser.new_context(offline=True)
    faults: list[str] = []
    context.on("console", lambda message: faults.extend([message.text] * (message.type == "error")))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    alone = Show(context.new_page())
    alone.page.goto(file.as_uri())
    # As in a tab behind another window, which gives the frames behind no size until they are seen.
    alone.page.add_style_tag(content=".behind { width: 0 !important }")
    alone.go_on("Who hides the future?")
    expect(alone.inside.locator(".board figcaption").first).to_have_text("scores")
    expect(alone.notice).to_be_hidden()
    with context.expect_page() as opened:
        alone.press("s")
    speaker = opened.value
    expect(speaker.locator(".notes strong")).to_have_text("who")
    speaker.keyboard.press("a")
    expect(alone.notice).to_be_visible()
    speaker.keyboard.press("PageDown")
    expect(alone.title).to_have_text("How spread is it?")
    expect(alone.inside.locator(".scrub output")).to_have_text("0.1")  # else it goes on to the next stop
    speaker.keyboard.press("PageDown")
    expect(alone.inside.locator(".scrub output")).to_have_text("10")
    now = speaker.frame_locator(".mirror >> nth=0 >> iframe")
    expect(now.locator(".scrub output")).to_have_text("10")
    assert faults == []
    context.close()
