"""View 1, all heads: the thumbnails' pixels, their order and captions, and opening one."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attention_lab.models import load_model
from attention_lab.models.zoo.others.untrained import load as load_untrained
from attention_lab.viz_core import theme
from attention_lab.viz_core.measures import MEASURES, head_scores, map_of_heads, name_head
from attention_lab.viz_core.measures.one_head import HEAD_NAMES
from tests.browser.explore_page import TEXT, ExplorePage, agrees, untrained

SIZES = {"n_layers": 2, "n_heads": 4, "seed": 5}


def places(explore: ExplorePage) -> list[tuple[int, int, int, int, int]]:
    """(layer, head, left, top, width) of every thumbnail, in the order shown."""
    return explore.stage.locator(".grid-buttons").evaluate(
        """(all) => [...all.children].map((b) => [+b.dataset.layer, +b.dataset.head,
             parseFloat(b.style.left), parseFloat(b.style.top), parseFloat(b.style.width)])"""
    )


def thumbnail(
    pixels: np.ndarray, n_tokens: int, left: float, top: float, width: float, channels: int = 3
) -> np.ndarray:
    """The colours [query, key, rgb(a)] at the middle of each cell of a thumbnail."""
    middles = (np.arange(n_tokens) + 0.5) * (width - 12) / n_tokens + 6
    rows, columns = (middles + top).astype(int), (middles + left).astype(int)
    return pixels[np.ix_(rows, columns)][..., :channels].astype(int)


def test_thumbnails_and_their_order_are_those_of_the_trace(explore: ExplorePage) -> None:
    explore.untrained(**SIZES)
    every_thumbnail_has_the_colours_of_its_pattern(explore)
    sorting_orders_the_heads_by_the_value_written_under_them(explore)
    a_measure_on_random_tokens_is_computed_when_it_is_chosen(explore)


def every_thumbnail_has_the_colours_of_its_pattern(explore: ExplorePage) -> None:
    assert [place[:2] for place in places(explore)] == [
        [layer, head] for layer in range(2) for head in range(4)
    ]
    for scale in ("full", "row", "log"):
        explore.choose("scale", scale)
        assert_colours(explore, scale)


def assert_colours(explore: ExplorePage, scale: str) -> None:
    pixels, table = explore.pixels(".grid-board canvas"), theme.lookup_table("sequential")
    trace = untrained(n_layers=2, n_heads=4, seed=5)
    for layer, head, *box in places(explore):
        weights = np.rint(trace[f"encoder.{layer}.self.pattern"][head].double().numpy() * 255) / 255
        levels = {
            "full": 255 * weights,
            "row": 255 * weights / weights.max(-1, keepdims=True),
            "log": 255 * np.maximum(0, 1 + np.log10(np.maximum(weights, 1e-12)) / 4),
        }[scale]
        expected = table[np.floor(levels + 0.5 + 1e-4).astype(int)]
        found = thumbnail(pixels, len(TEXT.split()), *box)
        assert np.abs(found - expected).max() <= 4  # a neighbouring level: one step of the scale


def measured() -> dict[str, dict[tuple[int, int], float]]:
    """Every measure of every head, by the definitions on the screen, each of which another test checks."""
    trace = untrained(n_layers=2, n_heads=4, seed=5)
    found: dict[str, dict[tuple[int, int], float]] = {}
    for layer in range(2):
        pattern = trace[f"encoder.{layer}.self.pattern"].double().numpy()
        for name, values in head_scores(pattern, tokens=TEXT.split()).items():
            found.setdefault(name, {}).update({(layer, head): v for head, v in enumerate(values)})
    return found


def sorting_orders_the_heads_by_the_value_written_under_them(explore: ExplorePage) -> None:
    sort, told = explore.stage.locator("select[aria-label='sort by']"), explore.stage.locator(".measure")
    offered = sort.locator("option").evaluate_all("(all) => all.map((each) => each.value)")
    assert offered == ["layer", *measured(), *random_tokens()]
    for name, values in measured().items():
        (measure,) = (each for each in MEASURES if each.name == name)
        sort.select_option(name)
        best_first = sorted(values, key=values.__getitem__, reverse=not measure.smallest_first)
        assert [(layer, head) for layer, head, *_ in places(explore)] == best_first
        written = explore.written(".grid-board canvas")
        assert written[::2] == [f"L{layer} H{head}" for layer, head in best_first]
        for caption, place in zip(written[1::2], best_first, strict=True):
            assert caption.startswith(measure.title)
            assert agrees(caption.split()[-1], round(values[place], 4))
        for said in (measure.definition, measure.formula):
            expect(told).to_contain_text(said)
            assert said in str(sort.get_attribute("title"))


def random_tokens() -> dict[str, list[float]]:
    """What is measured when it is chosen: all heads of each text of random words, [layer * head]."""
    model = load_untrained(n_layers=2, n_heads=4, d_model=64, positions="sinusoidal", seed=5)
    texts = [model.repeated(seed) for seed in range(4)]
    patterns = [
        np.stack([model.trace(text.reading)[f"encoder.{layer}.self.pattern"].numpy() for layer in range(2)])
        for text in texts
    ]
    scores = [head_scores(pattern, repeat=(0, 25)) for pattern in patterns]
    names = [measure.name for measure in MEASURES if measure.needs == "repeat"]
    return {name: np.mean([each[name] for each in scores], axis=0).ravel().tolist() for name in names}


def a_measure_on_random_tokens_is_computed_when_it_is_chosen(explore: ExplorePage) -> None:
    told = explore.stage.locator(".measure")
    explore.stage.locator("select[aria-label='sort by']").select_option("random_duplicate")
    expect(told).to_contain_text("Means over 4 texts of 25 random tokens, read twice in a row.")
    values = random_tokens()["random_duplicate"]
    best_first = sorted(range(8), key=lambda at: -round(values[at], 4))
    assert [4 * layer + head for layer, head, *_ in places(explore)] == best_first
    written = explore.written(".grid-board canvas")[1::2]
    assert all(
        agrees(said.split()[-1], round(values[at], 4)) for said, at in zip(written, best_first, strict=True)
    )
    with explore.quiet():
        explore.stage.locator("select[aria-label='sort by']").select_option("random_previous")
    explore.trained("digits-classifier", view="map", sort="random_induction")
    expect(explore.stage.locator(".map-view .measure")).to_contain_text(
        "'digits-classifier' reads no texts; choose a model that does."
    )


def test_a_filter_dims_the_heads_that_do_not_pass_and_counts_those_that_do(explore: ExplorePage) -> None:
    explore.untrained(sort="previous", order="layer", **SIZES)
    values = measured()["previous"]
    assert [tuple(place[:2]) for place in places(explore)] == list(values)
    keep, told = explore.stage.locator("select[aria-label=filter]"), explore.stage.locator(".measure")
    limit = explore.stage.get_by_label("Limit of the filter")
    with explore.quiet():
        keep.select_option("top")
        assert limit.input_value() == "5"
        limit.fill("3")
        limit.press("Enter")
    expect(told).to_contain_text("3 of 8 heads pass.")
    best = sorted(values, key=values.__getitem__, reverse=True)[:3]
    assert_dimmed(explore, {place for place in values if place not in best})
    keep.select_option("most")
    middle = sorted(values.values())[4]
    assert float(limit.input_value()) == round(middle, 2)
    limit.fill("0.1")
    limit.press("Enter")
    few = {place for place, value in values.items() if value <= 0.1}
    expect(told).to_contain_text(f"{len(few)} of 8 heads pass.")
    assert_dimmed(explore, set(values) - few)
    explore.open_link(explore.page.url)
    assert (keep.input_value(), limit.input_value()) == ("most", "0.1")
    assert_dimmed(explore, set(values) - few)


def assert_dimmed(explore: ExplorePage, expected: set[tuple[int, int]]) -> None:
    """These thumbnails, and no others, are nearly the colour of the page."""
    pixels = explore.pixels(".grid-board canvas")
    trace, table = untrained(n_layers=2, n_heads=4, seed=5), theme.lookup_table("sequential")
    for layer, head, *box in places(explore):
        levels = np.rint(trace[f"encoder.{layer}.self.pattern"][head].double().numpy() * 255).astype(int)
        found = thumbnail(pixels, len(TEXT.split()), *box, channels=4)
        dimmed = (layer, head) in expected
        assert found[..., 3].max() <= 50 if dimmed else np.abs(found[..., :3] - table[levels]).max() <= 4
        button = explore.stage.locator(f'.grid-buttons button[data-layer="{layer}"][data-head="{head}"]')
        assert ("dimmed" in str(button.get_attribute("aria-label"))) == dimmed


def test_a_head_that_mostly_looks_one_way_is_named_unless_it_is_random(explore: ExplorePage) -> None:
    explore.trained("induction", view="grid")
    trace = load_model("induction").trace(explore.sentence.input_value())
    named = 0
    for layer, head, *_ in places(explore):
        pattern = trace[f"decoder.{layer}.self.pattern"][[head]].double().numpy()
        scores = head_scores(pattern, tokens=trace.tokens["decoder"])
        label = name_head({name: share[0] for name, share in scores.items()})
        button = explore.stage.locator(f'.grid-buttons button[data-layer="{layer}"][data-head="{head}"]')
        said = str(button.get_attribute("aria-label"))
        if label:
            named += 1
            assert said == f"Open layer {layer} head {head}, {label}"
        else:
            assert not any(label in said for label in HEAD_NAMES.values())
    assert named == 6
    explore.untrained(text="good morning", mask="causal", **SIZES)
    assert not any(
        label in explore.stage.locator(".grid-board").inner_html() for label in HEAD_NAMES.values()
    )
    expect(explore.stage.locator(".notice")).to_contain_text("random weights, no habits")


def test_shares_on_other_tokens_are_not_offered_for_one_token(explore: ExplorePage) -> None:
    explore.untrained(text="alone")
    options = explore.stage.locator("select[aria-label='sort by'] option")
    offered = options.evaluate_all("(all) => all.map((each) => each.value)")
    assert offered == ["layer", "entropy", "confidence", "mean_distance", *random_tokens()]


def test_the_map_places_like_heads_together_and_opens_them(explore: ExplorePage) -> None:
    explore.untrained(sort="previous", **SIZES)
    explore.choose("view", "map")
    heads = explore.stage.locator(".map-points button")
    expect(heads).to_have_count(8)
    trace = untrained(n_layers=2, n_heads=4, seed=5)
    patterns = np.stack([trace[f"encoder.{layer}.self.pattern"].numpy() for layer in range(2)])
    points = map_of_heads(patterns).points
    lefts, tops = heads.evaluate_all(
        "(all) => [all.map((b) => parseFloat(b.style.left)), all.map((b) => parseFloat(b.style.top))]"
    )
    found = np.stack([lefts, -np.array(tops)], 1)
    scale = np.ptp(found, axis=0) / np.ptp(points, axis=0)
    assert scale[0] == pytest.approx(scale[1], rel=1e-3)  # one unit for both axes
    np.testing.assert_allclose((found - found[0]) / scale[0], points - points[0], atol=1e-3)
    value = measured()["previous"][1, 2]
    other = explore.stage.locator('.map-points button[data-layer="1"][data-head="2"]')
    title = str(other.get_attribute("title"))
    assert title.startswith("Layer 1 head 2") and agrees(title.split()[-1], round(value, 4))
    with explore.quiet():
        explore.choose("view", "grid")
        explore.choose("view", "map")  # it was computed once
        other.click()
    assert explore.chosen("view") == ["head"]
    assert (explore.chosen("layer"), explore.chosen("head")) == (["1"], ["2"])


def test_tokens_stand_beside_the_heads_where_each_has_a_line(explore: ExplorePage) -> None:
    names = explore.stage.locator(".grid-names")
    explore.untrained(text="one two three", **SIZES)
    heads = places(explore)
    n_rows, n_columns = (len({head[side] for head in heads}) for side in (3, 2))
    expect(names.locator(".query")).to_have_text(["one", "two", "three"] * n_rows)
    expect(names.locator(".key")).to_have_text(["one", "two", "three"] * n_columns)
    (_, _, left, top, width), *_ = heads
    boxes = [each.bounding_box() for each in names.locator(".query").all()[:3]]
    board = explore.stage.locator(".grid-board").bounding_box()
    for at, box in enumerate(boxes):  # each beside the middle of its row
        middle = top + 6 + (at + 0.5) * (width - 12) / 3
        assert box["y"] + box["height"] / 2 - board["y"] == pytest.approx(middle, abs=1)
        assert box["x"] + box["width"] - board["x"] <= left + 1
    explore.untrained(text=" ".join(["word"] * 60), **SIZES)
    expect(names.locator("span")).to_have_count(0)
