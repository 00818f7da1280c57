import numpy as np
import pytest

from viz_core import theme, top_tokens

PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.05]])
TOKENS = [["le", "la", "<b>"], ["chat", "", "le"]]


def test_every_candidate_has_a_bar_with_its_token_and_probability():
    fig = top_tokens(PROBABILITIES, TOKENS, steps=["after <bos>", "after le"])
    (bars,) = fig.data
    assert bars.orientation == "h"
    assert np.array_equal(bars.x, PROBABILITIES.ravel())
    assert [tuple(pair) for pair in bars.customdata] == [
        ("after &lt;bos&gt;", "le"),
        ("after &lt;bos&gt;", "la"),
        ("after &lt;bos&gt;", "&lt;b&gt;"),
        ("after le", "chat"),
        ("after le", "∅"),
        ("after le", "le"),
    ]
    assert list(fig.layout.yaxis.ticktext) == ["le", "la", "&lt;b&gt;", "chat", "∅", "le"]
    assert np.array_equal(fig.layout.yaxis.tickvals, bars.y)
    assert list(bars.text) == ["0.700", "0.200", "0.100", "0.500", "0.300", "0.050"]


def test_steps_follow_each_other_downwards_without_overlap():
    fig = top_tokens(PROBABILITIES, TOKENS)
    y = fig.data[0].y.reshape(2, 3)
    assert (np.diff(y, axis=1) == 1).all() and y[1, 0] - y[0, 2] > 1.5
    assert fig.layout.yaxis.range[0] > y.max() and fig.layout.yaxis.range[1] == 0
    assert [note.text for note in fig.layout.annotations] == ["<b>step 0</b>", "<b>step 1</b>"]
    assert list(fig.layout.xaxis.range) == [0, 1] and fig.layout.xaxis.title.text == "probability"


@pytest.mark.parametrize("dark", [False, True])
def test_the_chosen_candidate_stands_out(dark):
    fig = top_tokens(PROBABILITIES, TOKENS, chosen=[1, None], dark=dark)
    accent = theme.palette(dark)["accent"]
    assert [colour == accent for colour in fig.data[0].marker.color] == [
        False,
        True,
        False,
        False,
        False,
        False,
    ]


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
def test_bad_input_is_named(probabilities, tokens, options, message):
    with pytest.raises(ValueError, match=message):
        top_tokens(probabilities, tokens, **options)
