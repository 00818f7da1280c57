"""Reach through the layers: the cone of a query against a walk, memory against no memory."""

import pytest

from attention_lab.models.engine import masks
from attention_lab.pages.lab.masks.reach import cone, furthest_back, spread, through_layers


@pytest.mark.parametrize("name", ["causal", "window", "strided", "fixed", "memory", "edges"])
@pytest.mark.parametrize("query", [0, 5, 11])
def test_the_cone_is_what_a_walk_down_from_the_query_visits(name: str, query: int):
    allowed = masks.named(name, "", 12)[0, 0]
    frames = cone(allowed, query, 5)
    assert frames.shape == (5, 6, 12)
    for top, floors in enumerate(frames, start=1):
        there = {query}
        for floor in range(5, -1, -1):
            expected = set() if floor > top else there
            assert {j for j, lit in enumerate(floors[floor].tolist()) if lit} == expected
            if floor <= top:
                there = there | {j for i in there for j in range(12) if allowed[i, j]}


def test_what_is_heard_is_the_cones_ground_floor():
    allowed = masks.named("causal+window", "3", 12)[0, 0]
    result = through_layers(allowed, 6)
    for query in (0, 7, 11):
        assert cone(allowed, query, 6)[:, 0].equal(result.reached[:, query])
        assert result.counts[:, query].tolist() == [min(query + 1, 1 + 2 * layer) for layer in range(1, 7)]
    assert result.layers[11].tolist() == [6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0]
    assert result.layers[0].tolist() == [0] + [-1] * 11


def test_memory_reaches_back_a_segment_further_with_each_layer():
    """Dai et al. 2019, 3.2: the longest dependency grows with layers times the segment's length."""
    with_memory = through_layers(masks.memory(24, 4, 4)[0, 0], 5).reached
    without = through_layers(masks.memory(24, 4, 0)[0, 0], 5).reached
    assert furthest_back(with_memory)[:, 20].tolist() == [4, 8, 12, 16, 20]
    assert furthest_back(with_memory)[:, 23].tolist() == [7, 11, 15, 19, 23]
    assert furthest_back(without)[:, 23].tolist() == [3, 3, 3, 3, 3]


def test_news_of_a_token_spreads_to_those_who_can_see_it():
    floors = spread(masks.named("edges", "0-1 1-2 2-3", 5)[0, 0], 0, 3)
    assert floors.int().tolist() == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]
    causal = spread(masks.causal(3, 3)[0, 0], 1, 1)
    assert causal.int().tolist() == [[0, 1, 0], [0, 1, 1]]
