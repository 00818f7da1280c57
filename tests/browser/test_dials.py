"""The dials of a family of trained models: each value opens its own model, and the text stays."""

from playwright.sync_api import expect

from attention_lab.models.zoo.families import FAMILIES
from attention_lab.models.zoo.others.families import load
from tests.browser.explore_page import ExplorePage, agrees


def turn(explore: ExplorePage, dial: str, value: str) -> None:
    with explore.redrawn():
        explore.stage.get_by_role("group", name="Trained models").get_by_role("group", name=dial).get_by_role(
            "button", name=value, exact=True
        ).click()


def test_a_dial_opens_the_model_of_its_value_with_the_same_text(explore: ExplorePage) -> None:
    explore.trained("induction-sizes", text="abcdabcd", view="head", layer=0, head=0)
    for values in ({"n_layers": 2, "n_heads": 8}, {"n_layers": 1, "n_heads": 8}, {"n_layers": 1, "n_heads": 2}):
        turn(explore, "Layers", str(values["n_layers"]))
        turn(explore, "Heads", str(values["n_heads"]))
        expect(explore.sentence).to_have_value("abcdabcd")
        expect(explore.choice("head")).to_have_count(values["n_heads"])
        lm = load(FAMILIES["induction-sizes"], positions="sinusoidal", **values)
        pattern = lm.trace("abcdabcd")["decoder.0.self.pattern"][0]
        explore.hover_cell(7, 3)
        assert agrees(explore.stage.locator(".readout .weight").inner_text(), float(pattern[7, 3]))
    assert "n_layers=1" in explore.page.url and "n_heads=2" in explore.page.url


def test_the_induction_model_leads_to_its_family(explore: ExplorePage) -> None:
    explore.trained("induction")
    explore.stage.get_by_role("button", name="turn layers and heads of such models").click()
    expect(explore.stage.get_by_role("group", name="Trained models")).to_be_visible()
