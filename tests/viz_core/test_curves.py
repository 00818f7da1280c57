import numpy as np
import pytest

from viz_core import theme, top_tokens

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
def test_bad_input_is_named(probabilities, tokens, options, message):
    with pytest.raises(ValueError, match=message):
        top_tokens(probabilities, tokens, **options)
