import re

import numpy as np
import pytest

from viz_core import computation_figure, theme, top_tokens
from viz_core.labels import tick

KEYS = ["the", "cat", "<b>", "the"]


@pytest.fixture
def head(rng):
    """The numbers of one query over four keys, the last of them masked."""
    q, keys, values = rng.normal(size=6), rng.normal(size=(4, 6)), rng.normal(size=(4, 5))
    scores = np.where([True, True, True, False], keys @ q * 0.4, -np.inf)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return {"q": q, "k": keys, "scores": scores, "weights": weights, "values": values, "z": weights @ values}


def figure(head, key_index=1, **options):
    return computation_figure(
        head["q"],
        head["k"][key_index],
        head["scores"],
        head["weights"],
        head["values"],
        head["z"],
        scale=options.pop("scale", 0.4),
        key_index=key_index,
        query_token="it",
        key_tokens=KEYS,
        **options,
    )


def panels(fig):
    """The heat maps of query, key, product and values, and the bars of scores and weights."""
    heat = [trace for trace in fig.data if trace.type == "heatmap"]
    bars = [trace for trace in fig.data if trace.type == "bar"]
    return heat, bars


def test_every_number_is_there(head):
    (q, k, product, values), (scores, weights) = panels(figure(head))
    np.testing.assert_allclose(q.z, head["q"][None], rtol=1e-6)
    np.testing.assert_allclose(k.z, head["k"][1][None], rtol=1e-6)
    np.testing.assert_allclose(product.z, (head["q"] * head["k"][1])[None], rtol=1e-6)
    assert np.array_equal(scores.y[:3], head["scores"][:3]) and np.isnan(scores.y[3])
    assert np.array_equal(weights.y, head["weights"])
    np.testing.assert_allclose(values.z[:4], head["weights"][:, None] * head["values"], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(values.z[4], head["z"], rtol=1e-6)
    said = [trace.text for trace in figure(head).data if trace.type == "scatter" and trace.mode == "text"]
    assert said[0][3] == "−∞", "a masked score has no bar, but a number"


def test_the_rows_add_up_to_z_on_one_scale(head):
    (*strips, values), _ = panels(figure(head))
    assert np.allclose(values.z[:4].sum(0), values.z[4], atol=1e-6)
    assert values.zmax == -values.zmin == pytest.approx(np.abs(values.z).max())
    for strip in strips:
        assert strip.zmax == -strip.zmin == pytest.approx(np.abs(strip.z).max())
    titles = {note.text for note in figure(head).layout.annotations}
    assert "<b>weight × value; the rows add up to z</b>" in titles


def test_the_sentence_computes_the_weight(head):
    text = sentence(figure(head))
    dot = head["q"] @ head["k"][1]
    assert f"sum of the products {tick(dot)} × scale 0.4 = {tick(dot * 0.4)} = score" in text
    assert text.endswith(f"weight {tick(head['weights'][1])}")


def test_a_masked_key_and_a_bias_are_told(head):
    assert "→ masked: score −∞" in sentence(figure(head, key_index=3))
    assert "bias" not in sentence(figure(head)) + sentence(figure(head, key_index=3))
    masked = head["q"] @ head["k"][3] * 0.4 - 0.5
    assert f"+ bias −0.5 = {tick(masked)} → masked: score −∞" in sentence(
        figure(head, key_index=3, bias=-0.5)
    )
    head["scores"] = head["scores"] + 0.75
    told = f"+ bias 0.75 = {tick(head['scores'][1])} = score →"
    assert told in sentence(figure(head, bias=0.75))
    assert told in sentence(figure(head))  # where nobody says it, the difference


def test_a_small_bias_is_not_rounded_away(head):
    head["scores"] = head["scores"] + 1e-5
    assert f"+ bias 10⁻⁵ = {tick(head['scores'][1])} = score" in sentence(figure(head, bias=1e-5))
    assert "+ bias 0 =" in sentence(figure(head, bias=0.0))


def sentence(fig):
    words = [
        note.text for note in fig.layout.annotations if "</b>" in note.text and "<b>" not in note.text[:3]
    ]
    return re.sub(r"\s+", " ", re.sub("</?b>", "", " ".join(words)))


@pytest.mark.parametrize("dark", [False, True])
def test_queries_keys_and_values_wear_their_colours(head, dark):
    p, fig = theme.palette(dark), figure(head, dark=dark)
    colours = {note.text: note.font.color for note in fig.layout.annotations}
    assert colours["<b>query “it”</b>"] == p["query"]
    assert colours["<b>key “cat”</b>"] == p["key"]
    assert colours["<b>weight × value; the rows add up to z</b>"] == p["value"]
    for bars in panels(fig)[1]:
        assert [colour == p["key"] for colour in bars.marker.color] == [False, True, False, False]


@pytest.mark.parametrize(
    ("normalizer", "title", "words"),
    [
        ("softmax", "their softmax: weights", "softmax over the row → weight"),
        (
            "softmax-plus-one",
            "their softmax plus one: weights",
            "softmax over the row and one more score of 0 →",
        ),
        (
            "sigmoid",
            "their sigmoid: weights",
            "sigmoid of it less ln of how many keys the row has open → weight",
        ),
    ],
)
def test_what_makes_the_weights_is_said(head, normalizer, title, words):
    notes = [note.text for note in figure(head, normalizer=normalizer).layout.annotations]
    assert any(title in note for note in notes)
    assert words in re.sub("\\s+|<br>", " ", " ".join(notes))


def test_tokens_are_shown_as_typed(head):
    fig = figure(head, key_index=2)
    _, (scores, _) = panels(fig)
    assert list(scores.customdata) == ["the", "cat", "&lt;b&gt;", "the₂"]
    assert "<b>key “&lt;b&gt;”</b>" in [note.text for note in fig.layout.annotations]


def test_numbers_are_written_into_cells_while_they_fit(head, rng):
    assert panels(figure(head))[0][0].text[0][0] == f"{head['q'][0]:.2f}".replace("-", "−")
    wide = {**head, "q": rng.normal(size=64), "k": rng.normal(size=(4, 64))}
    assert panels(figure(wide))[0][0].text is None


def test_the_chosen_key_stands_out_among_many(rng):
    n = 300
    fig = computation_figure(
        np.ones(2),
        np.ones(2),
        np.zeros(n),
        np.full(n, 1 / n),
        np.ones((n, 2)),
        np.ones(2),
        scale=1.0,
        key_index=151,
        query_token="it",
        key_tokens=[f"w{i}" for i in range(n)],
    )
    _, (scores, _) = panels(fig)
    assert scores.customdata[151] == "w151"
    assert [at for at, colour in enumerate(scores.marker.color) if colour == theme.palette()["key"]] == [151]
    assert fig.layout.height < 1600


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"q": np.ones((6, 6))}, r"q has shape \(6, 6\), but must be \[channel\]"),
        ({"q": np.ones(5)}, "k has length 6, q 5; take both from the same head"),
        ({"weights": np.ones(3)}, "pattern_row has length 3, scores_row 4"),
        ({"values": np.ones((2, 5))}, "values has length 2, scores_row 4"),
        ({"z": np.ones(2)}, "z has length 2, values' channels 5"),
        ({"z": np.full(5, np.nan)}, "z holds 5 values that are NaN or infinite"),
        ({"scores": np.full(4, np.nan)}, "scores_row .* holds 4 values that are NaN"),
        (
            {"weights": np.full(4, 2.0)},
            "pattern_row has values from 2 to 2, but must lie in 0..1",
        ),
    ],
)
def test_bad_input_is_named(head, changed, message):
    with pytest.raises(ValueError, match=message):
        figure({**head, **changed})


def test_a_key_out_of_range_is_named(head):
    with pytest.raises(ValueError, match="key_index=4 is out of range; choose 0 to 3"):
        computation_figure(
            head["q"],
            head["k"][0],
            head["scores"],
            head["weights"],
            head["values"],
            head["z"],
            scale=1.0,
            key_index=4,
            query_token="it",
            key_tokens=KEYS,
        )


PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.05]])
TOKENS = [["le", "la", "<b>"], ["chat", "", "le"]]


def charts(fig):
    return [trace for trace in fig.data if trace.type == "bar"]


def test_every_candidate_has_a_bar_with_its_token_and_probability():
    fig = top_tokens(PROBABILITIES, TOKENS, steps=["after <bos>", "after le"])
    first, second = charts(fig)
    assert np.array_equal([first.y, second.y], PROBABILITIES)
    assert list(first.customdata) == ["le", "la", "&lt;b&gt;"]
    assert list(fig.layout.xaxis2.ticktext) == ["chat", "∅", "le"]
    titles = [note.text for note in fig.layout.annotations]
    assert titles[-2:] == ["<b>after &lt;bos&gt;</b>", "<b>after le</b>"]
    assert [list(trace.text) for trace in fig.data if trace.type == "scatter"] == [
        ["0.700", "0.200", "0.100"],
        ["0.500", "0.300", "0.050"],
    ]


def test_steps_have_their_numbers_and_one_scale():
    fig = top_tokens(PROBABILITIES, TOKENS)
    assert [note.text for note in fig.layout.annotations][-2:] == ["<b>step 0</b>", "<b>step 1</b>"]
    for axis in (fig.layout.yaxis, fig.layout.yaxis2):
        assert axis.range[0] == 0 and 1 <= axis.range[1] < 1.2 and axis.title.text == "probability"


@pytest.mark.parametrize("dark", [False, True])
def test_the_chosen_candidate_stands_out(dark):
    first, second = charts(top_tokens(PROBABILITIES, TOKENS, chosen=[1, None], dark=dark))
    accent = theme.palette(dark)["accent"]
    assert [colour == accent for colour in first.marker.color] == [False, True, False]
    assert second.marker.color == accent, "where none was taken, none is faint"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("probabilities", "tokens", "options", "message"),
    [
        (np.ones(3), TOKENS, {}, r"must be \[step, candidate\]"),
        (PROBABILITIES * 10, TOKENS, {}, "from 0.5 to 7, but must lie in 0..1"),
        (
            PROBABILITIES,
            TOKENS[:1],
            {},
            "tokens have 1 steps, probabilities are 2 x 3; pass one token for each",
        ),
        (PROBABILITIES, [["a", "b", "c"], ["a"]], {}, "tokens have a step of 1, probabilities are 2 x 3"),
        (PROBABILITIES, TOKENS, {"steps": ["x"]}, "1 names in steps for 2 steps; pass one for each"),
        (PROBABILITIES, TOKENS, {"chosen": [0]}, "1 entries in chosen for 2 steps"),
        (PROBABILITIES, TOKENS, {"chosen": [0, 3]}, "chosen=3 is out of range; choose 0 to 2"),
        (
            np.ones((5000, 1)),
            [["a"]] * 5000,
            {},
            "5000 bars are more than the 4096 a figure holds; show fewer",
        ),
    ],
)
def test_bad_input_is_named_curves(probabilities, tokens, options, message):
    with pytest.raises(ValueError, match=message):
        top_tokens(probabilities, tokens, **options)
