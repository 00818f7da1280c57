"""The map of heads: of which queries, where the heads lie, and when it is computed."""

import numpy as np
import pytest

from models.zoo.model import Attention
from pages.explore import asked, mapped
from pages.explore.mapped import made, rows_of
from pages.explore.state import Inputs
from pages.explore.subject import Stack, subject_of
from pages.explore.taken import Shown
from viz_core.measures import map_of_heads


def stack(n_layers: int, n_heads: int, n_query: int, n_key: int) -> Stack:
    attention = Attention(
        n_layers=n_layers, n_heads=n_heads, d_head=8, n_key_heads=n_heads, scales=(1.0,) * n_layers
    )
    return Stack("encoder.self", "", "encoder", "encoder", n_query, n_key, attention)


@pytest.mark.parametrize("name", ["encoder.self", "decoder.cross"])
def test_the_map_is_that_of_all_patterns_of_the_stack(name: str) -> None:
    inputs = Inputs()
    side, kind = name.split(".")
    trace = subject_of(inputs).run(None)
    patterns = np.stack([trace[f"{side}.{layer}.{kind}.pattern"].numpy() for layer in range(2)])
    points, shares = map_of_heads(patterns)
    found = made(inputs, name)
    np.testing.assert_allclose(found["points"], points, atol=1e-4)
    np.testing.assert_allclose(found["shares"], shares, atol=1e-4)
    assert found["queries"] == patterns.shape[2]


def test_of_a_long_text_some_queries_are_compared_evenly_spread() -> None:
    assert list(rows_of(stack(2, 4, 10, 10))) == list(range(10))
    rows = rows_of(stack(6, 12, 1_024, 1_024))
    assert len(rows) == 160_000_000 // (72**2 * 1_024) == 30
    assert (rows[0], rows[-1]) == (0, 1_023)
    assert {round(step / 35.3) for step in np.diff(rows)} == {1}


def test_so_many_heads_that_none_could_be_compared_are_refused() -> None:
    with pytest.raises(ValueError, match="1024 heads cannot be compared over 1,024 keys"):
        rows_of(stack(32, 32, 1_024, 1_024))


def test_the_map_is_there_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = Inputs(text="the cat sleeps")
    monkeypatch.setattr(asked.st, "session_state", {"explore.last": inputs})
    assert asked.answer("mapped", inputs, None, made) == {}
    asked.note("mapped", "encoder.self")
    expected = {"asked": ["encoder.self"], **made(inputs, "encoder.self")}
    assert asked.answer("mapped", inputs, None, made) == expected
    assert asked.answer("mapped", Inputs(text="the dog sleeps"), None, made) == {}
    monkeypatch.setattr(mapped, "MOST_WORK", 10)
    asked.note("mapped", "decoder.self")
    problem = asked.answer("mapped", inputs, None, made)["problem"]
    assert problem.startswith("8 heads cannot be compared over ")


def test_the_figure_to_take_away_is_the_map_with_the_names_of_all_heads() -> None:
    inputs = Inputs()
    figure = Shown(inputs, {"view": "map", "stack": "encoder.self"}).figure(dark=False)
    (points,) = figure.data
    assert list(points.hovertext) == [f"L{layer} H{head}" for layer in range(2) for head in range(4)]
    np.testing.assert_allclose(
        np.stack([points.x, points.y], 1), made(inputs, "encoder.self")["points"], atol=1e-4
    )
    assert list(points.marker.color) == [0, 0, 0, 0, 1, 1, 1, 1]
