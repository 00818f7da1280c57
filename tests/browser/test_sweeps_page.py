"""Sweeps in a real browser: one is started from Train, watched to its end, and a trial opened."""

from collections.abc import Callable
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tests.browser.board import BoardPage
from tests.browser.training import TINY, TRAINING_SECONDS, RunsPage, TrainPage, assert_sound

NewPage = Callable[..., Page]
SHORT = {**TINY, "task": "copy", "steps": 20, "n_snapshots": 2}
FOUR = {
    **SHORT, "sweep": "+", "name": "four", "seeds": 1,
    "rows": 2, "vary1": "n_heads", "values1": "1, 2", "vary2": "norm", "values2": "pre, post", "how2": "list",
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

    def end(self, axis: str, end: str):
        """An end of the range that is chosen on an axis; "from" is the lower one."""
        return self.board.get_by_role("slider", name=f"{axis}, {end}", exact=True)

    def drag(self, axis: str, low: float, high: float) -> None:
        """Choose a range by the mouse, in shares of an axis of which all is chosen."""
        self.end(axis, "from").scroll_into_view_if_needed()
        x, below = self._middle(axis, "from")
        above = self._middle(axis, "to")[1]
        heights = [below + share * (above - below) for share in (low, (low + high) / 2, high)]
        self.page.mouse.move(x, heights[0])
        self.page.mouse.down()
        for height in heights[1:]:
            self.page.mouse.move(x, height)
        self.page.mouse.up()

    def _middle(self, axis: str, end: str) -> tuple[float, float]:
        box = self.end(axis, end).bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def lines_of(self, title: str) -> int:
        """How many trials a chart of parallel coordinates draws."""
        return len(
            {said.split(":")[0] for trace in self.traces(title) for said in trace.get("customdata") or []}
        )


def test_a_sweep_is_started_from_train_watched_to_its_end_and_opened(page: Page) -> None:
    train = TrainPage(page)
    train.open(**SHORT)
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
    title = "settings and exact match of every trial"
    assert sweeps.lines_of(title) == 4
    page.keyboard.press("p")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(sweeps.panel(title)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    assert sweeps.notice.startswith("Best: trial ")
    rows = sweeps.trials.locator("tbody tr")
    expect(rows).to_have_count(4)
    assert_brushed(sweeps)
    sweeps.trials.get_by_role("button", name="2", exact=True).click()
    page.get_by_role("link", name="Its runs on Runs").click()
    runs = RunsPage(page).wait()
    expect(runs.table.locator("tr.opened")).to_have_count(1)
    assert runs.cells_of(runs.link()["runs"])[1:3] == ["copy", "finished"]


def assert_brushed(sweeps: SweepsPage) -> None:
    """Ranges by keyboard and mouse combine, table and link follow, and each is cleared by itself."""
    rows, heads = sweeps.trials.locator("tbody tr"), sweeps.end("Heads", "from")
    heads.press("ArrowUp")
    expect(rows).to_have_count(2)
    sweeps.settle()
    expect(heads).to_be_focused()
    expect(heads).to_have_attribute("aria-valuetext", "2")
    sweeps.drag("Norm", 0.6, 0.9)
    expect(rows).to_have_count(1)
    assert rows.locator("td").all_inner_texts()[:2] == ["2", "post"]
    sweeps.settle()
    assert sweeps.link()["within"] == "n_heads:2:2;norm:1:1"
    sweeps.page.reload()
    expect(rows).to_have_count(1)
    sweeps.settle()
    sweeps.end("Norm", "to").press("Escape")
    expect(rows).to_have_count(2)
    sweeps.settle()
    sweeps.page.mouse.dblclick(*sweeps._middle("Heads", "to"))
    expect(rows).to_have_count(4)
    sweeps.settle()
    assert "within" not in sweeps.link()


def test_sweeps_fit_the_screen_and_axe_finds_no_fault(new_page: NewPage) -> None:
    for query in ("sweep=four&trial=1", "sweep=%2B&rows=3&task=copy"):
        sweeps = SweepsPage(new_page())
        sweeps.page.goto(f"/sweeps?{query}")
        sweeps.board.wait_for(timeout=TRAINING_SECONDS)
        sweeps.settle()
        assert_sound(sweeps)
