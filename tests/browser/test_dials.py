"""The dials of a family of trained models: each value opens its own model, and the text stays."""

from playwright.sync_api import expect

from attention_lab.models.zoo.families import FAMILIES
from attention_lab.models.zoo.others.families import load, standing
from tests.browser.explore_page import ExplorePage


def turn(explore: ExplorePage, dial: str, value: str) -> None:
    dials = explore.stage.get_by_role("group", name="Trained models")
    button = dials.get_by_role("group", name=dial).get_by_role("button", name=value, exact=True)
    if button.get_attribute("aria-pressed") != "true":
        with explore.redrawn():
            button.click()


def test_a_dial_opens_the_model_of_its_value_with_the_same_text(explore: ExplorePage) -> None:
    explore.trained("induction-sizes", text="abcdabcd", view="head", layer=0, head=0)
    for n_layers, n_heads in ((2, 8), (1, 8), (1, 2)):
        turn(explore, "Layers", str(n_layers))
        turn(explore, "Heads", str(n_heads))
        expect(explore.sentence).to_have_value("abcdabcd")
        values = {"n_layers": n_layers, "n_heads": n_heads, "positions": "sinusoidal"}
        trace = load(FAMILIES["induction-sizes"], **values).trace("abcdabcd")
        explore.hover_cell(7, 3)
        explore.assert_reads(trace, "decoder.0.self", 0, 7, 3)
    assert "n_layers=1" in explore.page.url and "n_heads" not in explore.page.url  # two are the usual ones


def test_the_induction_model_leads_to_its_family(explore: ExplorePage) -> None:
    explore.trained("induction")
    explore.stage.get_by_role("button", name="turn layers and heads of such models").click()
    expect(explore.stage.get_by_role("group", name="Trained models")).to_be_visible()


def test_who_looks_at_the_last_layer_does_so_again_after_a_turn_there_and_back(explore: ExplorePage) -> None:
    explore.trained("induction-sizes")
    notice = explore.stage.locator(".notice")
    before = notice.inner_text()
    assert "in layer 1 head 1" in before
    turn(explore, "Layers", "1")
    expect(notice).to_contain_text("in layer 0 head 1")
    turn(explore, "Layers", "2")
    expect(notice).to_have_text(before)


def test_of_weights_that_need_not_add_up_to_1_no_shares_are_told(explore: ExplorePage) -> None:
    explore.trained("sinks", normalizer="sigmoid", view="story", beat=3)
    notice, bar = explore.stage.locator(".notice"), explore.stage.locator(".choice", has_text="scores become")
    expect(notice).to_contain_text("which need not add up to 1")
    expect(bar).to_contain_text("3 scores become weights")
    turn(explore, "Scores to weights", "softmax")
    expect(notice).to_contain_text("all others together")
    expect(bar).to_contain_text("3 scores become shares")
    turn(explore, "Scores to weights", "softpick")
    expect(notice).to_contain_text("gives no key any weight: this head looks at nothing here")


def test_of_dials_that_turn_alone_the_other_goes_back_and_says_so(explore: ExplorePage) -> None:
    explore.trained("translator-sizes", view="head", stack="encoder.self", layer=0, head=0)
    text, family = explore.sentence.input_value(), FAMILIES["translator-sizes"]
    followed = explore.stage.locator(".dials .followed")
    turn(explore, "Heads", "8")
    expect(followed).to_be_hidden()
    for turned, values in (("Layers", {"n_layers": 3}), ("d_model", {"d_model": 128})):
        turn(explore, turned, str(*values.values()))
        expect(explore.sentence).to_have_value(text)
        expect(followed).to_have_text("→ n_heads = 4" if turned == "Layers" else "→ n_layers = 2")
        trace = load(family, **{**family.first, **values}).trace(text)
        explore.hover_cell(10, 2)
        explore.assert_reads(trace, "encoder.0.self", 0, 10, 2)
    assert "d_model=128" in explore.page.url
    assert "n_heads" not in explore.page.url
    assert "n_layers" not in explore.page.url


def test_a_size_that_followed_is_shown_as_it_is(explore: ExplorePage) -> None:
    explore.trained("translator-sizes", n_heads=8)
    said = standing(FAMILIES["translator-sizes"], {**FAMILIES["translator-sizes"].first, "n_heads": 8})
    expect(explore.stage.locator(".dials .standing")).to_have_text(said)
    heads = explore.stage.get_by_role("group", name="d_head")
    expect(heads.get_by_role("button", name="8", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(heads.get_by_role("button", name="16", exact=True)).to_have_attribute("aria-pressed", "false")
