"""What holds for every part of every lab page: how it opens, fits, is worked, and is left."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.board import LAB_PAGES, BoardPage
from tests.browser.conftest import usual_options, watch
from tests.browser.explore_page import ExplorePage
from tests.browser.lab_scripts import (
    ABOVE_THE_FIGURES,
    MISREAD,
    MISSED,
    NOT_ON_SCREEN,
    NOTE_FOCUS,
    SMALL_LETTERS,
    STICKING_OUT,
    UNREADABLE,
)

SCREEN = {"width": 1366, "height": 768}
WIDTHS = (1920, 800, 1366)


@pytest.fixture(scope="module", params=LAB_PAGES)
def visited(request: pytest.FixtureRequest, browser: Browser, app_url: str) -> Iterator[BoardPage]:
    """Each page in turn, opened once for all tests: opening it costs seconds."""
    problems: list[str] = []
    context = browser.new_context(**usual_options(app_url))
    page = context.new_page()
    watch(page, app_url, problems)
    yield BoardPage(page, request.param).open()
    context.close()
    assert not problems, "\n".join(problems)


def test_the_navigation_leads_to_these_pages(explore: ExplorePage) -> None:
    """Two names and two groups; a newcomer sees where to begin."""
    page = explore.open().page
    paths = "(links) => links.map((link) => link.pathname)"
    assert page.get_by_test_id("stTopNavLink").evaluate_all(paths) == [
        "/",
        "/start",
        "/documents",
        "/beside",
        "/findings",
    ]
    for group, names in {"The lab": [*LAB_PAGES], "Your models": ["train", "runs", "sweeps"]}.items():
        page.get_by_role("button", name=group).click()
        links = page.get_by_test_id("stTopNavPopover").locator("a").evaluate_all(paths)
        assert links == [f"/{name}" for name in names]
        page.keyboard.press("Escape")


def test_parts_fit_the_screen(visited: BoardPage) -> None:
    """At 1366 x 768 a board and its slider are seen without scrolling, and every headline in two lines.

    At no width does anything stick out.
    """
    lab, page = visited, visited.page
    faults = []
    for part in lab.each_part():
        for width in WIDTHS:
            page.set_viewport_size(SCREEN | {"width": width})
            found = [*overflow(lab), *lasting(lab, UNREADABLE)]
            faults += [f"{part}, at {width} px: {fault}" for fault in found]
        faults += [f"{part}: {fault}" for fault in lasting(lab, NOT_ON_SCREEN)]
        faults += [f"{part}: {fault}" for fault in lasting(lab, ABOVE_THE_FIGURES, 110)]
        faults += [f"{part}: {fault}" for fault in page.get_by_test_id("stMain").evaluate(MISREAD)]
    assert not faults, "\n".join(faults)


def test_a_presented_part_fits_the_screen(visited: BoardPage) -> None:
    """Smallest letters, at 1920 x 1080 on the page and presented: of 14 and of 20 pixels."""
    lab, page = visited, visited.page
    page.evaluate("document.documentElement.requestFullscreen = undefined")  # its size could not be changed
    faults = []
    for part in lab.each_part():
        page.set_viewport_size({"width": 1920, "height": 1080})
        faults += [f"{part}, 1920 wide: {fault}" for fault in lasting(lab, SMALL_LETTERS, 14)]
        lab.board.get_by_role("button", name="present").click()
        for width, height in ((1280, 720), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            found = [*lasting(lab, SMALL_LETTERS, 20 * width / 1920), *lasting(lab, NOT_ON_SCREEN)]
            faults += [f"{part}, presented at {width} px: {fault}" for fault in found]
        page.keyboard.press("Escape")
        page.set_viewport_size(SCREEN)
        lab.settle()
    assert not faults, "\n".join(faults)


def lasting(lab: BoardPage, question: str, *given: float) -> list[str]:
    """The first faults that the browser still finds once it had the time to lay a board out anew."""
    for _ in range(30):
        found: list[str] = lab.board.evaluate(question, *given)
        if not found:
            return []
        lab.page.wait_for_timeout(100)
    return found[:4]


def overflow(lab: BoardPage) -> list[str]:
    """What sticks out of the page, or of the board, at the right."""
    lab.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
    found = lab.board.evaluate(STICKING_OUT)
    most = lab.page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth")
    return [*found, f"the page by {most} px"] if most > 0 else found


def test_axe_finds_no_fault(visited: BoardPage) -> None:
    """In light, and in dark whatever depends on colours."""
    faults = []
    for part in visited.each_part():
        faults += [f"{part}: {fault}" for fault in violations(visited.page)]
    visited.page.emulate_media(color_scheme="dark")
    expect(visited.page.get_by_test_id("stApp")).to_have_css("color-scheme", "dark")
    for part in visited.each_part():
        faults += [f"{part}, dark: {fault}" for fault in violations(visited.page, "color-contrast")]
    visited.page.emulate_media(color_scheme="light")
    assert not faults, "\n".join(faults)


def violations(page: Page, *rules: str) -> list[str]:
    """What axe finds; with `rules`, by these alone."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    return [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for violation in Axe().run(page, options=options).response["violations"]
        for node in violation["nodes"]
    ]


def test_experiments_change_the_board_and_reset_undoes_them(visited: BoardPage) -> None:
    for part in visited.each_part():
        first, address = visited.shown(), visited.link()
        labels = visited.experiments.all_inner_texts()
        assert len(labels) >= 2, part
        for label in labels:
            before = visited.shown()
            visited.attempt(label)
            # An experiment may also be to ask for the impossible: then the page says so.
            assert visited.shown() != before or visited.problem.count(), f"{part}: {label!r} changes nothing"
            if not visited.problem.count():
                found = [*lasting(visited, ABOVE_THE_FIGURES, 110), *lasting(visited, NOT_ON_SCREEN)]
                assert not found, f"{part}, {label}: {found}"
        visited.reset()
        assert (visited.shown(), visited.link()) == (first, address), part


def test_a_link_shows_another_visitor_the_same(visited: BoardPage, page: Page) -> None:
    theirs = BoardPage(page, visited.name)
    for part in visited.each_part():
        visited.attempt(visited.experiments.last.inner_text())
        link = visited.link()
        theirs.open(**link)
        assert theirs.shown() == visited.shown(), f"{part}: {link}"
        assert theirs.link() == link, part
        visited.reset()


def test_moving_the_slider_asks_the_server_nothing(visited: BoardPage) -> None:
    for part in visited.each_part():
        if not visited.slider.is_visible():
            continue
        with visited.quiet():
            visited.scrub(int(visited.slider.get_attribute("max") or 0))
            at_the_end = visited.shown()
            visited.scrub(0)
            assert visited.shown() != at_the_end, part
            visited.link()


def test_every_question_reveals_an_answer(visited: BoardPage) -> None:
    lab, page = visited, visited.page
    explained = page.locator(".st-key-lab_drawer_questions p.explained")
    terms = page.locator(".st-key-lab_drawer_glossary dd")
    told: set[str] = set()
    for part in lab.each_part():
        lab.open_drawer("questions")
        asked = page.locator("[class*='st-key-lab_question_']")
        expect(asked.last).to_be_visible()
        assert 2 <= asked.count() <= 3, part
        for at, question in enumerate(asked.all()):
            expect(question.get_by_test_id("stRadioOption").first).to_be_visible()
            options = question.get_by_test_id("stRadioOption").all_inner_texts()
            assert 2 <= len(options) <= 4, part
            said = lab.predict(at, options[0])
            if not said.startswith("Right."):
                (right,) = (option for option in options if said.startswith(f"No: {option}."))
                lab.predict(at, right)
            expect(question.get_by_test_id("stMarkdown").last).to_contain_text("Right.")
        titles = explained.evaluate_all("(texts) => texts.map((text) => text.title)")
        found = {sentence for title in titles for sentence in title.split("\n")}
        assert found <= set(terms.all_text_contents()), part
        told |= found
        lab.close_drawer()
    assert told, "no term of any question is explained"


def test_terms_are_explained_where_they_stand_and_by_key(visited: BoardPage) -> None:
    lab, page = visited, visited.page
    for part in lab.each_part():
        page.keyboard.press("g")
        meanings = page.locator(".st-key-lab_drawer_glossary dd")
        expect(meanings.first).to_be_visible()
        listed = meanings.all_inner_texts()
        page.keyboard.press("g")
        expect(meanings.first).not_to_be_visible()
        told = lab.board.locator("abbr, .explained").evaluate_all(
            "(terms) => terms.map((term) => term.title)"
        )
        assert told, part
        assert {sentence for each in told for sentence in each.split("\n")} <= set(listed), part


def test_every_part_can_be_taken_away(visited: BoardPage) -> None:
    lab, page = visited, visited.page
    for _ in lab.each_part():
        lab.board.get_by_role("button", name="take away").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        expect(dialog.get_by_role("button", name="Figure, offline HTML")).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        lab.settle()


def test_the_keyboard_reaches_and_works_everything(visited: BoardPage) -> None:
    """From the heading on with Tab alone; then a part is chosen with Enter, and the slider is moved."""
    lab, page = visited, visited.page
    for part in lab.part_chooser.all():
        part.focus()
        if part.get_attribute("aria-checked") == "false":
            with lab.redrawn():
                page.keyboard.press("Enter")
            lab.settle()
        wanted = [
            lab.experiments,
            lab.board.locator(".actions button:not(.absent), .scrub:not(.absent) :is(button, input)"),
            lab.board.locator("[data-cell] :is(input, button:not([tabindex='-1']))"),
            page.get_by_role("button", name="Reset", exact=True),
        ]
        missed = tab_through(page, wanted)
        lab.open_drawer("questions")
        missed += tab_through(page, [page.locator("[data-testid=stRadioGroup] > :first-child input")])
        assert not missed, f"{part.inner_text()}: {missed}"
        lab.close_drawer()
        if lab.slider.is_visible():
            lab.slider.focus()
            before = lab.board.get_attribute("data-frame")
            page.keyboard.press("ArrowRight" if before == "0" else "ArrowLeft")
            expect(lab.board).not_to_have_attribute("data-frame", str(before))


def tab_through(page: Page, wanted: Sequence[Locator]) -> list[str]:
    """Press Tab until the focus has been on everything wanted; what it missed after 400 times."""
    page.locator(".board").evaluate(NOTE_FOCUS)
    missed: list[str] = []
    for _ in range(20):
        for _ in range(20):
            page.keyboard.press("Tab")
        missed = [html for locator in wanted for html in locator.evaluate_all(MISSED)]
        if not missed:
            break
    return missed


def test_pages_keep_their_state_while_another_is_open(explore: ExplorePage) -> None:
    page = explore.page
    explore.open(model="untrained", text="one two three")
    explore.type("to be or not to be")
    left = {}
    for name in LAB_PAGES:
        on = BoardPage(page, name).choose()
        on.choose_part(on.part_chooser.last.inner_text())
        on.attempt(on.experiments.first.inner_text())
        left[name] = (on.shown(), on.link())
    for name in LAB_PAGES:
        page.get_by_role("link", name="Explore").click()
        expect(explore.sentence).to_have_value("to be or not to be")
        explore.stage.wait_for()
        on = BoardPage(page, name).choose()
        assert (on.shown(), on.link()) == left[name], name
        assert urlsplit(page.url).path == f"/{name}"
