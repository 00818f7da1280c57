"""A class on one server: two visitors and a teacher, each in a browser of their own."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from attention_lab.models.limits import FILE
from attention_lab.pages.shared import teachers, visitors
from tests.browser.conftest import usual_options, visit_first, watch
from tests.browser.explore_page import ExplorePage, settle
from tests.browser.training import ENDLESS, TINY, RunsPage, TrainPage
from tests.limits import write_limits
from tools.background_servers import Server, serving_the_app

SECRET = "correct horse"
NewVisitor = Callable[[], Page]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Server]:
    """A server as it is for a class, though it listens on this machine alone."""
    folder = tmp_path_factory.mktemp("class")
    limits = write_limits(folder / "limits.toml", visitor_steps=1_000_000, cheap_billions=2)
    settings = {visitors.CLASS: "1", teachers.HASH: teachers.hashed(SECRET), FILE: str(limits)}
    with serving_the_app(folder / "log.txt", **settings) as running:
        visit_first(browser, running.url)
        yield running


@pytest.fixture
def visitor(browser: Browser, server: Server, problems: list[str]) -> Iterator[NewVisitor]:
    """Function that comes with a browser of its own."""
    contexts = []

    def come() -> Page:
        contexts.append(browser.new_context(**usual_options(server.url)))
        page = contexts[-1].new_page()
        watch(page, server.url, problems)
        return page

    yield come
    for context in contexts:
        context.close()


def sign_in(page: Page, secret: str) -> None:
    page.goto("/teacher")
    page.get_by_role("textbox", name="Secret").fill(secret)
    page.get_by_role("button", name="Sign in").click()


def assert_hidden(run_id: str, ben: Page) -> None:
    """The other visitor finds the run neither by its link nor in the list, nor on Explore."""
    theirs = TrainPage(ben).open(run=run_id)
    expect(ben.locator(".st-key-problems")).to_contain_text(f"The run '{run_id}' is not there any more")
    expect(theirs.button("Start")).to_be_visible()
    expect(ben.get_by_text("Going on now")).to_have_count(0)
    expect(RunsPage(ben).open().row(run_id)).to_have_count(0)
    ben.goto(f"/?model=run:{run_id}")
    expect(ben.locator(".stage .notes")).to_contain_text(f"'run:{run_id}' is no run with a checkpoint")


def test_a_run_is_its_owners_and_the_teachers(visitor: NewVisitor, server: Server) -> None:
    anna, ben, teacher = visitor(), visitor(), visitor()
    train = TrainPage(anna).open(**ENDLESS)
    run_id = train.start()
    [cookie] = [cookie for cookie in anna.context.cookies() if cookie["name"] == visitors.COOKIE]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
    assert anna.evaluate("document.cookie").find(cookie["value"]) == -1
    folder = server.log.parent / "runs" / run_id
    assert cookie["value"] not in "".join(p.read_text() for p in folder.iterdir() if p.suffix == ".json")

    assert_hidden(run_id, ben)

    # Shared, it is seen and cannot be changed.
    anna_runs = RunsPage(anna).open(run_id)
    anna.get_by_role("button", name="More…").click()
    anna.get_by_role("button", name="Share", exact=True).click()
    expect(anna.get_by_role("button", name="Unshare", exact=True)).to_be_visible()
    ben_runs = RunsPage(ben).open(run_id)
    expect(ben_runs.row(run_id)).to_have_count(1)
    assert re.fullmatch("visitor [0-9a-f]{6}, shared", ben_runs.cells_of(run_id)[-1])
    assert anna_runs.cells_of(run_id)[-1] == "yours, shared"
    actions = ben.locator(".st-key-runs_actions")
    expect(actions.get_by_role("link", name="Watch")).to_be_visible()
    for name in ("More…", "Share", "Unshare", "Train further…"):
        expect(actions.get_by_role("button", name=name, exact=True)).to_have_count(0)
    theirs = TrainPage(ben).open(run=run_id)
    expect(theirs.button("New run")).to_be_visible()
    expect(theirs.button("Stop")).to_have_count(0)

    # A reload keeps the owner known, and the teacher stops, renames and deletes.
    anna.goto(f"/train?run={run_id}")
    expect(train.button("Stop")).to_be_visible()
    sign_in(teacher, "wrong horse")
    expect(teacher.locator(".st-key-problems")).to_contain_text("this is not the teacher's secret")
    sign_in(teacher, SECRET)
    expect(teacher.get_by_role("button", name="Sign out")).to_be_visible()
    teacher_train = TrainPage(teacher).open(run=run_id)
    teacher_train.button("Stop").click()
    expect(teacher_train.progress).to_contain_text("Stopped", timeout=20_000)
    teacher_runs = RunsPage(teacher).open(run_id)
    teacher.get_by_role("button", name="More…").click()
    settle(teacher)  # a dialog that is drawn once more puts back the name that stood there
    teacher.get_by_role("textbox", name="Name").fill("looked after")
    teacher.get_by_role("textbox", name="Name").press("Enter")
    teacher.get_by_role("button", name="Save", exact=True).click()
    expect(teacher_runs.row(run_id).locator("th")).to_have_text("looked after")
    teacher.get_by_role("button", name="Delete for good").click()
    expect(teacher_runs.row(run_id)).to_have_count(0)
    anna_runs.open()
    expect(anna_runs.row(run_id)).to_have_count(0)


def test_the_limit_of_live_runs_survives_a_reload_and_a_second_tab(visitor: NewVisitor) -> None:
    anna, ben = visitor(), visitor()
    for _ in range(2):
        TrainPage(anna).open(**ENDLESS).start()
    tab = TrainPage(anna.context.new_page()).open(**TINY)
    for _ in range(2):
        expect(tab.page.locator(".st-key-problems")).to_contain_text("the most there may be")
        expect(tab.button("Start")).to_be_disabled()
        tab.page.reload()
    run_id = TrainPage(ben).open(**TINY).start()
    assert run_id
    for _ in range(2):
        anna.goto("/train")
        anna.locator(".st-key-train_live").get_by_role("button").first.click()
        train = TrainPage(anna)
        train.button("Stop").click()
        expect(train.progress).to_contain_text("Stopped", timeout=20_000)
    expect(tab.button("Start")).to_be_enabled(timeout=20_000)  # by itself
    expect(tab.page.locator(".st-key-problems")).to_have_count(0)


def test_a_file_is_listed_read_and_deleted_by_its_owner_alone(visitor: NewVisitor, server: Server) -> None:
    anna, ben = visitor(), visitor()
    train = TrainPage(anna).open(task="masked")
    text = b"the cat sat on the mat . the dog lay in the garden . " * 200
    file = {"name": "diary.txt", "mimeType": "text/plain", "buffer": text}
    anna.locator("input[type=file]").set_input_files([file])
    expect(anna.get_by_text("Your files (1)")).to_be_visible()
    expect(anna.get_by_text("Reads diary.txt")).to_be_visible()
    train.settle()
    link = train.link()
    TrainPage(ben).open(**link)
    said = ben.locator(".st-key-problems")
    expect(said).to_contain_text("is not the name of a file that you handed in here")
    expect(ben.get_by_text("Your files")).to_have_count(0)
    anna.get_by_text("Your files (1)").click()
    anna.get_by_role("button", name="Delete", exact=True).click()
    expect(anna.get_by_text("Your files")).to_have_count(0)
    expect(anna.get_by_text("Reads diary.txt")).to_have_count(0)
    assert not list((server.log.parent / "runs" / "uploads").rglob("*.txt"))


def test_while_a_dear_figure_is_computed_the_page_says_so_in_its_place(visitor: NewVisitor) -> None:
    explore = ExplorePage(visitor())
    said = explore.page.get_by_test_id("stHtml").locator(".computing")
    words = " ".join(f"w{at}" for at in range(300))
    link = {"model": "untrained", "text": words, "n_layers": 8, "n_heads": 16}
    explore.page.goto(f"/?{urlencode(link)}", wait_until="commit")  # it may be there before all has loaded
    said.wait_for()
    expect(said).to_contain_text("billion operations, in at most 20")
    said.click(trial=True)  # nothing covers it
    explore.stage.wait_for(timeout=60_000)
    expect(said).to_have_count(0)
    settle(explore.page)
    said = explore.stage.locator(".computing")
    before = explore.stage.bounding_box()
    with explore.redrawn():
        explore.type(" ".join(f"w{at}" for at in range(900)))
        said.wait_for()
        assert explore.stage.bounding_box() == before
    expect(said).to_be_hidden()
    dialog = explore.take_away()
    expect(dialog.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=60_000)
    with explore.page.expect_download(timeout=180_000) as waiting:
        dialog.get_by_role("button", name="Numbers, CSV").click()
    assert len(Path(waiting.value.path()).read_text().splitlines()) == 1 + 128 * 128
