"""Each mask against its paper's sets of keys, written out token by token."""

from collections.abc import Callable

import pytest
import torch

from models import ModelConfig
from models.engine import masks
from models.engine.attention import MultiHeadAttention


def sets(mask: torch.Tensor) -> list[set[int]]:
    """The keys that each query sees."""
    assert mask.shape[:2] == (1, 1) and mask.dtype == torch.bool
    return [{key for key, seen in enumerate(row) if seen} for row in mask[0, 0].tolist()]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("n", [1, 7])
def test_a_window_is_the_last_tokens_or_as_many_on_both_sides(n: int, width: int):
    one_side = [set(range(max(0, i - width + 1), i + 1)) for i in range(n)]
    both = [set(range(max(0, i - width + 1), min(n, i + width))) for i in range(n)]
    assert sets(masks.sliding_window(n, width)) == one_side
    assert sets(masks.sliding_window(n, width, two_sided=True)) == both
    assert masks.sliding_window(n, width).equal(
        masks.sliding_window(n, width, two_sided=True) & masks.causal(n, n)
    )


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 30])
def test_strided_is_the_union_of_the_papers_two_sets(stride: int):
    n = 13
    first = [set(range(max(0, i - stride), i + 1)) for i in range(n)]
    second = [{j for j in range(i + 1) if (i - j) % stride == 0} for i in range(n)]
    assert sets(masks.strided(n, stride, head=0)) == first
    assert sets(masks.strided(n, stride, head=1)) == second
    assert sets(masks.strided(n, stride)) == [a | b for a, b in zip(first, second, strict=True)]


@pytest.mark.parametrize(("stride", "summary"), [(4, 1), (4, 2), (4, 4), (1, 1), (30, 3)])
def test_fixed_is_the_union_of_the_papers_two_sets(stride: int, summary: int):
    n = 13
    first = [{j for j in range(i + 1) if j // stride == i // stride} for i in range(n)]
    last = range(stride - summary, stride)
    second = [{j for j in range(i + 1) if j % stride in last} for i in range(n)]
    assert sets(masks.fixed(n, stride, summary, head=0)) == first
    assert sets(masks.fixed(n, stride, summary, head=1)) == second
    assert sets(masks.fixed(n, stride, summary)) == [a | b for a, b in zip(first, second, strict=True)]


@pytest.mark.parametrize("length", [0, 1, 3, 6, 9])
def test_a_prefix_is_seen_by_all(length: int):
    expected = [{j for j in range(6) if j < length or j <= i} for i in range(6)]
    assert sets(masks.prefix(6, length)) == expected


def test_packed_documents_do_not_see_each_other():
    assert sets(masks.packed(torch.tensor([0, 0, 1, 0, 1]))) == [
        {0, 1, 3},
        {0, 1, 3},
        {2, 4},
        {0, 1, 3},
        {2, 4},
    ]


@pytest.mark.parametrize(("segment", "memory"), [(3, 3), (3, 0), (2, 5), (4, 1), (20, 2)])
def test_memory_is_what_came_before_in_the_segment_and_some_tokens_before_it(segment: int, memory: int):
    expected = [set(range(max(0, i // segment * segment - memory), i + 1)) for i in range(10)]
    assert sets(masks.memory(10, segment, memory)) == expected


@torch.no_grad()
def test_the_memory_mask_is_transformer_xl_reading_segment_by_segment():
    """Two layers over segments, each attending to the layer's cached inputs, as in Dai et al. 2019, 3.2."""
    config = ModelConfig(kind="encoder-only", n_layers=2, n_heads=2, d_model=8, vocab_size=9, max_len=12)
    torch.manual_seed(0)
    layers = [MultiHeadAttention(config).double() for _ in range(2)]
    x = torch.randn(1, 11, 8, dtype=torch.float64)

    at_once = x
    for layer in layers:
        at_once = at_once + layer(at_once, at_once, masks.memory(11, 4, 3))

    cached = [torch.zeros(1, 0, 8, dtype=torch.float64) for _ in layers]
    outputs = []
    for segment in x.split(4, dim=1):
        h = segment
        for number, layer in enumerate(layers):
            extended = torch.cat([cached[number], h], dim=1)
            n_query, n_key = h.shape[1], extended.shape[1]
            cached[number] = extended[:, -3:]
            h = h + layer(h, extended, masks.causal(n_query, n_key))
        outputs.append(h)
    torch.testing.assert_close(at_once, torch.cat(outputs, dim=1), rtol=0, atol=1e-12)


def test_an_edge_is_seen_from_both_ends():
    assert sets(masks.edges(4, [(0, 1), (3, 1)])) == [{0, 1}, {0, 1, 3}, {2}, {1, 3}]
    assert sets(masks.edges(3, [(0, 1)], self_loops=False)) == [{1}, {0}, set()]
    assert sets(masks.edges(2, [])) == [{0}, {1}]


def test_a_mask_painted_cell_by_cell():
    assert sets(masks.painted("110;011;000")) == [{0, 1}, {1, 2}, set()]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: masks.sliding_window(4, 0), "width=0 must be at least 1; try width=4"),
        (lambda: masks.strided(4, -2), "stride=-2 must be at least 1; try stride=4"),
        (
            lambda: masks.strided(4, 2, head=2),
            "head=2 is neither 0 nor 1; leave it out for both patterns at once",
        ),
        (lambda: masks.fixed(4, 2, 3), "summary=3 is outside 1 <= summary <= stride=2; try 1"),
        (lambda: masks.fixed(4, 0), "stride=0 must be at least 1; try stride=4"),
        (lambda: masks.prefix(4, -1), "length=-1 must be at least 0; try length=4"),
        (lambda: masks.memory(4, 0, 2), "segment=0 must be at least 1; try segment=4"),
        (lambda: masks.memory(4, 2, -1), "memory=-1 must be at least 0; try memory=4"),
        (
            lambda: masks.edges(3, [(0, 1), (1, 3)]),
            "edge 1-3 names a node that is not there; the nodes are 0 to 2",
        ),
        (
            lambda: masks.painted("10;1x"),
            "row 2 of the painted mask is '1x', not 2 cells of 0 or 1; "
            "paint as many cells in a row as there are rows",
        ),
        (
            lambda: masks.painted("101;01"),
            "row 1 of the painted mask is '101', not 2 cells of 0 or 1; "
            "paint as many cells in a row as there are rows",
        ),
    ],
)
def test_what_makes_no_mask_is_refused(make: Callable[[], torch.Tensor], sentence: str):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == sentence
