"""Attention over a picture: each weight over its own part, in a figure that stands alone."""

import numpy as np
import pytest

from attention_lab.viz_core import attention_heatmap, attention_picture, rollout, theme
from attention_lab.viz_core._checks import MAX_TOKENS

WORDS = ["the", "cat", "saw", "the", "<b>dog</b>"]


@pytest.fixture
def pattern(rng):
    weights = rng.random((5, 5))
    return weights / weights.sum(-1, keepdims=True)


def heat(fig):
    return fig.data[0]


def test_queries_are_rows_and_keys_are_columns(rng):
    weights = rng.random((2, 3))
    fig = attention_heatmap(weights, ["le", "chat"], ["the", "big", "cat"])
    assert np.array_equal(heat(fig).z, weights.astype(np.float32))
    assert list(heat(fig).y) == ["le", "chat"]
    assert list(heat(fig).x) == ["the", "big", "cat"]
    assert (fig.layout.yaxis.title.text, fig.layout.xaxis.title.text) == ("query", "key")
    assert fig.layout.yaxis.autorange == "reversed"  # the first query is on top
    assert fig.layout.yaxis.title.font.color == theme.palette()["query"]


def test_tokens_are_categories_unique_and_shown_as_typed(pattern):
    fig = attention_heatmap(pattern, WORDS)
    assert list(heat(fig).x) == ["the", "cat", "saw", "the₂", "&lt;b&gt;dog&lt;/b&gt;"]
    for axis in (fig.layout.xaxis, fig.layout.yaxis):
        assert axis.type == "category"  # else plotly would read "1" as a number and "2024-01-01" as a date
        assert list(axis.ticktext) == list(axis.tickvals) == list(heat(fig).x)


def test_the_scale_is_fixed_to_0_1(pattern):
    trace = heat(attention_heatmap(pattern * 1.0, WORDS))
    assert (trace.zmin, trace.zmax) == (0, 1)
    assert trace.colorbar.title.text == "attention weight"
    assert [list(stop) for stop in trace.colorscale] == theme.SEQUENTIAL


def test_per_row_each_row_reaches_1_and_zeros_stay():
    weights = np.array([[0.1, 0.4, 0.5], [0, 0, 0]])
    trace = heat(attention_heatmap(weights, ["a", "b"], ["x", "y", "z"], scale="row"))
    assert np.allclose(trace.z, [[0.2, 0.8, 1], [0, 0, 0]])
    assert np.allclose(trace.customdata[..., 0], weights)  # the pointer still shows the weights
    assert "largest of its row" in trace.colorbar.title.text


def test_log_shows_powers_of_ten_down_to_the_floor():
    weights = np.array([[1, 0.01, 0, 1e-9]])
    trace = heat(attention_heatmap(weights, ["a"], list("wxyz"), scale="log"))
    assert np.allclose(trace.z, [[0, -2, -4, -4]])
    assert list(trace.colorbar.tickvals) == [-4, -3, -2, -1, 0]
    assert list(trace.colorbar.ticktext) == ["≤ 0.0001", "0.001", "0.01", "0.1", "1"]
    assert np.allclose(trace.customdata[..., 0], weights)


@pytest.mark.parametrize(("quantity", "word"), [("scores", "score"), ("dot products", "dot product")])
@pytest.mark.parametrize("dark", [False, True])
def test_signed_numbers_are_centred_on_0(quantity, word, dark):
    trace = heat(
        attention_heatmap(np.array([[-3.0, 1.0], [2.0, 0.5]]), ["a", "b"], quantity=quantity, dark=dark)
    )
    assert (trace.zmin, trace.zmax) == (-3, 3)
    assert [list(stop) for stop in trace.colorscale] == theme.colour_scale("diverging", dark)
    assert trace.colorbar.title.text == word
    assert f"{word} <b>%{{customdata[0]" in trace.hovertemplate


def test_masked_cells_are_blank_and_say_so():
    scores = np.array([[1.5, -np.inf], [0.5, -2.0]])
    fig = attention_heatmap(scores, ["a", "b"], quantity="scores")
    numbers, masked = fig.data
    assert np.array_equal(np.isnan(numbers.z), [[False, True], [False, False]])
    assert (numbers.zmin, numbers.zmax) == (-2, 2)
    assert np.array_equal(masked.z == 0, [[False, True], [False, False]])
    assert np.isnan(masked.z).sum() == 3
    assert "masked" in masked.hovertemplate
    assert numbers.hoverongaps is False and masked.hoverongaps is False
    assert "grey: masked" in numbers.colorbar.title.text


def test_all_scores_equal_or_masked_still_have_a_scale():
    assert heat(attention_heatmap(np.zeros((2, 2)), ["a", "b"], quantity="scores")).zmax == 1
    assert heat(attention_heatmap(np.full((1, 2), -np.inf), ["a"], ["b", "c"], quantity="scores")).zmax == 1


@pytest.mark.parametrize(
    ("length", "least", "most"), [(12, 12, 12), (64, 64, 64), (200, 30, 80), (1024, 30, 80)]
)
def test_every_token_is_labelled_while_there_is_room(length, least, most):
    fig = attention_heatmap(np.full((length, length), 1 / length), [f"w{i}" for i in range(length)])
    assert least <= len(fig.layout.yaxis.tickvals) <= most
    assert fig.layout.yaxis.tickvals[0] == "w0"
    assert fig.layout.yaxis.tickfont.size >= 10
    assert fig.layout.width < 1400


def test_margins_hold_the_longest_label():
    def left(word):
        return attention_heatmap(np.ones((1, 1)), [word]).layout.margin.l

    assert left("short") < left("internationaux") < left("国際" * 7)


@pytest.mark.parametrize("dark", [False, True])
def test_the_figure_wears_the_template(pattern, dark):
    fig = attention_heatmap(pattern, WORDS, dark=dark, title="head 3 <b>")
    assert fig.layout.template.layout.paper_bgcolor == theme.palette(dark)["background"]
    assert fig.layout.title.text == "head 3 &lt;b&gt;"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("matrix", "tokens", "options", "message"),
    [
        (
            np.ones(3),
            list("abc"),
            {},
            r"matrix has shape \(3,\), but must be \[query, key\]; index or reshape",
        ),
        (np.ones((0, 2)), [], {}, r"no axis may be empty"),
        (np.ones((2, 3)) / 3, list("ab"), {}, r"2 key tokens for 3 key positions; .*\(key_tokens, if keys"),
        (np.full((2, 2), np.nan), list("ab"), {}, "4 values that are NaN or infinite"),
        (np.eye(2) * 3, list("ab"), {}, r"from 0 to 3, but must lie in 0..1; pass what softmax gives"),
        (np.eye(2), list("ab"), {"scale": "auto"}, 'scale="auto" is unknown; choose "0..1", "row" or "log"'),
        (
            np.eye(2),
            list("ab"),
            {"quantity": "logits"},
            'quantity="logits" is unknown; choose one of "pattern"',
        ),
        (
            np.eye(2),
            list("ab"),
            {"quantity": "scores", "scale": "log"},
            "is for weights in 0..1, not for scores",
        ),
        (
            np.zeros((MAX_TOKENS + 1, 1)),
            ["a"] * (MAX_TOKENS + 1),
            {},
            "2049 query positions are more than the 2048 a figure holds; cut the text",
        ),
    ],
)
def test_bad_input_is_named(matrix, tokens, options, message):
    with pytest.raises(ValueError, match=message):
        attention_heatmap(matrix, tokens, **options)


def test_shares_of_a_rollout_are_named_so(pattern):
    trace = heat(attention_heatmap(rollout(pattern[None, None])[-1], WORDS, quantity="share"))
    assert np.allclose(trace.z, 0.5 * pattern + 0.5 * np.eye(5), atol=1e-6)
    assert (trace.zmin, trace.zmax, trace.colorbar.title.text) == (0, 1, "share of the input token")
    assert "share <b>%{customdata[0]" in trace.hovertemplate
    rows = heat(attention_heatmap(np.eye(2), ["a", "b"], quantity="share", scale="row"))
    assert rows.colorbar.title.text == "share / largest of its row"
    flow = heat(attention_heatmap(np.eye(2), ["a", "b"], quantity="flow", scale="log"))
    assert flow.colorbar.title.text == "flow from the input token, logarithmic"


def test_lengths_begin_at_0_and_end_where_the_largest_is():
    lengths = np.array([[0.0, 2.5], [1.0, 0.5]])
    trace = heat(attention_heatmap(lengths, ["a", "b"], quantity="length"))
    assert (trace.zmin, trace.zmax, trace.colorbar.title.text) == (0, 2.5, "length of what is moved")
    assert [list(stop) for stop in trace.colorscale] == theme.SEQUENTIAL
    assert heat(attention_heatmap(np.zeros((2, 2)), ["a", "b"], quantity="length")).zmax == 1
    with pytest.raises(ValueError, match="values from -1, but lengths begin at 0; pass norms"):
        attention_heatmap(-np.eye(2), ["a", "b"], quantity="length")


GREY = np.array([[0.0, 0.2, 0.4, 0.6], [0.8, 1.0, 0.5, 0.1]])
WEIGHTS = np.array([[0.25, 0.5]])


def test_each_weight_lies_over_its_part() -> None:
    image, heat = attention_picture(GREY, WEIGHTS).data
    assert image.z.shape == (2, 4, 3)
    assert image.z[:, :, 0].tolist() == [[0, 51, 102, 153], [204, 255, 128, 26]]
    assert heat.z.tolist() == [[0.25, 0.5]]
    # Pixels are centred on whole numbers: the parts reach from -0.5 to 1.5 and from 1.5 to 3.5.
    assert (heat.x0, heat.dx, heat.y0, heat.dy) == (0.5, 2, 0.5, 2)
    assert (heat.zmin, heat.zmax) == (0, 0.5)
    assert heat.customdata.tolist() == [[[1, 1], [1, 2]]]


@pytest.mark.parametrize("dark", [False, True])
def test_the_greatest_weight_has_the_accent_and_a_part_that_asks_an_outline(dark: bool) -> None:
    fig = attention_picture(GREY, WEIGHTS, query=(0, 1), dark=dark, title="Layer 1")
    accent = theme.palette(dark)["accent"]
    rgb = ", ".join(str(int(accent[at : at + 2], 16)) for at in (1, 3, 5))
    assert [colour for _, colour in fig.data[1].colorscale] == [f"rgba({rgb}, 0)", f"rgba({rgb}, 0.85)"]
    (box,) = fig.layout.shapes
    assert (box.x0, box.x1, box.y0, box.y1) == (1.5, 3.5, -0.5, 1.5)
    assert box.line.color == theme.palette(dark)["query"]
    assert fig.layout.title.text == "Layer 1"
    assert tuple(fig.layout.yaxis.range) == (1.5, -0.5)


def test_a_picture_in_colour_is_drawn_in_its_luminance() -> None:
    colours = np.eye(3)[None]  # red, green, blue
    image = attention_picture(colours, np.array([[0.5]])).data[0]
    assert image.z[0].tolist() == [[54] * 3, [182] * 3, [18] * 3]


@pytest.mark.parametrize(
    ("picture", "weights", "sentence"),
    [
        (np.zeros((2, 2, 4)), WEIGHTS, "picture has 4 colours, but must have 3"),
        (np.zeros(4), WEIGHTS, r"picture has shape \(4,\), but must be \[row, column\] or"),
        (2 * GREY, WEIGHTS, "picture has values from 0 to 2, but must lie in 0..1"),
        (GREY, np.full((1, 2), np.nan), "weights holds 2 values that are NaN"),
    ],
)
def test_what_does_not_fit_is_refused(picture: np.ndarray, weights: np.ndarray, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        attention_picture(picture, weights)
