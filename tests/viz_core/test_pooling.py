import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_core.pooling import bin_edges, max_pool, thumbnails

sides = st.integers(1, 40)


def slow_max_pool(matrix, size):
    """Every cell of the matrix put into its bin, one at a time."""
    n_query, n_key = matrix.shape
    rows, columns = min(size, n_query), min(size, n_key)
    pooled = np.full((rows, columns), -1.0)
    for i in range(rows):
        for j in range(columns):
            for query in range(i * n_query // rows, (i + 1) * n_query // rows):
                for key in range(j * n_key // columns, (j + 1) * n_key // columns):
                    pooled[i, j] = max(pooled[i, j], matrix[query, key])
    return pooled


@given(sides, sides, sides, st.integers(0, 2**32 - 1))
def test_equals_a_loop_over_cells(n_query, n_key, size, seed):
    matrix = np.random.default_rng(seed).random((n_query, n_key))
    assert np.array_equal(max_pool(matrix, size), slow_max_pool(matrix, size))


@given(sides, sides, sides, st.data())
def test_one_bright_cell_lights_exactly_one_pixel(n_query, n_key, size, data):
    pattern = np.zeros((n_query, n_key), np.float32)
    pattern[data.draw(st.integers(0, n_query - 1)), data.draw(st.integers(0, n_key - 1))] = 1
    pooled = thumbnails(pattern, size)
    assert pooled.sum(dtype=int) == 255


def test_up_to_the_size_every_cell_is_kept_and_rounded(rng):
    pattern = rng.random((3, 17, 64))
    assert np.array_equal(thumbnails(pattern, 64), np.rint(pattern * 255).astype(np.uint8))


def test_leading_axes_are_kept_and_pooled_one_by_one(rng):
    pattern = rng.random((2, 3, 30, 45)).astype(np.float32)
    pooled = max_pool(pattern, 8)
    assert pooled.shape == (2, 3, 8, 8)
    assert np.array_equal(pooled[1, 2], slow_max_pool(pattern[1, 2], 8).astype(np.float32))


def test_edges_cover_all_positions_in_bins_of_like_width():
    edges = bin_edges(200, 64)
    assert (edges[0], edges[-1], len(edges)) == (0, 200, 65)
    assert set(np.diff(edges)) == {3, 4}


def test_the_input_is_left_alone(rng):
    pattern = rng.random((5, 40, 40))
    before = pattern.copy()
    thumbnails(pattern, 7)
    assert np.array_equal(pattern, before)


def test_six_layers_of_twelve_heads_at_512_tokens_pool_in_time(rng):
    pattern = rng.random((6, 12, 512, 512), dtype=np.float32)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        thumbnails(pattern, 64)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.4  # about 0.03 s on an idle core


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("pattern", "size", "message"),
    [
        (np.ones(4), 2, r"pattern has shape \(4,\), but must end in \[query, key\]"),
        (np.ones((3, 0, 2)), 2, r"pattern has shape \(3, 0, 2\)"),
        (np.ones((4, 4)), 0, "size=0 is too small; a thumbnail needs at least 1 cell a side"),
        (np.array([[np.nan, 0.5]]), 4, "1 values that are NaN or infinite"),
        (np.array([[3.0, 0.5]]), 4, r"from 0.5 to 3, but must lie in 0..1; pass what softmax gives"),
    ],
)
def test_bad_input_is_named(pattern, size, message):
    with pytest.raises(ValueError, match=message):
        thumbnails(pattern, size)
