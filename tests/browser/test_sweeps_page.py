"""Sweeps in a real browser: one is started from Train, watched to its end, and a trial opened."""

from collections.abc import Callable
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tests.browser.board import BoardPage
from tests.browser.training import TINY, TRAINING_SECONDS, RunsPage, TrainPage, assert_sound

NewPage = Callable[..., Page]
SHORT = {**TINY, "task": "reverse", "steps": 20, "n_snapshots": 2}
FOUR = {
    **SHORT, "sweep": "+", "name": "four", "seeds": 1,
    "rows": 2, "vary1": "n_heads", "values1": "1, 2", "vary2": "norm", "values2": "pre, post",
}  # fmt: skip


class SweepsPage(BoardPage):
    """Sweeps in one tab."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "sweeps")

    def button(self, name: str):
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def trials(self):
        return self.page.get_by_role("region", name="Trials")


def test_a_sweep_is_started_from_train_watched_to_its_end_and_opened(page: Page) -> None:
    train = TrainPage(page)
    train.open(**SHORT)
    train.unfold()
    page.get_by_role("link", name="Sweep over this…").click()
    sweeps = SweepsPage(page)
    page.wait_for_url("**/sweeps**")
    expect(sweeps.board).to_contain_text("3 settings × 3 seeds = 9 runs", timeout=TRAINING_SECONDS)
    page.goto(f"/sweeps?{urlencode(FOUR)}")
    expect(sweeps.board).to_contain_text("4 settings × 1 seed = 4 runs", timeout=TRAINING_SECONDS)
    sweeps.button("Start").click()
    progress = page.get_by_test_id("stProgress")
    expect(progress).to_contain_text("Finished: 4 of 4 trials", timeout=TRAINING_SECONDS)
    sweeps.settle()
    title = "exact match by trial"
    page.keyboard.press("p")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(sweeps.panel(title)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    assert sweeps.notice.startswith("Best: trial ")
    rows = sweeps.trials.locator("tbody tr")
    expect(rows).to_have_count(4)
    sweeps.trials.get_by_role("button", name="2", exact=True).click()
    page.get_by_role("link", name="Its runs on Runs").click()
    runs = RunsPage(page).wait()
    expect(runs.table.locator("tr.opened")).to_have_count(1)
    page.wait_for_url("**runs=**")  # the page writes it a moment later
    assert runs.cells_of(runs.link()["runs"])[1:3] == ["reverse", "finished"]


def test_sweeps_fit_the_screen_and_axe_finds_no_fault(new_page: NewPage) -> None:
    for query in ("sweep=four&trial=1", "sweep=%2B&rows=3&task=reverse"):
        sweeps = SweepsPage(new_page())
        sweeps.page.goto(f"/sweeps?{query}")
        sweeps.board.wait_for(timeout=TRAINING_SECONDS)
        sweeps.settle()
        assert_sound(sweeps)
