"""What holds for every part of every lab page: how it opens, fits, is worked, and is left.

All tests of a part share one arrival at it, and all parts of a page one opening of the page.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.axe import violations
from tests.browser.board import LAB_PAGES, BoardPage
from tests.browser.conftest import FAILED, new_context, open_anew, watch
from tests.browser.lab_parts import (
    ALL_PANELS,
    FIRST_PARTS,
    PARTS,
    lasting,
    overflow,
    resize,
    sideways,
    tab_through,
    use_scheme,
)
from tests.browser.lab_scripts import (
    ABOVE_THE_FIGURES,
    BELOW_THE_FIRST_SCREEN,
    MISREAD,
    NOT_ON_SCREEN,
    SMALL_LETTERS,
    UNLISTED,
    UNREADABLE,
)
from tests.browser.test_first_screens import check_first_screen

SCREEN = {"width": 1366, "height": 768}


def in_parts(parts: Sequence[tuple[str, str, str]]) -> pytest.MarkDecorator:
    """The test runs once for each of these parts."""
    given = [(page, (page, part, label)) for page, part, label in parts]
    names = [f"{page}-{label}" for page, _, label in parts]
    return pytest.mark.parametrize(("visited", "arrived"), given, indirect=True, ids=names, scope="module")


in_each_part, in_some_parts = in_parts(PARTS), in_parts(FIRST_PARTS[::4])
"""Some: for what all parts share, and tests/pages/lab/test_all_parts.py holds each of them to."""


@pytest.fixture(scope="module")
def context(browser: Browser, app_url: str) -> Iterator[BrowserContext]:
    """One for all pages: what the browser has compiled for one of them serves the next."""
    opened = new_context(browser, app_url)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def visited(request: pytest.FixtureRequest, context: BrowserContext, app_url: str) -> Iterator[BoardPage]:
    """A page, opened once for all its parts, by somebody who was never here: opening it costs seconds.

    Its first screen has few controls.
    """
    problems: list[str] = []
    page = open_anew(context, app_url)
    watch(page, app_url, problems)
    lab = BoardPage(page, request.param)
    page.goto(f"/{lab.name}")
    lab.arrive()
    check_first_screen(page)
    lab.unfold()
    yield lab
    page.close()
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="module")
def arrived(request: pytest.FixtureRequest, visited: BoardPage) -> BoardPage:
    """The page with one of its parts, which was chosen from the keyboard."""
    _, _, label = request.param
    chosen = visited.page.locator(".st-key-lab_heading").get_by_role("radio", name=label, exact=True)
    if chosen.get_attribute("aria-checked") == "false":
        chosen.focus()
        with visited.redrawn():
            visited.page.keyboard.press("Enter")
        visited.settle()
    visited.unfold()
    expect(chosen).to_be_checked()
    return visited


@pytest.fixture(scope="module")
def untouched(arrived: BoardPage) -> tuple[str, dict[str, str]]:
    """What the part shows before anything is tried, and its link."""
    return arrived.shown(), arrived.link()


@pytest.fixture
def lab(request: pytest.FixtureRequest, arrived: BoardPage) -> Iterator[BoardPage]:
    """The part; what a failed test has left half done is not the next one's."""
    yield arrived
    if request.node.stash.get(FAILED, False):
        _, part, _ = request.node.callspec.params["arrived"]
        arrived.page.set_viewport_size(SCREEN)
        arrived.page.emulate_media(color_scheme="light")
        arrived.open(part=part)


@pytest.mark.parametrize("visited", LAB_PAGES, indirect=True, scope="module")
def test_a_page_has_its_parts(visited: BoardPage) -> None:
    """Those that all other tests here go through, and no more."""
    expected = [label for page, _, label in PARTS if page == visited.name]
    assert visited.part_chooser.all_inner_texts() == expected


@in_each_part
def test_a_part_fits_the_screen(request: pytest.FixtureRequest, lab: BoardPage) -> None:
    """Presented at 1280 x 720 and on the page at 1366 x 768 with board and slider without scrolling, and
    every headline in two lines. Smallest letters at 1920 x 1080: presented of 20, on the page of 14 pixels,
    which the first part of a page shows for all.

    At no width does anything stick out, and a phone is scrolled downwards only, with the figure on its first
    screen.
    """
    page = lab.page
    page.evaluate("document.documentElement.requestFullscreen = undefined")  # its size could not be changed
    lab.board.get_by_role("button", name="present").click()
    resize(lab, 1280, 720)
    found = [*lasting(lab, SMALL_LETTERS, 20 * 1280 / 1920), *lasting(lab, NOT_ON_SCREEN)]
    faults = [f"presented: {fault}" for fault in found]
    page.keyboard.press("Escape")
    expect(page.locator("html")).not_to_have_attribute("data-present", "")
    if request.node.callspec.params["arrived"] in FIRST_PARTS:
        resize(lab, 1920, 1080)
        faults += [f"at 1920 px: {fault}" for fault in [*fits(lab), *lasting(lab, SMALL_LETTERS, 14)]]
    resize(lab, 390, 844)
    found = [*sideways(lab), *lasting(lab, BELOW_THE_FIRST_SCREEN, 500)]
    faults += [f"on a phone: {fault}" for fault in found]
    resize(lab, 1366, 768)
    faults += [f"at 1366 px: {fault}" for fault in [*fits(lab), *lasting(lab, NOT_ON_SCREEN)]]
    faults += lasting(lab, ABOVE_THE_FIGURES, 110)
    faults += page.get_by_test_id("stMain").evaluate(MISREAD)
    assert not faults, "\n".join(faults)


def fits(lab: BoardPage) -> list[str]:
    return [*overflow(lab), *lasting(lab, UNREADABLE)]


@in_some_parts
def test_a_link_shows_another_visitor_the_same(
    lab: BoardPage, untouched: tuple[str, Any], page: Page
) -> None:
    """After the last experiment."""
    try_out(lab, lab.experiments.last.inner_text())
    link = lab.link()
    theirs = BoardPage(page, lab.name).open(**link)
    assert theirs.shown() == lab.shown(), link
    assert theirs.link() == link


@in_some_parts
def test_an_experiment_changes_the_board(lab: BoardPage, untouched: tuple[str, Any]) -> None:
    """The first of a page; tests/pages/lab/test_presets.py looks at what all of them set."""
    assert lab.experiments.count() >= 2
    try_out(lab, lab.experiments.first.inner_text())


def try_out(lab: BoardPage, label: str) -> None:
    before = lab.shown()
    lab.attempt(label)
    # An experiment may also be to ask for the impossible: then the page says so.
    if not lab.problem.count():
        assert lab.shown() != before, f"{label!r} changes nothing"
        found = [*lasting(lab, ABOVE_THE_FIGURES, 110), *lasting(lab, NOT_ON_SCREEN)]
        assert not found, f"{label}: {found}"


@in_some_parts
def test_reset_undoes_the_experiments(lab: BoardPage, untouched: tuple[str, Any]) -> None:
    if lab.shown() == untouched[0]:
        lab.attempt(lab.experiments.last.inner_text())
    lab.reset()
    assert (lab.shown(), lab.link()) == untouched


@in_some_parts
def test_moving_the_slider_asks_the_server_nothing(lab: BoardPage) -> None:
    if not lab.slider.is_visible():
        return
    with lab.quiet():
        lab.scrub(int(lab.slider.get_attribute("max") or 0))
        at_the_end = lab.shown()
        lab.scrub(0)
        assert lab.shown() != at_the_end
        lab.link()


@in_some_parts
def test_terms_are_explained_where_they_stand_and_by_key(lab: BoardPage) -> None:
    lab.page.keyboard.press("g")
    meanings = lab.page.locator(".glossary-drawer dd")
    expect(meanings.first).to_be_visible()
    expect(lab.board.locator("abbr, .explained").first).to_be_attached()
    assert lasting(lab, UNLISTED) == []
    lab.page.keyboard.press("g")
    expect(meanings.first).not_to_be_visible()
    term = lab.board.locator(".notice abbr, figcaption.explained").first
    box = lab.page.locator(".lab-meaning")
    sentence = term.get_attribute("data-means") or ""
    term.focus()
    expect(box).to_have_text(sentence)
    lab.page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    term.hover()
    expect(box).to_be_in_viewport()
    lab.page.mouse.move(1, 1)
    expect(box).to_have_count(0)


@in_some_parts
def test_a_part_can_be_taken_away(lab: BoardPage) -> None:
    lab.more("take away").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(dialog.get_by_role("button", name="Figure, offline HTML")).to_be_visible()
    lab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    lab.settle()


@in_parts(ALL_PANELS)
def test_the_keyboard_reaches_and_works_everything(lab: BoardPage) -> None:
    """On a panel of each kind: from the heading on, where the part was chosen with Enter, with Tab alone;
    then the slider is moved.
    """
    page = lab.page
    lab.part_chooser.and_(page.locator("[aria-checked=true]")).focus()
    wanted = [
        lab.experiments,
        lab.board.locator(
            ".actions > button:not(.absent), .more > summary, .scrub:not(.absent) :is(button, input)"
        ),
        lab.board.locator("[data-cell] :is(input, button:not([tabindex='-1']))"),
        page.get_by_role("button", name="Reset", exact=True),
    ]
    missed = tab_through(page, wanted)
    lab.board.locator(".more > summary").focus()
    page.keyboard.press("Enter")
    missed += tab_through(page, [lab.board.locator(".more-list button:not(.absent)")])
    page.keyboard.press("Escape")
    lab.open_drawer("questions")
    missed += tab_through(page, [page.get_by_test_id("stRadioGroup")])
    assert not missed
    lab.close_drawer()
    if lab.slider.is_visible():
        lab.slider.focus()
        before = lab.board.get_attribute("data-frame")
        page.keyboard.press("ArrowRight" if before == "0" else "ArrowLeft")
        expect(lab.board).not_to_have_attribute("data-frame", str(before))


@in_some_parts
def test_every_question_reveals_an_answer(lab: BoardPage) -> None:
    page = lab.page
    lab.open_drawer("questions")
    asked = page.locator("[class*='st-key-lab_question_']")
    expect(asked.last).to_be_visible()
    assert 2 <= asked.count() <= 3
    for at, question in enumerate(asked.all()):
        expect(question.get_by_test_id("stRadioOption").first).to_be_visible()
        options = question.get_by_test_id("stRadioOption").all_inner_texts()
        assert 2 <= len(options) <= 4
        said = lab.predict(at, options[0])
        if not said.startswith("Right."):
            (right,) = (option for option in options if said.startswith(f"No: {option}."))
            lab.predict(at, right)
        expect(question.get_by_test_id("stMarkdown").last).to_contain_text("Right.")
    explained = page.locator(".st-key-lab_drawer_questions p.explained")
    titles = explained.evaluate_all("(texts) => texts.map((text) => text.dataset.means)")
    found = {sentence for title in titles for sentence in title.split("\n")}
    assert found <= set(page.locator(".glossary-drawer dd").all_text_contents())
    lab.close_drawer()


@in_parts(ALL_PANELS)
def test_axe_finds_no_fault(request: pytest.FixtureRequest, lab: BoardPage) -> None:
    """On a panel of each kind, nor in their tables; in dark none of contrast, the only one that it can find
    there alone. What is around the board is the same for all parts of a page, and looked at with the first.
    """
    assert "undefined" not in lab.shown()
    part = request.node.callspec.params["arrived"]
    within = ":root" if part in FIRST_PARTS else ".board"
    faults = [f"in light: {fault}" for fault in violations(lab.page, within=within)]
    use_scheme(lab, "dark")
    faults += [f"in dark: {fault}" for fault in violations(lab.page, "color-contrast", within=within)]
    use_scheme(lab, "light")
    lab.page.keyboard.press("v")
    expect(lab.board.locator(".reader section").first).to_be_visible()
    shown = lab.board.locator(".rows .panel:visible").count()
    assert lab.board.locator(".reader table").count() >= shown
    faults += [f"as a table: {fault}" for fault in violations(lab.page, within=".reader")]
    lab.page.keyboard.press("Escape")
    expect(lab.board.locator(".reader")).to_be_hidden()
    assert not faults, "\n".join(faults)
