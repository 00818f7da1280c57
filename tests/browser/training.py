"""Drives Train and Runs as a visitor does: starts runs, watches them, scrubs through them."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.folder import Status, create_run, write_status
from attention_lab.models.runs.recording import train_into
from attention_lab.models.runs.report import write_report
from attention_lab.models.training.config import run_config
from tests.browser.axe import violations
from tests.browser.board import BoardPage
from tests.browser.explore_page import settle
from tests.browser.lab_parts import lasting, overflow, resize, use_scheme
from tests.browser.lab_scripts import UNREADABLE

# One layer, so narrow and short that it has finished a few seconds after its process has started.
SIZES = {"n_layers": 1, "n_heads": 2, "d_model": 16}
STEPS = {"steps": 60, "batch_size": 16, "held_out": 32, "n_snapshots": 8, "threads": 1}
TINY = {"task": "reverse", "length": 4, **SIZES, **STEPS}
ENDLESS = {**TINY, "steps": 1_000_000}
TRAINING_SECONDS = 120_000  # milliseconds; the first page of a server also waits for torch


def train_tiny(runs: Path, **training: Any) -> str:
    """Trains the tiny run into the folder of a server's runs, as its own process does; its id."""
    config = run_config(make_task("reverse", {"length": 4}), sizes=SIZES, training=STEPS | training)
    run = create_run(config, path=runs / f"tiny-{len(list(runs.glob('*')))}")
    assert train_into(run, config)
    write_report(run)
    steps = config.training.steps
    write_status(run.path, Status(state="finished", step=steps, steps=steps, seconds=1.0))
    return run.id


def assert_sound(shown: BoardPage) -> None:
    """Nothing sticks out of the page or of its figures, is cut, or lies on something else; axe finds no
    fault, and in dark none of contrast, the only one that it can find there alone.
    """
    faults = []
    for width in (1920, 800, 1366):
        resize(shown, width, 768)
        unfit = [*overflow(shown), *lasting(shown, UNREADABLE)]
        faults += [f"at {width} px: {fault}" for fault in unfit]
    faults += violations(shown.page)
    use_scheme(shown, "dark")
    faults += violations(shown.page, "color-contrast")
    assert not faults, "\n".join(faults)


class TrainPage(BoardPage):
    """Train in one tab."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "train")

    def wait(self) -> "TrainPage":
        self.board.wait_for(timeout=TRAINING_SECONDS)
        self.settle()
        return self

    def start(self) -> str:
        """Press Start, wait until the run is watched; its id."""
        expect(self.button("Start")).to_be_enabled()
        self.button("Start").click()
        expect(self.button("New run")).to_be_visible()
        self.page.wait_for_url("**run=*")
        return self.link()["run"]

    def finish(self) -> str:
        """Start a run and wait for its end; its id."""
        run_id = self.start()
        expect(self.progress).to_contain_text("Finished", timeout=TRAINING_SECONDS)
        self.settle()
        return run_id

    def unfold(self) -> None:
        """Opens the settings that are folded."""
        self.page.locator(".st-key-train_form summary").click()
        expect(self.number("Batch")).to_be_visible()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def progress(self) -> Locator:
        return self.page.get_by_test_id("stProgress")

    def number(self, label: str) -> Locator:
        return self.page.get_by_role("spinbutton", name=label, exact=True)


class RunsPage(BoardPage):
    """Runs in one tab."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "runs")
        self.table = page.locator(".table-box[data-rows]").first

    def open(self, *ids: str, **params: Any) -> "RunsPage":
        chosen = {"runs": ".".join(ids)} if ids else {}
        self.page.goto(f"/runs?{urlencode({**chosen, **params})}")
        return self.wait()

    def wait(self) -> "RunsPage":
        self.table.wait_for(timeout=TRAINING_SECONDS)
        self.board.wait_for(timeout=TRAINING_SECONDS)
        self.settle()
        return self

    def row(self, run_id: str) -> Locator:
        return self.table.locator(f'tr[data-id="{run_id}"]')

    def cells_of(self, run_id: str) -> list[str]:
        return self.row(run_id).locator("th, td").all_inner_texts()[1:]

    def column(self, name: str) -> list[str]:
        """What stands in a column of the list, from top to bottom, without the rows that are folded."""
        rows = self.table.locator("tbody tr:not(.part):not([hidden])")
        at = self.table.locator("thead tr > *").all_inner_texts().index(name)
        return [row.locator("th, td").nth(at).inner_text() for row in rows.all()]

    def thumbnail(self, head: str) -> Locator:
        return self.board.get_by_role("button", name=f"Show {head} large")

    def download(self, label: str, folder: Path) -> Path:
        """Press a download button; the file that comes. A run of the script gives it a new address."""
        settle(self.page)
        with self.page.expect_download() as coming:
            self.page.get_by_role("button", name=label, exact=True).click()
        path = folder / coming.value.suggested_filename
        coming.value.save_as(path)
        return path
