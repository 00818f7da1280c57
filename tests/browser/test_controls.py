"""The untrained model's controls: after each change the page shows the numbers of the engine for it."""

import re
from typing import Any

from playwright.sync_api import expect

from tests.browser.explore_page import ExplorePage, untrained

OPEN = {"view": "head", "layer": 1, "head": 1}
CELLS = [(0, 0), (3, 2), (9, 4)]
ADDRESS = "encoder.1.self"


def slide(explore: ExplorePage, name: str, *keys: str) -> None:
    slider = explore.page.get_by_role("slider", name=name)
    for key in keys:
        slider.press(key)


def select(explore: ExplorePage, name: str, option: str) -> None:
    explore.page.get_by_role("combobox", name=name).click()
    explore.page.get_by_role("option", name=option, exact=True).click()


def assert_shows(explore: ExplorePage, **config: Any) -> None:
    trace = untrained(**config)
    for query, key in CELLS:
        explore.hover_cell(query, key)
        explore.assert_reads(trace, ADDRESS, 1, query, key)


def test_sliders_change_the_model_that_is_shown(explore: ExplorePage) -> None:
    """One after another: each change is added to those before."""
    explore.untrained(**OPEN)
    config: dict[str, Any] = {"n_layers": 2, "n_heads": 4}
    for name, keys, field, value in [
        ("Layers", ["ArrowRight"], "n_layers", 3),
        ("Heads", ["ArrowLeft", "ArrowLeft"], "n_heads", 2),
        ("d_model", ["ArrowRight"], "d_model", 96),
        ("d_head", ["ArrowRight", "ArrowRight"], "d_head", 8),
        ("Seed", ["ArrowRight"], "seed", 1),
    ]:
        slide(explore, name, *keys)
        config[field] = value
        expect(explore.page).to_have_url(re.compile(rf"[?&]{field}={value}\b"))
        for group, count in (("layer", "n_layers"), ("head", "n_heads")):
            expect(explore.choice(group).locator("button")).to_have_count(config[count])
        assert_shows(explore, **config)


def test_choices_change_the_model_that_is_shown(explore: ExplorePage) -> None:
    """One after another: each change is added to those before."""
    explore.untrained(**OPEN)
    config: dict[str, Any] = {}
    for name, option, change in [
        ("Positions", "none", {"positions": "none"}),
        ("Mask", "causal", {"mask": "causal"}),
        ("Positions", "learned", {"positions": "learned"}),
        ("Scale", "off", {"attention_scale": False}),
        ("Mask", "causal + padding", {"mask": "causal+padding"}),
        ("Scale", "0.1", {"attention_scale": 0.1}),
        ("Norm", "post-norm", {"norm": "post"}),
        ("Mask", "window", {"mask": "window"}),
        ("Mask", "fixed", {"mask": "fixed"}),
        ("Mask", "graph edges", {"mask": "edges"}),
    ]:
        with explore.redrawn():
            select(explore, name, option)
        config |= change
        assert_shows(explore, **config)


def test_padding_adds_tokens_that_nobody_looks_at(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    with explore.redrawn():
        select(explore, "Mask", "padding")
    assert [explore.names_beside(axis).count("<pad>") for axis in "xy"] == [3, 3]
    trace = untrained(mask="padding")
    for query, key in [(0, 11), (4, 12), (4, 3)]:
        explore.hover_cell(query, key)
        explore.assert_reads(trace, ADDRESS, 1, query, key)
        assert ("masked" in explore.terms()["score"]) == (key > 9)


def test_a_mask_takes_its_argument_and_another_mask_its_own(explore: ExplorePage) -> None:
    explore.untrained(mask="causal", **OPEN)
    argument = explore.page.get_by_role("textbox", name="Mask argument")
    expect(argument).to_be_disabled()
    with explore.redrawn():
        select(explore, "Mask", "packed")
    with explore.redrawn():
        argument.fill("2.5")
        argument.press("Enter")
    expect(explore.page).to_have_url(re.compile(r"mask=packed&mask_arg=2\.5"))
    assert_shows(explore, mask="packed", mask_arg="2.5")
    with explore.redrawn():
        select(explore, "Mask", "window")
    expect(argument).to_have_value("")
    assert_shows(explore, mask="window", mask_arg="3")


def test_a_bad_mask_argument_is_explained_and_the_last_good_figure_stays(explore: ExplorePage) -> None:
    explore.untrained(mask="edges", mask_arg="0-1 0-9", **OPEN)
    argument = explore.page.get_by_role("textbox", name="Mask argument")
    argument.fill("0-1 0-10")
    argument.press("Enter")
    expect(explore.problem).to_contain_text("Edge 0-10 names a node that is not there; the nodes are 0 to 9.")
    assert_shows(explore, mask="edges", mask_arg="0-1 0-9")
    argument.fill("<b>0</b>")
    argument.press("Enter")
    expect(explore.problem).to_contain_text("Argument '<b>0</b>' of mask 'edges' is not pairs of nodes")
    argument.fill("0-1 2-3")
    argument.press("Enter")
    expect(explore.problem).to_have_count(0)
    assert_shows(explore, mask="edges", mask_arg="0-1 2-3")


def test_changes_add_up_and_reset_takes_all_back(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    slide(explore, "Seed", "ArrowRight", "ArrowRight")
    select(explore, "Norm", "post-norm")
    select(explore, "Positions", "learned")
    expect(explore.page).to_have_url(re.compile("positions=learned.*norm=post.*seed=2"))
    assert_shows(explore, seed=2, norm="post", positions="learned")
    with explore.redrawn():
        explore.page.get_by_role("button", name="Reset", exact=True).click()
    expect(explore.page).to_have_url(re.compile(r"/\?level=lab$"))
    expect(explore.sentence).to_have_value("the animal did not cross the street because it was too tired")


def test_an_impossible_size_is_explained_and_the_last_good_figure_stays(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    slide(explore, "Heads", "ArrowRight")
    expect(explore.problem).to_contain_text("d_model=64 is not divisible by n_heads=5")
    assert_shows(explore)
    expect(explore.choice("head").locator("button")).to_have_count(4)
    slide(explore, "Heads", "ArrowRight", "ArrowRight", "ArrowRight")
    expect(explore.choice("head").locator("button")).to_have_count(8)
    expect(explore.problem).to_have_count(0)
    assert_shows(explore, n_heads=8)


def test_a_fixed_head_size_makes_any_number_of_heads_possible(explore: ExplorePage) -> None:
    explore.untrained(d_head=16, **OPEN)
    slide(explore, "Heads", "ArrowRight")
    expect(explore.choice("head").locator("button")).to_have_count(5)
    assert_shows(explore, n_heads=5, d_head=16)


def test_a_shorter_stack_keeps_the_view_on_a_layer_that_exists(explore: ExplorePage) -> None:
    explore.untrained(n_layers=3, view="head", layer=2, head=3)
    slide(explore, "Layers", "ArrowLeft")
    expect(explore.choice("layer").locator("button")).to_have_count(2)
    assert (explore.chosen("layer"), explore.chosen("head")) == (["1"], ["3"])
