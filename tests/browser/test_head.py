"""View 2, one head: readout and pixels against the trace, in every quantity and scale, by mouse and keys."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from attention_lab.models import Trace
from attention_lab.pages.explore.quantities import head_matrix, head_quantity
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.viz_core import theme
from tests.browser.explore_page import ARRAYS, TEXT, ExplorePage, agrees, read_number, untrained

LAYER, HEAD = 1, 2
ADDRESS = "encoder.1.self"
OPEN = {"view": "head", "layer": LAYER, "head": HEAD, "seed": 5}
WORDS = TEXT.split()


def quantities(trace: Trace) -> dict[str, np.ndarray]:
    """[query, key] of the open head, in float64."""
    arrays = {name: trace[f"{ADDRESS}.{name}"][HEAD].double().numpy() for name in ARRAYS}
    return {**arrays, "dots": arrays["q"] @ arrays["k"].T}


def test_a_cell_is_read_by_pointing_clicking_and_the_arrow_keys_which_stop_at_the_edges(
    explore: ExplorePage,
) -> None:
    explore.untrained(query=0, key=0, **OPEN)
    trace = untrained(seed=5)
    assert explore.names_beside("x") == explore.names_beside("y") == WORDS
    titles = [explore.stage.locator(f".head-board .{axis}title").text_content() for axis in "xy"]
    assert titles == ["key →", "← query"]
    board = explore.stage.locator(".head-board")
    board.focus()
    for pressed, (query, key) in [
        ("ArrowUp", (0, 0)), ("ArrowDown", (1, 0)), ("ArrowDown", (2, 0)), ("ArrowRight", (2, 1)),
        ("ArrowLeft", (2, 0)), ("ArrowLeft", (2, 0)),
    ]:  # fmt: skip
        board.press(pressed)
        explore.assert_reads(trace, ADDRESS, HEAD, query, key)
    for query, key in [(0, 0), (2, 5), (9, 1), (7, 9), (4, 6)]:
        explore.hover_cell(query, key)
        explore.assert_reads(trace, ADDRESS, HEAD, query, key)
    explore.page.mouse.down()
    explore.page.mouse.up()
    explore.sentence.hover()
    explore.assert_reads(trace, ADDRESS, HEAD, 4, 6)  # what is clicked stays marked
    explore.page.keyboard.press("ArrowRight")  # goes on from the cell, not from what was pressed before
    explore.assert_reads(trace, ADDRESS, HEAD, 4, 7)


@pytest.mark.parametrize("positions", ["rotary", "t5"])
def test_the_readout_adds_up_under_every_scheme(explore: ExplorePage, positions: str) -> None:
    explore.untrained(positions=positions, **OPEN)
    trace = untrained(seed=5, positions=positions)
    for query, key in [(2, 5), (7, 1)]:
        explore.hover_cell(query, key)
        explore.assert_reads(trace, ADDRESS, HEAD, query, key)
        terms = explore.terms()
        bias = read_number(terms.get("bias", "0"))
        total = 0.25 * read_number(terms["dot product"]) + bias
        assert read_number(terms["score"]) == pytest.approx(total, abs=2e-3)


def test_the_arrow_keys_stop_at_the_chosen_step(explore: ExplorePage) -> None:
    explore.open(view="head", stack="decoder.cross", step=2)
    board = explore.stage.locator(".head-board")
    board.press("ArrowDown")
    assert explore.terms()["query"] == "animal → n' (2)"
    board.press("ArrowUp")
    assert explore.terms()["query"] == "l' → animal (1)"


def test_cells_have_the_colours_of_their_values(explore: ExplorePage) -> None:
    explore.untrained(attention_scale="2", **OPEN)
    expected = quantities(untrained(seed=5, attention_scale=2.0))
    for show in ("pattern", "scores", "dots"):
        explore.choose("show", show)
        for scale in ("full", "row"):
            explore.choose("scale", scale)
            assert_colours(explore, expected[show], show, scale)
    explore.choose("show", "pattern")
    the_log_scale_spreads_small_weights_over_four_powers_of_ten(explore, expected["pattern"])


def assert_colours(explore: ExplorePage, values: np.ndarray, show: str, scale: str) -> None:
    """Every cell, and the ends of the legend."""
    signed = show != "pattern"
    most = abs(values).max(-1, keepdims=True) if scale == "row" else abs(values).max() if signed else 1
    levels = 127.5 + 127.5 * values / most if signed else 255 * values / most
    table = theme.lookup_table("diverging" if signed else "sequential")
    found = explore.heat(*values.shape)
    assert (found[..., 3] == 255).all()
    assert np.abs(found[..., :3] - table[np.floor(levels + 0.5).astype(int)]).max() <= 4
    ends = explore.stage.locator(".legend-ends span").all_inner_texts()
    if signed and scale == "full":
        assert agrees(ends[0], -most) and ends[1] == "0" and agrees(ends[2], most)
    else:
        assert ends == {
            ("pattern", "full"): ["0", "0.5", "1"],
            ("pattern", "row"): ["0", "row's largest"],
        }.get((show, scale), ["−row's largest", "0", "+row's largest"])


def the_log_scale_spreads_small_weights_over_four_powers_of_ten(
    explore: ExplorePage, weights: np.ndarray
) -> None:
    explore.choose("scale", "log")
    assert weights.min() < 1e-4  # something falls off the scale, so that its end is tested too
    levels = 255 * np.maximum(0, 1 + np.log10(np.maximum(weights, 1e-12)) / 4)
    expected = theme.lookup_table("sequential")[np.floor(levels + 0.5).astype(int)]
    assert np.abs(explore.heat(*weights.shape)[..., :3] - expected).max() <= 4
    assert explore.stage.locator(".legend-ends span").all_inner_texts() == ["≤ 0.0001", "0.01", "1"]
    explore.choose("show", "scores")  # it is offered for weights only
    expect(explore.choice("scale").locator("button")).to_have_text(["whole", "per row"])
    assert explore.chosen("scale") == ["full"]


def test_masked_cells_are_left_blank_and_say_so(explore: ExplorePage) -> None:
    explore.untrained(mask="causal", **OPEN)
    expected = quantities(untrained(mask="causal", seed=5))
    for show in ("pattern", "scores"):
        explore.choose("show", show)
        explore.hover_cell(3, 7)
        assert explore.terms()["score"] == "−∞ (masked)"
        assert explore.terms()["weight"] == "0.000"
        assert agrees(explore.terms()["dot product"], expected["dots"][3, 7])
    opaque = explore.heat(len(WORDS), len(WORDS))[..., 3] == 255
    np.testing.assert_array_equal(opaque, np.tri(len(WORDS), dtype=bool))


def test_a_long_text_opens_through_a_window_that_the_map_moves(explore: ExplorePage) -> None:
    text = " ".join(f"w{at % 90}" for at in range(300))
    explore.untrained(text=text, view="head", layer=1, head=2, n_layers=2, seed=5)
    expect(explore.stage.locator(".head-view .side")).to_contain_text("Queries 0–127 and keys 0–127 of 300.")
    with explore.redrawn():
        explore.stage.locator(".minimap").click(position={"x": 180, "y": 100})
    expect(explore.stage.locator(".head-view .side")).to_contain_text("keys 172–299 of 300.")
    query, key = (int(explore.terms()[side].split("(")[1][:-1]) for side in ("query", "key"))
    assert key >= 172
    pattern = untrained(text, seed=5)["encoder.1.self.pattern"][2]
    assert agrees(explore.terms()["weight"], pattern[query, key].item())
    board = explore.stage.locator(".head-board")
    for _ in range(key - 171):
        board.press("ArrowLeft")  # once more than there are cells in the window
    assert explore.terms()["key"] == "w82 (172)"


def test_a_part_that_is_dragged_larger_names_all_its_tokens(explore: ExplorePage) -> None:
    explore.untrained(text=" ".join(f"w{at}" for at in range(90)), view="head", n_layers=2, seed=5)
    assert explore.names_beside("x")[1] != "w1"
    explore.hover_cell(10, 10)
    explore.page.mouse.down()
    cell = explore.of_view("head", "view.size.cell")
    box = explore.stage.locator(".head-board").bounding_box()
    left, top = explore.of_view("head", "[view.size.left, view.size.top]")
    assert box is not None
    explore.page.mouse.move(box["x"] + left + 16.5 * cell, box["y"] + top + 16.5 * cell, steps=5)
    explore.page.mouse.up()
    names = [f"w{at}" for at in range(11, 16)]
    for axis in ("x", "y"):
        ticks = explore.stage.locator(f".head-board .{axis}tick text")
        expect(ticks.filter(has_text="w13")).to_have_count(1)
        assert set(names) <= set(ticks.all_text_contents())
    explore.stage.locator(".head-board [data-title='Reset axes']").click()
    expect(explore.stage.locator(".head-board .xtick text").nth(1)).not_to_have_text("w1")


def matrix_of_points(points: Locator) -> np.ndarray:
    """Where points lie, as far as it does not depend on the room that they have."""
    places = points.evaluate_all(
        "(all) => all.map((p) => [parseFloat(p.style.left), -parseFloat(p.style.top)])"
    )
    return shape_of(places)


def shape_of(points: list[list[float]]) -> np.ndarray:
    centred = np.array(points) - np.mean(points, axis=0)
    return centred / np.abs(centred).max()


def test_what_the_trace_does_not_have_is_computed_when_it_is_chosen(explore: ExplorePage) -> None:
    explore.open(view="head", layer=1, head=3, query=9, key=2)
    subject = subject_of(Inputs())
    side = explore.stage.locator(".head-view .side")
    table = theme.lookup_table("sequential")
    rare = ["length", "rollout", "flow", "queries and keys"]  # apart from what the trace has
    expect(explore.stage.locator("optgroup[label=More] option")).to_have_text(rare)
    for show in ("length", "rollout", "flow"):
        explore.choose("show", show)
        values = head_matrix(subject, subject.stacks[0], 1, 3, show)
        value = values[9, 2]
        expect(side.locator(".readout > div").last).to_have_text(re.compile(rf"^{show}.*\d"))
        assert agrees(explore.terms()[show], value)
        levels = 255 * values / (values.max() if show == "length" else 1)
        found = explore.heat(*values.shape)
        assert np.abs(found[..., :3] - table[np.floor(levels + 0.5).astype(int)]).max() <= 4
        expect(side).to_contain_text("(Kobayashi et al. 2020)" if show == "length" else "Zuidema 2020")
    link = explore.page.url
    explore.choose("show", "plane")
    points = explore.stage.locator(".head-view .point")
    expect(points).to_have_count(2 * len(subject.tokens["encoder"]))
    found = matrix_of_points(points)
    expected = head_quantity(Inputs(), "plane", "encoder.self", 1, 3, 0, 0)
    np.testing.assert_allclose(found, shape_of([*expected["queries"], *expected["keys"]]), atol=2e-3)
    expect(side).to_contain_text("principal components")
    explore.choose("show", "flow")
    explore.choose("stack", "decoder.cross")
    expect(side).to_contain_text("follows one text through the layers; choose a stack of self-attention.")
    assert explore.terms()["flow"] == "none"
    explore.open_link(link)
    expect(side.locator(".readout > div").last).to_have_text(re.compile(r"^flow.*\d"))
    assert agrees(explore.terms()["flow"], value)
