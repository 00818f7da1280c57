"""View 1, all heads: the thumbnails' pixels, their order and captions, and opening one."""

import re

import numpy as np

from tests.browser.explore_page import TEXT, ExplorePage, agrees, untrained
from viz_core import theme

SIZES = {"n_layers": 2, "n_heads": 4, "seed": 5}


def places(explore: ExplorePage) -> list[tuple[int, int, int, int, int]]:
    """(layer, head, left, top, width) of every thumbnail, in the order shown."""
    return explore.stage.locator(".grid-buttons").evaluate(
        """(all) => [...all.children].map((b) => [+b.dataset.layer, +b.dataset.head,
             parseFloat(b.style.left), parseFloat(b.style.top), parseFloat(b.style.width)])"""
    )


def thumbnail(pixels: np.ndarray, n_tokens: int, left: float, top: float, width: float) -> np.ndarray:
    """The colours [query, key, rgb] at the middle of each cell of a thumbnail."""
    middles = (np.arange(n_tokens) + 0.5) * (width - 12) / n_tokens + 6
    rows, columns = (middles + top).astype(int), (middles + left).astype(int)
    return pixels[np.ix_(rows, columns)][..., :3]


def test_every_thumbnail_has_the_colours_of_its_pattern(explore: ExplorePage) -> None:
    explore.untrained(**SIZES)
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
        assert np.abs(found.astype(int) - expected).max() <= 4  # a neighbouring level: one step of the scale


def measures(pattern: np.ndarray) -> dict[str, np.ndarray]:
    """What heads are sorted by, of patterns [head, query, key]."""
    positions = np.arange(pattern.shape[-1])
    return {
        "entropy": -(pattern * np.log(pattern)).sum(-1).mean(-1),
        "distance": (pattern * abs(positions[:, None] - positions)).sum(-1).mean(-1),
        "previous": np.diagonal(pattern, -1, 1, 2).mean(-1),
        "first": pattern[:, 1:, 0].mean(-1),
        "same": np.diagonal(pattern, 0, 1, 2)[:, 1:].mean(-1),
    }


def test_sorting_orders_the_heads_by_the_value_written_under_them(explore: ExplorePage) -> None:
    explore.untrained(**SIZES)
    trace = untrained(n_layers=2, n_heads=4, seed=5)
    of_layer = [measures(trace[f"encoder.{layer}.self.pattern"].double().numpy()) for layer in range(2)]
    for by in ("entropy", "distance", "previous", "first", "same"):
        explore.choose("sort by", by)
        values = {(layer, head): of_layer[layer][by][head] for layer in range(2) for head in range(4)}
        best_first = sorted(values, key=values.__getitem__, reverse=by != "entropy")
        assert [(layer, head) for layer, head, *_ in places(explore)] == best_first
        written = explore.written(".grid-board canvas")
        assert written[::2] == [f"L{layer} H{head}" for layer, head in best_first]
        for caption, place in zip(written[1::2], best_first, strict=True):
            name, shown = caption.split()
            assert name == by
            assert agrees(shown, round(values[place], 4))


def test_a_click_opens_that_head(explore: ExplorePage) -> None:
    explore.untrained(**SIZES)
    explore.stage.locator('.grid-buttons button[data-layer="1"][data-head="2"]').click()
    assert explore.chosen("view") == ["head"]
    assert (explore.chosen("layer"), explore.chosen("head")) == (["1"], ["2"])
    row = untrained(n_layers=2, n_heads=4, seed=5)["encoder.1.self.pattern"][2, 0]
    key = int(explore.terms()["key"].split("(")[1].rstrip(")"))
    assert agrees(explore.terms()["weight"], row[key].item())


def test_a_head_that_mostly_looks_one_way_is_named(explore: ExplorePage) -> None:
    explore.untrained(text="good morning", mask="causal", **SIZES)
    pattern = untrained("good morning", mask="causal", seed=5)["encoder.0.self.pattern"].numpy()
    names = [caption for caption in explore.written(".grid-board canvas") if "-token" in caption]
    assert len(names) == 8  # the second of two words gives at least half to one of them
    for head in range(4):
        shares = {"first": pattern[head, 1, 0], "same": pattern[head, 1, 1]}
        side = max(shares, key=shares.__getitem__)
        name, share = re.fullmatch(r"(\w+)-token (\d\.\d\d)", names[head]).groups()
        assert name in {side, "previous" if side == "first" else side}
        assert agrees(share, shares[side])
        button = explore.stage.locator(f'.grid-buttons button[data-layer="0"][data-head="{head}"]')
        assert button.get_attribute("aria-label") == f"Open layer 0, head {head}, {names[head]}"


def test_shares_on_other_tokens_are_not_offered_for_one_token(explore: ExplorePage) -> None:
    explore.untrained(text="alone")
    offered = [
        button.get_attribute("data-value") for button in explore.choice("sort by").locator("button").all()
    ]
    assert offered == ["layer", "entropy", "distance"]


def test_show_all_heads_leads_to_the_grid(explore: ExplorePage) -> None:
    explore.untrained(view="numbers")
    explore.stage.get_by_role("button", name="show all heads").click()
    assert explore.chosen("view") == ["grid"]
    assert len(places(explore)) == 8
