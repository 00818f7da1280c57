"""The untrained model's controls: after each change the page shows the numbers of the engine for it."""

import re
from typing import Any

from playwright.sync_api import expect

from tests.browser.explore_page import ExplorePage, untrained

OPEN = {"view": "head", "layer": 1, "head": 1}
CELLS = [(0, 0), (3, 2), (9, 4)]
ADDRESS = "encoder.1.self"


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
        ("Seed", ["ArrowRight"], "seed", 1),
    ]:
        explore.slide(name, *keys)
        config[field] = value
        expect(explore.page).to_have_url(re.compile(rf"[?&]{field}={value}\b"))
        expect(explore.heads_of(0)).to_have_count(4)
        expect(explore.stage.locator(".overview [data-place]")).to_have_count(config["n_layers"] * 4)
        assert_shows(explore, **config)
    explore.choose("layer", 2)
    explore.choose("head", 3)
    explore.slide("Layers", "ArrowLeft")
    expect(explore.stage.locator(".overview [data-place]")).to_have_count(8)
    assert (explore.chosen("layer"), explore.chosen("head")) == (["1"], ["3"])  # the last that is there


def test_of_the_sizes_one_is_turned_one_stays_and_one_follows(explore: ExplorePage) -> None:
    """One after another: the model that is shown has exactly the sizes that the sliders say."""
    explore.untrained(**OPEN)
    for fixed, name, key, sizes in [
        ("d_head", "d_model", "ArrowLeft", (3, 48, 16)),
        ("d_head", "Heads", "ArrowLeft", (2, 32, 16)),
        ("d_model", "Heads", "ArrowRight", (4, 32, 8)),
        ("Heads", "d_head", "ArrowRight", (4, 36, 9)),
    ]:
        with explore.redrawn():  # where the others stop
            explore.set("fixed", fixed)
        with explore.redrawn():
            explore.slide(name, key)
        n_heads, d_model, d_head = sizes
        for label, size in (("Heads", n_heads), ("d_model", d_model), ("d_head", d_head)):
            expect(explore.control(label)).to_have_attribute("aria-valuetext", str(size))
        expect(explore.heads_of(1)).to_have_count(n_heads)
        expect(explore.problem).to_be_hidden()
        assert_shows(explore, n_heads=n_heads, d_model=d_model)


def test_choices_change_the_model_that_is_shown(explore: ExplorePage) -> None:
    """One after another: each change is added to those before."""
    explore.untrained(**OPEN)
    config: dict[str, Any] = {}
    for name, option, change in [
        ("Positions", "none", {"positions": "none"}),
        ("Mask", "causal", {"mask": "causal"}),
        ("Scale", "0.1", {"attention_scale": 0.1}),
        ("Mask", "causal + padding", {"mask": "causal+padding"}),
        ("Norm", "post-norm", {"norm": "post"}),
        ("Mask", "graph edges", {"mask": "edges"}),
    ]:
        with explore.redrawn():
            explore.set(name, option)
        config |= change
        assert_shows(explore, **config)


def test_padding_adds_tokens_that_nobody_looks_at(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    with explore.redrawn():
        explore.set("Mask", "padding")
    assert [explore.names_beside(axis).count("<pad>") for axis in "xy"] == [3, 3]
    trace = untrained(mask="padding")
    for query, key in [(0, 11), (4, 12), (4, 3)]:
        explore.hover_cell(query, key)
        explore.assert_reads(trace, ADDRESS, 1, query, key)
        assert ("masked" in explore.terms()["score"]) == (key > 9)


def test_a_mask_takes_its_argument_and_another_mask_its_own(explore: ExplorePage) -> None:
    explore.untrained(mask="causal", **OPEN)
    argument = explore.control("Mask argument")
    expect(argument).to_be_hidden()
    with explore.redrawn():
        explore.set("Mask", "packed")
    with explore.redrawn():
        argument.fill("2.5")
        argument.press("Enter")
    expect(explore.page).to_have_url(re.compile(r"mask=packed&mask_arg=2\.5"))
    assert_shows(explore, mask="packed", mask_arg="2.5")
    with explore.redrawn():
        explore.set("Mask", "window")
    expect(argument).to_have_value("")
    assert_shows(explore, mask="window", mask_arg="3")


def test_a_bad_mask_argument_is_explained_and_the_last_good_figure_stays(explore: ExplorePage) -> None:
    explore.untrained(mask="edges", mask_arg="0-1 0-9", **OPEN)
    argument = explore.control("Mask argument")
    argument.fill("0-1 0-10")
    argument.press("Enter")
    expect(explore.problem).to_contain_text("Edge 0-10 names a node that is not there; the nodes are 0 to 9.")
    explore.problem.get_by_role("button", name="Close").click()
    expect(explore.problem).to_be_hidden()
    assert_shows(explore, mask="edges", mask_arg="0-1 0-9")
    argument.fill("<b>0</b>")
    argument.press("Enter")
    expect(explore.problem).to_contain_text("Argument '<b>0</b>' of mask 'edges' is not pairs of nodes")
    argument.fill("0-1 2-3")
    argument.press("Enter")
    expect(explore.problem).to_be_hidden()
    assert_shows(explore, mask="edges", mask_arg="0-1 2-3")


def test_changes_add_up_and_reset_takes_all_back(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    explore.slide("Seed", "ArrowRight", "ArrowRight")
    explore.set("Norm", "post-norm")
    explore.set("Positions", "learned")
    expect(explore.page).to_have_url(re.compile("positions=learned.*norm=post.*seed=2"))
    assert_shows(explore, seed=2, norm="post", positions="learned")
    with explore.redrawn():
        explore.more("reset everything").click()
    expect(explore.page).to_have_url(re.compile(r"/\?level=lab$"))
    expect(explore.sentence).to_have_value("the animal did not cross the street because it was too tired")
