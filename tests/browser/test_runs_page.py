"""Runs in a real browser: the list, the scrubber, comparing, and what can be done with a run."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from attention_lab.models.data.tasks import make_task
from tests.browser.training import RunsPage, TrainPage, assert_sound, train_tiny

NewPage = Callable[..., Page]


@pytest.fixture(scope="module")
def trained(server_folder: Path, app_url: str) -> list[str]:
    """The ids of two short runs, the second with a learning rate of its own."""
    return [train_tiny(server_folder / "runs", **more) for more in ({}, {"learning_rate": 0.02})]


@pytest.fixture
def runs(page: Page) -> RunsPage:
    return RunsPage(page)


def test_the_list_says_how_runs_ended_and_the_slider_asks_the_server_nothing(
    runs: RunsPage, trained: list[str]
) -> None:
    runs.open(trained[0])
    cells = runs.cells_of(trained[0])
    assert cells[1:4] == ["reverse", "finished", "60"]
    assert cells[5].startswith("exact match ")
    expect(runs.row(trained[0]).get_by_role("checkbox")).to_be_checked()
    last = int(runs.slider.get_attribute("max") or 0)
    assert last >= 5
    with runs.quiet():
        seen = []
        for frame in (0, last // 2, last):
            runs.scrub(frame)
            head = runs.thumbnail("L0 H0").locator("canvas").evaluate("(canvas) => canvas.toDataURL()")
            mark = runs.traces("loss")[-2]["x"][0]  # the upright
            seen.append((head, mark, runs.notice))
    assert len({head for head, _, _ in seen}) == len({mark for _, mark, _ in seen}) == 3
    assert seen[0][2].startswith("Step 0: random weights.")
    assert seen[2][2].startswith("Step 60: training loss ")


def test_a_link_opens_a_run_at_a_step(runs: RunsPage, trained: list[str], new_page: NewPage) -> None:
    runs.open(trained[0])
    runs.scrub(3)
    link = runs.link()
    assert link["runs"] == trained[0] and int(link["step"]) > 0
    theirs = RunsPage(new_page()).open(link["runs"], step=link["step"])
    expect(theirs.board).to_have_attribute("data-frame", "3")
    assert theirs.shown() == runs.shown()
    theirs.page.keyboard.press("p")
    expect(theirs.board).to_have_attribute("data-frame", "0")
    box = theirs.board.bounding_box()
    assert box is not None and (box["x"], box["y"]) == (0, 0)
    expect(theirs.thumbnail("L0 H0")).to_be_visible()
    expect(theirs.panel("learning rate")).to_be_hidden()
    theirs.page.keyboard.press("PageDown")
    expect(theirs.board).not_to_have_attribute("data-frame", "0")
    theirs.page.keyboard.press("Escape")
    expect(theirs.panel("learning rate")).to_be_visible()


def test_several_runs_are_compared_and_only_what_differs_is_told(runs: RunsPage, trained: list[str]) -> None:
    runs.open(trained[0])
    with runs.redrawn():
        runs.row(trained[1]).get_by_role("checkbox").check()
    runs.settle()
    assert len(runs.traces("loss, held out")) == 2
    differences = runs.page.get_by_role("region", name="Settings that differ")
    assert differences.locator("tbody th").all_inner_texts() == ["learning_rate"]
    rates = differences.locator("tbody td").all_inner_texts()
    assert sorted(rates) == sorted(["0.02", f"{make_task('reverse').training['learning_rate']:g}"])
    assert sorted(runs.link()["runs"].split(".")) == sorted(trained)


def copied(root: Path, run_id: str, seed: int, **training: object) -> str:
    """Another run with the same records, as if it had been trained with this seed; its id."""
    path = root / f"{run_id}-seed-{seed}"
    shutil.copytree(root / run_id, path)
    said = json.loads((path / "config.json").read_text())
    said["training"] |= {"seed": seed, **training}
    (path / "config.json").write_text(json.dumps(said))
    return path.name


def test_seeds_are_one_row_that_unfolds_and_one_line_with_a_verdict(
    runs: RunsPage, trained: list[str], server_folder: Path
) -> None:
    seeds = [copied(server_folder / "runs", trained[1], seed, clip=0.5) for seed in (1, 2)]
    runs.open(trained[0], *seeds, filter="reverse")
    group = runs.table.locator("tr", has=runs.page.locator(".fold")).filter(has_text="2 finished")
    expect(group.get_by_role("checkbox")).to_be_checked()
    for run_id in seeds:
        expect(runs.row(run_id)).to_be_hidden()
    group.locator(".fold").click()
    for run_id in seeds:
        expect(runs.row(run_id)).to_be_visible()
    assert len(runs.traces("loss, held out")) == 3  # a line, a mean, and its band
    assert runs.notice == "No difference is shown between the two."
    with runs.redrawn():
        runs.row(seeds[0]).get_by_role("checkbox").uncheck()
    runs.settle()
    expect(group.get_by_role("checkbox")).not_to_be_checked()
    assert runs.link()["filter"] == "reverse" and seeds[0] not in runs.link()["runs"]


def test_the_list_is_sorted_by_keyboard_and_a_link_keeps_its_order(
    runs: RunsPage, trained: list[str]
) -> None:
    """A group of the same settings may stand in the place of a run; its row has the mean, with ±."""
    column = "loss, held out"
    runs.open(trained[0], filter="reverse")
    as_it_comes = runs.column(column)
    heading = runs.table.get_by_role("columnheader", name=column)
    heading.get_by_role("button").focus()
    for way, sort in (("ascending", "loss"), ("descending", "-loss")):
        runs.page.keyboard.press("Enter")
        expect(heading).to_have_attribute("aria-sort", way)
        runs.settle()
        found = [float(text.split(" ")[0]) for text in runs.column(column) if text != "–"]
        assert len(found) > 1 and found == sorted(found, reverse=way == "descending")
        runs.page.wait_for_url(f"**sort={sort}*")  # the browser sorts, and the server is told
    runs.page.keyboard.press("Enter")  # the heading has the focus still
    expect(heading).not_to_have_attribute("aria-sort", "descending")
    runs.page.wait_for_url(lambda url: "sort=" not in url)
    assert runs.column(column) == as_it_comes
    runs.open(trained[0], filter="reverse", sort="loss")
    known = [text for text in as_it_comes if text != "–"]  # of a run that did not get so far there is none
    unknown = ["–"] * (len(as_it_comes) - len(known))
    assert runs.column(column) == [*sorted(known, key=lambda text: float(text.split(" ")[0])), *unknown]


def test_a_run_is_renamed_as_it_is_typed(runs: RunsPage, trained: list[str]) -> None:
    runs.open(trained[1])
    # Of the settings of the first, another test may have trained a seed: their rows tell the seed, too.
    name = "<b>mine</b> *and* :red[yours]"
    runs.page.get_by_role("button", name="More…").click()
    runs.page.get_by_role("textbox", name="Name").fill(name)
    runs.page.get_by_role("textbox", name="Name").press("Enter")
    runs.page.get_by_role("button", name="Save", exact=True).click()
    expect(runs.row(trained[1]).locator("th")).to_have_text(name)
    expect(runs.page.locator(".st-key-runs_actions")).to_contain_text(name)


def test_a_run_is_deleted_only_when_it_is_said_twice(
    runs: RunsPage, trained: list[str], server_folder: Path
) -> None:
    run_id = train_tiny(server_folder / "runs", steps=5)
    runs.open(run_id)
    runs.page.get_by_role("button", name="More…").click()
    sure = runs.page.get_by_role("button", name="Delete for good")
    expect(sure).to_be_visible()
    expect(runs.row(run_id)).to_have_count(1)
    sure.click()
    expect(runs.row(run_id)).to_have_count(0)


def test_an_export_holds_weights_card_numbers_and_config(
    runs: RunsPage, trained: list[str], tmp_path: Path
) -> None:
    runs.open(trained[1])
    runs.page.get_by_role("button", name="More…").click()
    with zipfile.ZipFile(runs.download("Download", tmp_path)) as archive:
        assert archive.testzip() is None
        names = sorted(Path(name).name for name in archive.namelist())
        [metrics] = [name for name in archive.namelist() if name.endswith("metrics.csv")]
        lines = archive.read(metrics).decode().splitlines()
    assert names == ["card.json", "config.json", "metrics.csv", f"{trained[1]}.safetensors"]
    assert lines[0].startswith('"step","loss"') and lines[-1].startswith('"60",')
    runs.page.get_by_text("Hugging Face's transformers").click()
    runs.page.get_by_role("button", name="Write the files").click(timeout=60_000)
    expect(runs.page.get_by_role("button", name="Download", exact=True)).to_be_visible(timeout=120_000)
    with zipfile.ZipFile(runs.download("Download", tmp_path)) as archive:
        written = {Path(name).name for name in archive.namelist()}
    assert {"model.safetensors", "config.json", "run.json", "README.md"} <= written


def test_a_model_is_tried_on_the_spot_and_opens_in_explore(runs: RunsPage, trained: list[str]) -> None:
    runs.open(trained[1])
    box = runs.page.locator(".st-key-runs_try")
    box.get_by_role("textbox").fill("abc")
    box.get_by_role("textbox").press("Enter")
    expect(box.locator(".typed")).to_contain_text("abc  →  ")
    box.get_by_role("textbox").fill("a?c")
    box.get_by_role("textbox").press("Enter")
    expect(box).to_contain_text("'?' is no character")
    runs.page.get_by_role("link", name="Open in Explore").click()
    runs.page.locator(".stage[data-generation]").wait_for()
    assert f"model=run%3A{trained[1]}" in runs.page.url


def test_a_run_is_set_up_again_and_trained_further(runs: RunsPage, trained: list[str]) -> None:
    runs.open(trained[1])
    runs.page.get_by_role("link", name="Same again with…").click()
    train = TrainPage(runs.page).wait()
    train.unfold()
    expect(train.number("Learning rate")).to_have_value("0.02")
    assert train.link()["learning_rate"] == "0.02" and train.link()["steps"] == "60"
    runs.open(trained[1])
    runs.page.get_by_role("button", name="Train further…").click()
    runs.page.get_by_role("spinbutton", name="Steps in all").fill("70")
    runs.page.get_by_role("spinbutton", name="Steps in all").press("Enter")
    runs.page.get_by_text("Change settings").click()
    runs.page.get_by_role("spinbutton", name="Batch").fill("8")
    runs.page.get_by_role("spinbutton", name="Batch").press("Enter")
    runs.page.get_by_role("button", name="Go on", exact=True).click()
    expect(train.progress).to_contain_text("Finished: step 70 of 70", timeout=60_000)
    runs.page.get_by_role("link", name="Scrub through it").click()
    told = runs.page.locator(".st-key-runs_notes")
    expect(told).to_contain_text("from step 60: steps 60 → 70, batch_size 16 → 8, the schedule goes on")


def test_scores_are_told_and_an_error_opens_on_explore(runs: RunsPage, trained: list[str]) -> None:
    page = runs.open(trained[0]).page
    section = page.locator(".st-key-runs_scores")
    expect(section).to_contain_text("Step 60. Held out: 32 questions. Test: ")
    scores, wrong = section.locator("table").first, section.locator("table").last
    expect(scores.locator("thead")).to_contain_text("95% interval")
    expect(scores).to_contain_text("exact match")
    box = section.locator(".table-box").first
    assert box.evaluate("(each) => each.scrollHeight <= each.clientHeight + 1"), "no row is hidden"
    first = wrong.locator("tbody tr").first.get_by_role("button")
    text = first.inner_text().strip()
    assert text.endswith("=")
    first.click()
    page.wait_for_url("**/?*text=*")
    expect(page.locator(".stage[data-generation]")).to_be_visible()
    expect(page.get_by_role("textbox").first).to_have_value(text)


def test_one_run_and_several_fit_the_screen_and_axe_finds_no_fault(
    new_page: NewPage, trained: list[str]
) -> None:
    for chosen in ([trained[1]], trained):
        assert_sound(RunsPage(new_page()).open(*chosen))
