"""Models of transformers on Explore: named, drawn as they compute, refused in a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from attention_lab.models import load_model
from tests.browser.explore_page import ExplorePage, agrees
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import ANSWER, TEXT


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of each kind."""
    root = tmp_path_factory.mktemp("models")
    for family in ("llama", "bert", "bart", "nystromformer", "qwen3-next"):
        families.save(family, root / family)
    return root


def name_another(explore: ExplorePage, said: str) -> None:
    """Says the name or the folder of a model in the field for it."""
    explore.side.get_by_role("button", name="another model…").click()
    field = explore.page.get_by_role("textbox", name="Name or folder of a model")
    field.fill(said)
    field.press("Enter")


def test_a_folder_named_in_the_field_is_shown_with_its_own_numbers(
    explore: ExplorePage, folders: Path
) -> None:
    explore.page.set_default_timeout(60_000)
    explore.open()
    with explore.redrawn():
        name_another(explore, str(folders / "llama"))
    explore.page.keyboard.press("Escape")
    expect(explore.stage.locator(".taught")).to_contain_text(
        "2 neighbouring query heads share one head of keys"
    )
    explore.trained(f"hf:{folders / 'llama'}", text=TEXT, view="head", layer=1, head=3)
    trace = load_model(f"hf:{folders / 'llama'}").trace(TEXT)
    explore.hover_cell(9, 4)
    terms = explore.terms()
    q, k = trace["decoder.1.self.q"][3, 9], trace["decoder.1.self.k"][1, 4]
    assert agrees(terms["dot product"], (q @ k).item())
    assert agrees(terms["score"], trace["decoder.1.self.scores"][3, 9, 4].item())
    assert agrees(terms["weight"], trace["decoder.1.self.pattern"][3, 9, 4].item())
    assert terms["same k, v"] == "heads 2 to 3"
    explore.choose("view", "numbers")
    expect(explore.stage.locator('[data-step="score"]')).to_contain_text("× 0.3536")
    expect(explore.stage.locator(".pickers")).to_contain_text(
        'trace["decoder.1.self.q|scores|pattern|z"][3] · '
        'trace["decoder.1.self.k|v"][1], shared by heads 2 to 3'
    )
    explore.choose("view", "grid")
    third = explore.stage.get_by_role("button", name="Open layer 1 head 2")
    expect(third).to_have_attribute("title", re.compile("heads 2 to 3 share their keys and values$"))
    explore.choose("view", "output")
    best = trace["logits"][-1].double().softmax(-1).max(0)
    assert agrees(explore.stage.locator(".next tbody tr .weight").first.inner_text(), best.values.item())
    with explore.redrawn():
        explore.side.get_by_role("button", name="Continue").click()


def test_layers_have_their_true_numbers_where_some_alone_attend(explore: ExplorePage, folders: Path) -> None:
    explore.page.set_default_timeout(60_000)
    name = f"hf:{folders / 'qwen3-next'}"
    explore.trained(name, text=TEXT, view="grid")
    heads = explore.stage.get_by_role("button", name=re.compile(r"^Open layer \d"))
    named = [str(head.get_attribute("aria-label")).split(":")[0] for head in heads.all()]
    assert len(named) == 8
    assert {label.split(" head ")[0] for label in named} == {"Open layer 3", "Open layer 7"}
    assert [text for text in explore.written(".grid-view canvas") if text.startswith("L")][:5] == [
        "L3 H0", "L3 H1", "L3 H2", "L3 H3", "L7 H0",
    ]  # fmt: skip
    explore.choose("view", "head")
    assert {each.split()[1] for each in explore.places()} == {"3", "7"}
    assert explore.chosen("layer") == ["3"]
    explore.choose("layer", 7)
    explore.choose("head", 2)
    expect(explore.page).to_have_url(re.compile("layer=7"))
    trace = load_model(name).trace(TEXT)
    explore.hover_cell(9, 4)
    assert agrees(explore.terms()["weight"], trace["decoder.7.self.pattern"][2, 9, 4].item())
    explore.choose("view", "numbers")
    expect(explore.stage.locator(".pickers")).to_contain_text('trace["decoder.7.self.q|scores|pattern|z"][2]')
    expect(explore.stage).not_to_contain_text("layer 0")
    explore.trained(name, text=TEXT, view="head", layer=4)
    expect(explore.problem).to_contain_text("layer=4 is not one of the layers that attend, 3 and 7")
    assert explore.chosen("layer") == ["3"]


def test_a_masked_model_a_translator_and_one_of_patterns_alone(explore: ExplorePage, folders: Path) -> None:
    explore.page.set_default_timeout(60_000)
    explore.trained(f"hf:{folders / 'bert'}", text="the animal did [MASK] cross", view="output")
    expect(explore.stage.get_by_text("Press a word to mask it")).to_be_visible()
    trace = load_model(f"hf:{folders / 'bert'}").trace("the animal did [MASK] cross")
    at = trace.tokens["encoder"].index("[MASK]")
    best = trace["logits"][at].double().softmax(-1).max(0)
    explore.stage.locator(f'.steps button[data-step="{at}"]').click()
    assert agrees(explore.stage.locator(".next tbody tr .weight").first.inner_text(), best.values.item())

    explore.trained(f"hf:{folders / 'bart'}", text=TEXT, target=ANSWER, view="grid")
    stacks = explore.stage.locator(".overview-board > div > .muted")
    expect(stacks).to_have_text(["Encoder self", "Decoder self", "Cross"])
    explore.choose("stack", "decoder.cross")
    expect(explore.stage.locator(".grid-buttons button")).to_have_count(12)

    explore.trained(f"hf:{folders / 'nystromformer'}", text=TEXT, view="numbers", show="scores")
    expect(explore.stage.locator(".taught")).to_contain_text("nystromformer shows only its attention weights")
    assert explore.chosen("view") == ["head"]
    expect(explore.choice("view").get_by_role("button", name="Numbers")).to_have_count(0)
    explore.wait_for_heatmap()
