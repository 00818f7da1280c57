"""Maps hold the points, names and colours that they are given."""

import numpy as np
import pytest

from attention_lab.viz_core import (
    head_map,
    head_scores,
    map_of_heads,
    plane_of_queries_and_keys,
    query_key_plane,
    theme,
)
from tests.viz_core.measures.patterns import random_pattern


def test_heads_lie_where_their_likeness_puts_them_coloured_by_a_measure():
    patterns = random_pattern(1, 2, 3, 5, 5)
    points, shares = map_of_heads(patterns)
    values = head_scores(patterns)["entropy"].ravel()
    names = [f"L{layer} H{head}" for layer in range(2) for head in range(3)]
    fig = head_map(points, names, values=values, measure="entropy", shares=shares)
    (dots,) = fig.data
    assert np.array_equal(np.stack([dots.x, dots.y], -1), points)
    assert list(dots.hovertext) == list(dots.text) == names
    assert np.array_equal(dots.marker.color, values)
    assert (dots.marker.cmin, dots.marker.cmax) == (0, values.max())
    assert dots.marker.colorbar.title.text == "entropy"
    assert fig.layout.xaxis.title.text == f"axis 1: {shares[0]:.0%} of the variance"
    assert fig.layout.yaxis.scaleanchor == "x"  # distances are those of the plane


def test_many_heads_are_named_by_the_pointer_alone():
    (dots,) = head_map(np.zeros((65, 2)), ["<b>"] * 65, dark=True).data
    assert dots.mode == "markers" and dots.hovertext[0] == "&lt;b&gt;"
    assert dots.marker.color == theme.palette(True)["accent"]


def test_queries_and_keys_differ_in_form_and_colour(rng):
    plane = plane_of_queries_and_keys(rng.normal(size=(2, 4)), rng.normal(size=(3, 4)))
    fig = query_key_plane(
        plane.queries, plane.keys, ["le", "chat"], ["the", "cat", "the"], shares=plane.shares
    )
    queries, keys = fig.data
    assert (queries.name, keys.name) == ("queries", "keys")
    assert np.array_equal(np.stack([keys.x, keys.y], -1), plane.keys)
    assert list(queries.hovertext) == ["le", "chat"] and list(keys.customdata) == [0, 1, 2]
    assert (queries.marker.symbol, keys.marker.symbol) == ("circle", "diamond")
    assert (queries.marker.color, keys.marker.color) == (theme.palette()["query"], theme.palette()["key"])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: head_map(np.zeros((2, 2)), ["L0 H0"]),
            "names has 1 entries where there are 2; give one each",
        ),
        (
            lambda: head_map(np.zeros((2, 3)), list("ab")),
            r"shape \(2, 3\), but points of a plane have 2 numbers",
        ),
        (lambda: head_map(np.full((1, 2), np.nan), ["a"]), "points holds 2 values that are NaN or infinite"),
        (
            lambda: head_map(np.zeros((1, 2)), ["a"], values=np.array([np.inf])),
            "values holds 1 values that are NaN",
        ),
        (
            lambda: query_key_plane(np.zeros((1, 2)), np.zeros((2, 2)), ["a"]),
            "1 key tokens for 2 key positions; pass one token per position",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
