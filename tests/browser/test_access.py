"""Explore without a mouse, and for those who see it in other colours or not at all."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.lab import Lab, NewLab, untrained

SEED = {"seed": 5}


def tab_to(lab: Lab, selector: str, most: int = 80) -> None:
    """Press Tab until the focus is on the element of the stage."""
    focused = lab.stage.locator(f"{selector}:focus")
    for _ in range(most):
        lab.page.keyboard.press("Tab")
        if focused.count():
            return
    pytest.fail(f"Tab does not reach {selector}")


def test_everything_is_reached_and_worked_by_keyboard(lab: Lab) -> None:
    lab.untrained(query=0, key=0, **SEED)
    lab.sentence.focus()
    tab_to(lab, '.views button[data-value="head"]')
    lab.page.keyboard.press("Enter")
    tab_to(lab, '[aria-label="layer"] button[data-value="1"]')
    lab.page.keyboard.press("Space")
    tab_to(lab, '.chips button[data-value="2"]')
    lab.page.keyboard.press("Enter")
    tab_to(lab, ".head-board")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        lab.page.keyboard.press(key)
    lab.assert_reads(untrained(**SEED), "encoder.1.self", 2, 2, 1)


def test_arrow_keys_walk_a_group_of_buttons(lab: Lab) -> None:
    lab.untrained(**SEED)
    views = lab.choice("view").locator("button")
    views.nth(0).focus()
    for key, at in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)]:
        lab.page.keyboard.press(key)
        expect(views.nth(at)).to_be_focused()


def test_a_token_is_kept_by_enter_and_read_on_focus(lab: Lab) -> None:
    lab.untrained(view="lines", **SEED)
    tab_to(lab, '.tokens.keys button[data-at="1"]')
    expect(lab.stage.locator(".readout")).to_contain_text("cat is looked at by")
    lab.page.keyboard.press("Enter")
    key = lab.stage.locator('.tokens.keys button[data-at="1"]')
    expect(key).to_be_focused()
    lab.page.keyboard.press("Tab")
    lab.page.evaluate("document.activeElement.blur()")
    expect(lab.stage.locator(".readout")).to_contain_text("cat is looked at by")
    expect(key).to_have_attribute("aria-pressed", "true")


def test_the_dialog_opens_and_closes_by_keyboard(lab: Lab) -> None:
    lab.untrained(view="head", **SEED)
    lab.stage.get_by_role("button", name="take away").focus()
    lab.page.keyboard.press("Enter")
    expect(lab.page.get_by_role("dialog")).to_be_visible()
    lab.page.keyboard.press("Escape")
    expect(lab.page.get_by_role("dialog")).to_have_count(0)


def assert_accessible(lab: Lab) -> None:
    """axe finds nothing serious or critical on the page."""
    found = Axe().run(lab.page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [
        f"{violation['id']} ({violation['impact']}): {node['html'][:200]} {node['failureSummary'][:300]}"
        for violation in found
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
    ]
    assert not serious, "\n".join(serious)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_any_view(new_lab: NewLab, scheme: str) -> None:
    lab = new_lab(color_scheme=scheme).open(text="the animel did not cross the street because it was tired")
    for view in ("grid", "head", "numbers", "output", "lines"):
        lab.choose("view", view)
        assert_accessible(lab)
    lab.choose("stack", "decoder.cross")
    assert_accessible(lab)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_the_untrained_models_controls(new_lab: NewLab, scheme: str) -> None:
    lab = new_lab(color_scheme=scheme).untrained(n_heads=7)
    expect(lab.problem).to_be_visible()
    assert_accessible(lab)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_the_dialog(new_lab: NewLab, scheme: str) -> None:
    lab = new_lab(color_scheme=scheme).untrained(view="head", **SEED)
    lab.stage.get_by_role("button", name="take away").click()
    expect(lab.page.get_by_role("dialog").locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert_accessible(lab)


def test_dark_visitors_get_dark_figures(new_lab: NewLab) -> None:
    light, dark = (
        new_lab(color_scheme=scheme).untrained(view="head", **SEED) for scheme in ("light", "dark")
    )
    backgrounds = [
        lab.page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
        for lab in (light, dark)
    ]
    assert backgrounds == ["rgb(255, 255, 255)", "rgb(14, 17, 23)"]
    assert (light.pixels(".head-board canvas") != dark.pixels(".head-board canvas")).any()
