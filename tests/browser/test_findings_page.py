"""Findings: a claim beside its measurement, changed by a link and by hand, and refused in a sentence."""

from playwright.sync_api import Page, expect

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from tests.browser.axe import SERIOUS, violations

SECONDS = 90_000


def test_a_finding_is_measured_and_changed(page: Page) -> None:
    page.set_default_timeout(SECONDS)
    expect.set_options(timeout=SECONDS)
    page.goto("/findings?finding=positional&positional_texts=5&positional_at_one_offset=nan")
    shown = page.locator(".board[data-generation]")
    shown.wait_for()
    expect(page.locator(".st-key-problems")).to_contain_text(
        "The link's positional_at_one_offset='nan' is not a number from 0.5 to 1; its default is shown."
    )
    expect(page.get_by_text("Voita et al. 2019").first).to_be_visible()
    outcome = findings()["positional"].measured(load_model("shakespeare"), texts=5)
    expect(shown.locator(".notice")).to_have_text(f"It holds here. {outcome.said}")
    row = shown.get_by_role("row").filter(has_text="confident heads").first
    expect(row).to_contain_text(f"{outcome.numbers[2].value}")
    page.get_by_role("button", name="present").click()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    claim = shown.locator(".claim")
    expect(claim).to_have_text(f"The claim. {findings()['positional'].brief}")
    page.keyboard.press("i")
    whole = page.locator(".st-key-findings_claim")
    expect(whole).to_contain_text(f"{findings()['positional'].claim} {findings()['positional'].paper}.")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(whole).to_be_hidden()
    expect(claim).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    assert violations(page, impacts=SERIOUS) == []
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="Resolves pronouns (translator)").click()
    changed = findings()["positional"].measured(load_model("translator"), texts=5)
    expect(shown.locator(".notice")).to_have_text(f"It does not hold here. {changed.said}")
    page.goto("/findings?finding=positional&positional_texts=5&positional_at_one_offset=0.8")
    expect(page.locator(".st-key-findings_side")).to_contain_text("at one offset for 80% of the words")
    page.goto("/findings?finding=induction&step=173")
    shown.locator("input[type=range]").wait_for()
    expect(shown.locator(".notice")).to_have_text(
        f"It holds here. {findings()['induction'].measured(None).said}"
    )
    expect(shown.locator(".scrub")).to_contain_text("173")
    page.keyboard.press("p")
    expect(shown.locator(".scrub output")).to_have_text("0")
    page.keyboard.press(" ")  # less motion is asked for: a step, which stays
    expect(shown.locator(".scrub output")).to_have_text("1")
    expect(shown.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Finding").click()
    expect(page.get_by_role("option").first).to_have_text("Induction heads")
    page.get_by_role("option", name="Indirect objects · needs gpt2").click()
    expect(page.locator(".st-key-problems")).to_contain_text("'gpt2' is not on this machine")
    expect(page.get_by_role("button", name="Look up gpt2 on Hugging Face")).to_be_visible()
    page.goto("/findings?finding=sinks&sinks_width=4&sinks_texts=1")
    expect(page.locator(".st-key-problems")).to_have_text(
        "A window of 4 keys has no room beside the 4 first; widen it."
    )
    page.goto("/findings?finding=no-sink&no-sink_texts=4&step=0")
    shown.locator("input[type=range]").wait_for()
    free = findings()["no-sink"].measured(None, texts=4)
    expect(shown.locator(".notice")).to_have_text(f"It holds here. {free.said}")
    page.goto("/findings?finding=pruning&pruning_sentences=20")
    pruned = findings()["pruning"].measured(None, sentences=20)
    expect(shown.locator(".notice")).to_have_text(f"It holds here. {pruned.said}")
    row = shown.get_by_role("row").filter(has_text="fewest heads")
    expect(row).to_contain_text(f"{pruned.numbers[1].value}")
    expect(page.locator(".st-key-findings_side")).to_contain_text(
        "python -m attention_lab.models.findings.make pruning"
    )
