"""View 4, numbers: every number of the computation of one cell is the trace's."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from attention_lab.models import Trace
from tests.browser.explore_page import TEXT, ExplorePage, agrees, untrained

WORDS = TEXT.split()
LAYER, HEAD, QUERY, KEY = 1, 2, 7, 1
OPEN = {"view": "numbers", "layer": LAYER, "head": HEAD, "query": QUERY, "key": KEY, "seed": 5}


def arrays(trace: Trace) -> dict[str, np.ndarray]:
    at = f"encoder.{LAYER}.self."
    return {
        a.removeprefix(at): trace[a][HEAD].double().numpy()
        for a in trace
        if a.startswith(at) and "out" not in a
    }


def section(explore: ExplorePage, number: int) -> Locator:
    return explore.stage.locator(f".numbers-view section:nth-of-type({number})")


def assert_strip(row: Locator, values: np.ndarray) -> None:
    """A strip writes each channel rounded, and the whole number in its title."""
    found = row.locator(".channel").evaluate_all("(all) => all.map((td) => [td.textContent, td.title])")
    assert len(found) == len(values)
    for channel, ((shown, title), value) in enumerate(zip(found, values, strict=True)):
        name, whole = title.split(": ")
        assert name == f"channel {channel}"
        assert float(whole) == pytest.approx(value, abs=2e-6)
        if len(values) <= 16:
            assert abs(value) < 0.005 if shown == "≈0" else agrees(shown, value)


def assert_shows_cell(
    explore: ExplorePage, a: dict[str, np.ndarray], query: int, key: int, scale: float
) -> None:
    """All four steps, from the channels of q and k to z."""
    q, k = a["q"][query], a["k"][key]
    strips = section(explore, 1).locator("tr")
    assert_strip(strips.nth(0), q)
    assert_strip(strips.nth(1), k)
    assert_strip(strips.nth(2), q * k)
    assert agrees(section(explore, 1).locator(".total").last.inner_text().removeprefix("Σ = "), q @ k)

    dot, times, factor, *terms = section(explore, 2).locator("p").inner_text().split(" ")
    assert times == "×" and agrees(dot, q @ k) and agrees(factor, scale)
    if "bias" in a:
        plus, bias, named = terms[:3]
        assert (plus, named) == ("+", "bias)")
        assert agrees(bias.strip("(,"), a["bias"][query, key])
        terms = terms[3:]
    _, mask, *rest = terms
    assert mask == ("0" if np.isfinite(a["scores"][query, key]) else "(−∞,")
    assert agrees(rest[-1], a["scores"][query, key])

    n_shown = min(8, a["pattern"].shape[1])
    shown_keys = assert_softmax_row(explore, a["scores"][query], a["pattern"][query], key, n_shown)
    values = section(explore, 4).locator("tr").all()
    rest = a["pattern"].shape[1] - n_shown
    assert len(values) == n_shown + 1 + (rest > 0)
    for row, at in zip(values[:n_shown], shown_keys, strict=True):
        weight, rest_of_name = row.locator("th").inner_text().split(" × v of ")
        assert agrees(weight, a["pattern"][query, at])
        assert rest_of_name.strip("“”") == explore.stage.locator(f'.rows tr[data-key="{at}"] th').inner_text()
        assert_strip(row, a["pattern"][query, at] * a["v"][at])
    if rest > 0:
        others = np.delete(np.arange(a["pattern"].shape[1]), shown_keys)
        assert values[-2].locator("th").inner_text() == f"{rest} other keys"
        assert_strip(values[-2], a["pattern"][query, others] @ a["v"][others])
    assert_strip(values[-1], a["z"][query])
    np.testing.assert_allclose(a["pattern"][query] @ a["v"], a["z"][query], atol=1e-5)


def assert_softmax_row(
    explore: ExplorePage, scores: np.ndarray, pattern: np.ndarray, key: int, n_shown: int
) -> list[int]:
    """The row's largest weights, in order; returns their keys."""
    rows = section(explore, 3).locator("tbody tr[data-key]")
    keys = [int(row.get_attribute("data-key") or -1) for row in rows.all()]
    assert len(keys) == n_shown and key in keys
    # The chosen key may have taken the last place.
    assert [at for at in keys if at != key] == [
        at for at in np.argsort(-pattern, kind="stable") if at in keys and at != key
    ]
    for at, row in zip(keys, rows.all(), strict=True):
        score, exponential, weight, _ = row.locator("td").all_inner_texts()
        assert agrees(score, scores[at])
        assert agrees(exponential, np.exp(scores[at] - scores.max()))
        assert agrees(weight, pattern[at])
        assert row.get_attribute("class") == ("chosen" if at == key else None)
    if n_shown < len(pattern):
        others = section(explore, 3).locator("tbody tr").last
        assert others.locator("th").inner_text() == f"{len(pattern) - n_shown} other keys"
        assert agrees(others.locator(".weight").inner_text(), 1 - pattern[keys].sum())
    return keys


def test_small_numbers_stay_within_their_cells_and_no_column_is_cut(explore: ExplorePage) -> None:
    explore.open(view="numbers")
    expect(section(explore, 4).locator(".channel").filter(has_text="≈0")).not_to_have_count(0)
    cut = "(all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)"
    assert explore.stage.locator(":is(.numbers-view, .numbers-view .channel)").evaluate_all(cut) == []


@pytest.mark.parametrize("positions", ["rotary", "transformer-xl"])
def test_every_number_is_the_traces_under_every_scheme(explore: ExplorePage, positions: str) -> None:
    explore.untrained(positions=positions, **OPEN)
    assert_shows_cell(explore, arrays(untrained(seed=5, positions=positions)), QUERY, KEY, scale=0.25)
    turned = "both turned by their positions" in section(explore, 1).inner_text()
    assert turned == (positions == "rotary")


def test_another_query_and_key_are_chosen_from_the_lists(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    for role, at in (("query", 2), ("key", 9)):
        explore.stage.get_by_label(role, exact=True).select_option(str(at))
        expect(explore.stage.get_by_label(role, exact=True)).to_be_focused()
    options = explore.stage.get_by_label("key", exact=True).locator("option").all_inner_texts()
    assert options == [f"{at} {word}" for at, word in enumerate(WORDS)]
    assert_shows_cell(explore, arrays(untrained(seed=5)), 2, 9, scale=0.25)


@pytest.mark.parametrize(
    ("scale", "sizes"), [(0.5, {"d_head": 4}), (0.1, {"d_head": 32, "attention_scale": 0.1})]
)
def test_narrow_and_wide_heads_show_all_their_channels_and_the_scale_that_was_used(
    explore: ExplorePage, scale: float, sizes: dict[str, Any]
) -> None:
    explore.untrained(**sizes, **OPEN)
    assert_shows_cell(explore, arrays(untrained(seed=5, **sizes)), QUERY, KEY, scale)


def test_a_masked_cell_shows_the_mask_and_a_weight_of_nothing(explore: ExplorePage) -> None:
    explore.untrained(mask="causal", **{**OPEN, "query": 2, "key": 8})
    a = arrays(untrained(mask="causal", seed=5))
    assert_shows_cell(explore, a, 2, 8, scale=0.25)
    assert "(−∞, masked) = −∞" in section(explore, 2).inner_text()
    chosen = section(explore, 3).locator("tr.chosen td").all_inner_texts()
    assert chosen[:3] == ["−∞", "0.000", "0.000"]


def test_special_tokens_are_left_out_and_what_lies_on_them_is_said(explore: ExplorePage) -> None:
    text = "[CLS] the cat sat on the mat [SEP]"
    explore.untrained(text=text, seed=5, layer=1, head=2, query=0, key=7, view="head")
    pattern = arrays(untrained(text, seed=5))["pattern"]
    hidden, left = pattern[:, [0, 7]].sum(-1), pattern[:, 1:7].sum(-1)
    with explore.redrawn():  # the thumbnails are made anew
        explore.choose("special tokens", "renormalised")
    assert [name for name in explore.names_beside("x") if name] == text.split()[1:7]
    explore.hover_cell(3, 5)
    terms = explore.terms()
    divided, by, shown = terms["weight"].replace(" = ", " / ").split(" / ")
    assert agrees(divided, pattern[3, 5]) and agrees(by, left[3]) and agrees(shown, pattern[3, 5] / left[3])
    assert agrees(terms["on hidden"].removesuffix(" of the row"), hidden[3])
    explore.hover_cell(3, 7)
    assert explore.terms() == {"": "Special tokens are hidden."}
    with explore.quiet():
        explore.choose("view", "numbers")
    rows = section(explore, 3).locator("tbody tr")
    names = rows.locator("th").all_inner_texts()
    assert names[-1] == "2 special, hidden" and sorted(names[:-1]) == sorted(text.split()[1:7])
    query = int(explore.stage.locator("select[data-role=query]").input_value())
    assert section(explore, 3).locator("thead th").nth(4).inner_text().startswith("weight / ")
    for row in rows.all()[:-1]:
        key = int(row.get_attribute("data-key") or -1)
        assert agrees(row.locator(".weight").inner_text(), pattern[query, key])
        assert agrees(row.locator(".divided").inner_text(), pattern[query, key] / left[query])
    assert agrees(rows.last.locator(".weight").inner_text(), hidden[query])
    explore.choose("view", "lines")
    expect(explore.stage.locator(".tokens.keys button.gone")).to_have_count(2)
    expect(explore.stage.locator(".tokens.keys button").first).to_be_hidden()
    with explore.redrawn():
        explore.choose("special tokens", "hidden")
    explore.choose("view", "grid")
    expect(explore.stage.locator(".measure").first).to_contain_text("Special tokens are hidden: ")
    assert "special=hidden" in explore.page.url
