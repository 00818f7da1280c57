"""View 3, lines: which are drawn for which tokens and heads, read from the canvas and from the readout."""

import re

import numpy as np
from playwright.sync_api import Locator, expect

from attention_lab.viz_core import theme
from tests.browser.explore_page import TEXT, ExplorePage, agrees, untrained

WORDS = TEXT.split()
FAINTEST = 0.02
OPEN = {"view": "lines", "layer": 1, "head": 2, "seed": 5}


def pattern() -> np.ndarray:
    """[head, query, key] of the open layer."""
    return untrained(seed=5)["encoder.1.self.pattern"].numpy()


def token(explore: ExplorePage, side: str, at: int) -> Locator:
    return explore.stage.locator(f'.tokens.{side} button[data-at="{at}"]')


def ends_of_lines(explore: ExplorePage) -> tuple[set[int], set[int]]:
    """(queries, keys) at which a line begins or ends."""
    left, right = explore.ends_of_lines(len(WORDS))
    return set(np.flatnonzero(left).tolist()), set(np.flatnonzero(right).tolist())


def drawn(weights: np.ndarray) -> set[int]:
    return set(np.flatnonzero(weights >= FAINTEST).tolist())


def test_a_token_under_the_pointer_or_kept_by_a_click_shows_only_its_own_lines(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    weights = pattern()[2]
    every = drawn(weights.max(1)), drawn(weights.max(0))
    assert ends_of_lines(explore) == every
    for query in (0, 7):
        token(explore, "queries", query).hover()
        assert ends_of_lines(explore) == ({query}, drawn(weights[query]))
    for key in (1, 8):
        token(explore, "keys", key).hover()
        assert ends_of_lines(explore) == (drawn(weights[:, key]), {key})
    for pressed, lines in (("true", (drawn(weights[:, 8]), {8})), ("false", every)):
        token(explore, "keys", 8).click()
        explore.sentence.hover()
        assert ends_of_lines(explore) == lines
        assert token(explore, "keys", 8).get_attribute("aria-pressed") == pressed
    token(explore, "queries", 3).click()
    explore.choose("layer", 0)
    expected = untrained(seed=5)["encoder.0.self.pattern"][2, 3].numpy()
    assert ends_of_lines(explore) == ({3}, drawn(expected))


def test_the_readout_and_shades_tell_what_a_token_looks_at_most_and_what_looks_at_it(
    explore: ExplorePage,
) -> None:
    explore.untrained(heads="0.2", **OPEN)
    for side, at, heading, verb in [
        ("queries", 7, "it looks at", "looks at"),
        ("keys", 1, "cat is looked at by", "gets most from"),
    ]:
        token(explore, side, at).hover()
        assert explore.stage.locator(".readout p").inner_text() == heading
        mean = pattern()[[0, 2]].mean(0)
        row = mean[at] if side == "queries" else mean[:, at]
        notice = explore.stage.locator(".notice").inner_text()  # the headline speaks of the same token
        assert notice.startswith(f"“{WORDS[at]}” {verb}")
        assert f"“{WORDS[int(row.argmax())]}”" in notice
        assert agrees(re.findall(r"\d\.\d{3}", notice)[0], row.max())
        for head in (0, 2):
            weights = pattern()[head, at] if side == "queries" else pattern()[head, :, at]
            shown = [part.rsplit(" ", 1) for part in explore.terms()[f"L1 H{head}"].split(", ")]
            best = np.argsort(-weights)[:3]
            assert [word for word, _ in shown] == [WORDS[other] for other in best]
            assert all(agrees(number, weights[other]) for (_, number), other in zip(shown, best, strict=True))
    # tokens on the other side are shaded by the weight that they get
    token(explore, "queries", 4).hover()
    shares = explore.stage.locator(".tokens.keys").evaluate(
        "(keys) => [...keys.children].map((key) => parseFloat(key.style.getPropertyValue('--share')))"
    )
    weights = pattern()[[0, 2], 4]
    expected = 100 * np.where(weights >= FAINTEST, weights, 0).mean(0)
    np.testing.assert_allclose(shares, expected, atol=0.51)


def test_chips_put_heads_into_the_set_and_take_them_out(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    token(explore, "queries", 7).click()
    for pressed, heads in [(0, [0, 2]), (3, [0, 2, 3]), (2, [0, 3]), (3, [0]), (0, [0])]:  # the last stays
        explore.choose("head", pressed)
        assert explore.chosen("head") == [str(head) for head in heads]
        assert set(explore.terms()) == {f"L1 H{head}" for head in heads}
        assert ends_of_lines(explore)[1] == drawn(pattern()[heads, 7].max(0))


def test_eight_heads_have_lines_in_eight_colours(explore: ExplorePage) -> None:
    # One word, so every head's only weight is 1 and its line is opaque.
    explore.untrained(text="alone", n_heads=8, view="lines", heads="0.1.2.3.4.5.6.7")
    for heads in (range(8), range(7)):
        middle = explore.pixels(".lines-board canvas")[:, 40]
        seen = {f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue, alpha in middle if alpha == 255}
        colours = [colour.lower() for colour in theme.HEAD_COLOURS[:8]]
        assert [head for head, colour in enumerate(colours) if colour in seen] == list(heads)
        explore.choose("head", 7)


def sums(explore: ExplorePage) -> dict[tuple[int, int], str]:
    """What is written beside each head's bar, from the top."""
    rows = explore.stage.locator(".sum-rows tr")
    expect(rows.first).to_be_visible()
    return {
        (int(row.get_attribute("data-layer") or -1), int(row.get_attribute("data-head") or -1)): row.locator(
            ".weight"
        ).inner_text()
        for row in rows.all()
    }


def test_sums_over_chosen_tokens_are_those_of_the_trace(explore: ExplorePage) -> None:
    explore.untrained(seed=5, view="sums", queries="1-3", keys="4")
    trace = untrained(seed=5)

    def expected(keys: list[int]) -> dict[tuple[int, int], float]:
        rows = {layer: trace[f"encoder.{layer}.self.pattern"][:, 1:4].double() for layer in range(2)}
        found = {layer: each[:, :, keys].sum(-1).mean(-1).tolist() for layer, each in rows.items()}
        return {(layer, head): value for layer, each in found.items() for head, value in enumerate(each)}

    def assert_shown(keys: list[int], heads: list[tuple[int, int]]) -> None:
        found, all_heads = sums(explore), expected(keys)
        assert list(found) == sorted(heads, key=lambda head: -all_heads[head])
        assert all(agrees(shown, all_heads[head]) for head, shown in found.items())
        mean = sum(all_heads[head] for head in heads) / len(heads)
        total = explore.stage.locator(".sum-total")
        assert agrees(total.locator("strong").inner_text(), mean)
        expect(total).to_contain_text(f"on average over 3 queries and {len(heads)} heads.")

    assert_shown([4], list(expected([4])))
    with explore.redrawn():
        explore.choose("keys", 6)
    assert_shown([4, 6], list(expected([4])))
    assert "keys=4.6" in explore.page.url
    with explore.redrawn():
        explore.choice("keys").locator('button[data-value="8"]').click(modifiers=["Shift"])
    assert "keys=4.6-8" in explore.page.url
    with explore.quiet():
        explore.choose("heads", "layer")
        explore.choose("layer", 1)
    assert_shown([4, 6, 7, 8], [(1, head) for head in range(4)])
    with explore.quiet():
        explore.choose("heads", "heads")
        explore.choose("head", 2)
    assert "over=heads" in explore.page.url
    heads = [int(head) for head in explore.chosen("head")]
    assert_shown([4, 6, 7, 8], [(1, head) for head in heads])
    explore.stage.locator(".sum-rows th button").first.click()
    assert explore.chosen("view") == ["head"]
