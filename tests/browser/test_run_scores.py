"""The scores of a run in a real browser: its tables stand whole, and what is most wrong opens on Explore."""

from playwright.sync_api import Page, expect

from tests.browser.training import TINY, RunsPage, TrainPage


def test_scores_of_a_run_that_has_finished_and_an_error_on_explore(page: Page) -> None:
    run_id = TrainPage(page).open(**TINY).finish()
    RunsPage(page).open(run_id)
    section = page.locator(".st-key-runs_scores")
    expect(section).to_contain_text("Step 60; held out: 32 questions; test: ")
    scores, wrong = section.locator("table").first, section.locator("table").last
    expect(scores.locator("thead")).to_contain_text("95% interval")
    expect(scores).to_contain_text("exact match")
    box = section.locator(".table-box").first
    assert box.evaluate("(each) => each.scrollHeight <= each.clientHeight + 1"), "no row is hidden"
    first = wrong.locator("tbody tr").first
    text = first.get_by_role("button").inner_text().strip()
    assert text.endswith("=")
    first.get_by_role("button").click()
    page.wait_for_url("**/?*text=*")
    expect(page.locator(".stage[data-generation]")).to_be_visible()
    expect(page.get_by_role("textbox").first).to_have_value(text)
