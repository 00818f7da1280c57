from itertools import pairwise

import numpy as np
import pytest

from attention_lab.viz_core import attention_lines, lines, theme


@pytest.fixture
def pattern(rng):
    weights = rng.random((3, 4, 6)) ** 4
    return weights / weights.sum(-1, keepdims=True)


QUERIES, KEYS = ["le", "chat", "a", "vu"], ["the", "cat", "saw", "the", "big", "dog"]


def drawn(fig):
    """Every line of the figure: (head, query, key) -> (width, opacity), read from the traces' points."""
    columns = {trace.hovertemplate.split()[0]: trace for trace in fig.data if trace.mode == "markers+text"}
    found = {}
    for trace in fig.data:
        if trace.mode != "lines" or trace.x[0] is None:
            continue
        head = int(trace.legendgroup.split()[1])
        opacity = float(trace.line.color.split(",")[-1].rstrip(")"))
        assert np.isnan(trace.x[2::3]).all() and np.isnan(trace.y[2::3]).all()
        assert (trace.x[0::3] == 0).all() and (trace.x[1::3] == 1).all()
        for start, end in zip(trace.y[0::3], trace.y[1::3], strict=True):
            query, key = (nearest(columns[role].y, y) for role, y in (("query", start), ("key", end)))
            assert (head, query, key) not in found
            found[head, query, key] = (trace.line.width, opacity)
    return found


def nearest(heights, y) -> int:
    """The token whose row a line ends in: heads run beside each other, within the row."""
    distances = np.abs(np.asarray(heights) - y)
    assert distances.min() <= 0.3
    return int(distances.argmin())


def test_heads_that_look_at_the_same_token_run_beside_each_other():
    fig = attention_lines(np.stack([np.eye(2)] * 3), ["a", "b"])
    starts = [trace.y[0] for trace in fig.data if trace.mode == "lines" and trace.x[0] is not None]
    np.testing.assert_allclose(np.diff(sorted(starts)), 0.12, atol=1e-6)


def test_one_line_for_each_weight_above_the_threshold(pattern):
    found = drawn(attention_lines(pattern, QUERIES, KEYS))
    assert set(found) == {tuple(at) for at in np.argwhere(pattern >= 0.02).tolist()}


def test_the_heavier_the_wider_and_the_more_opaque(pattern):
    found = drawn(attention_lines(pattern, QUERIES, KEYS))
    by_weight = sorted(found, key=lambda at: pattern[at])
    for lighter, heavier in pairwise(by_weight):
        assert found[lighter] <= found[heavier]
    assert len(set(found.values())) > 4


def test_few_traces_whatever_the_number_of_lines(rng):
    pattern = rng.random((8, 64, 64))
    assert len(attention_lines(pattern, ["w"] * 64).data) <= 8 * (len(lines.LEVELS) + 1) + 2


def test_only_the_chosen_heads_in_their_own_colours(pattern):
    fig = attention_lines(pattern, QUERIES, KEYS, heads=[2, 0], dark=True)
    assert {head for head, _, _ in drawn(fig)} == {0, 2}
    legend = [trace for trace in fig.data if trace.name]
    assert [trace.name for trace in legend] == ["head 2", "head 0"]
    assert [trace.line.color for trace in legend] == [theme.head_colour(2, True), theme.head_colour(0, True)]


def test_queries_are_left_keys_are_right_and_the_figure_says_so(pattern):
    fig = attention_lines(pattern, QUERIES, KEYS)
    query, key = fig.data[-2:]
    assert set(query.x) == {0} and set(key.x) == {1}
    assert list(query.text) == QUERIES
    assert list(key.text) == ["the", "cat", "saw", "the₂", "big", "dog"]
    assert {(note.text, note.x) for note in fig.layout.annotations} == {("query", 0), ("key", 1)}
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]
    assert np.mean(query.y) == np.mean(key.y)  # the shorter column is centred


def test_the_pointer_names_the_heaviest_partners():
    pattern = np.array([[[0.7, 0.3, 0.0]], [[0.1, 0.1, 0.8]]])
    fig = attention_lines(pattern, ["it"], ["cat", "<b>", "mat"])
    query, key = fig.data[-2:]
    assert query.customdata[0][1] == (
        "<br>mat <b>0.800</b> (head 1)<br>cat <b>0.700</b> (head 0)<br>&lt;b&gt; <b>0.300</b> (head 0)"
    )
    assert key.customdata[2][1] == "<br>it <b>0.800</b> (head 1)"


def test_weights_of_exactly_1_are_drawn():
    assert set(drawn(attention_lines(np.eye(3)[None], list("abc")))) == {(0, 0, 0), (0, 1, 1), (0, 2, 2)}


def test_more_lines_than_a_figure_holds_are_cut_and_it_says_so(monkeypatch, pattern):
    monkeypatch.setattr(lines, "MAX_LINES", 5)
    fig = attention_lines(pattern, QUERIES, KEYS)
    heaviest = np.argsort(-pattern.ravel())[:5]
    assert set(drawn(fig)) == {
        tuple(np.array(np.unravel_index(at, pattern.shape)).tolist()) for at in heaviest
    }
    left_out = (pattern >= 0.02).sum() - 5
    assert fig.layout.title.subtitle.text == f"the 5 heaviest lines; {left_out} lighter ones are left out"
    even = attention_lines(np.full((1, 4, 4), 0.25), list("abcd"))
    assert len(drawn(even)) == 5


def test_at_200_tokens_fewer_are_written(rng):
    fig = attention_lines(rng.random((1, 200, 200)) / 100 + 0.02, [f"w{i}" for i in range(200)])
    written = [text for text in fig.data[-1].text if text]
    assert 50 < len(written) < 110
    assert fig.layout.height < 1600


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shape", "tokens", "options", "message"),
    [
        ((2, 2), list("ab"), {}, r"\(2, 2\), but must be \[head, query, key\]"),
        ((1, 2, 2), list("abc"), {}, "3 query tokens for 2 query positions"),
        ((1, 2, 2), list("ab"), {"heads": [1]}, "head=1 is out of range; choose 0 to 0"),
    ],
)
def test_bad_input_is_named(shape, tokens, options, message):
    with pytest.raises(ValueError, match=message):
        attention_lines(np.full(shape, 0.5), tokens, **options)


def test_scores_are_refused():
    with pytest.raises(ValueError, match="not the scores"):
        attention_lines(np.full((1, 1, 1), 4.2), ["a"])
