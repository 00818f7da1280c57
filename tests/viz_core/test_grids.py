import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.viz_core import head_grid
from attention_lab.viz_core.grids import MAX_HEADS, max_pool, thumbnails

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


def test_up_to_the_size_every_cell_is_kept_and_rounded(rng):
    pattern = rng.random((3, 17, 64))
    assert np.array_equal(thumbnails(pattern, 64), np.rint(pattern * 255).astype(np.uint8))


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


def shown_tiles(fig, n_query, n_key):
    """The thumbnails cut out of the figure's one matrix again: rows and columns between the gaps of NaN."""
    z = fig.data[0].z
    rows = [i for i in range(len(z)) if not np.isnan(z[i]).all()]
    columns = [j for j in range(z.shape[1]) if not np.isnan(z[:, j]).all()]
    tiles = z[np.ix_(rows, columns)]
    return tiles.reshape(len(rows) // n_query, n_query, len(columns) // n_key, n_key).swapaxes(1, 2)


@pytest.mark.parametrize(
    ("heads", "columns", "rows"), [(1, 1, 1), (4, 4, 1), (8, 4, 2), (12, 6, 2), (5, 5, 1)]
)
def test_heads_fill_rows_of_even_length(rng, heads, columns, rows):
    pattern = rng.random((heads, 3, 4)).astype(np.float32)
    fig = head_grid(pattern, list("abc"), list("wxyz"))
    assert len(fig.data) == 1
    tiles = shown_tiles(fig, 3, 4)
    assert tiles.shape == (rows, columns, 3, 4)
    assert np.array_equal(tiles.reshape(-1, 3, 4)[:heads], pattern)


def test_an_unfilled_place_stays_empty(rng):
    pattern = rng.random((7, 3, 3)).astype(np.float32)
    fig = head_grid(pattern, list("abc"))
    tiles = shown_tiles(fig, 3, 3)
    assert np.array_equal(tiles.reshape(-1, 3, 3)[:7], pattern)
    assert np.isnan(tiles[1, 3]).all()


def test_layers_are_rows_and_heads_are_columns(rng):
    pattern = rng.random((2, 3, 4, 4)).astype(np.float32)
    fig = head_grid(pattern, list("abcd"))
    assert np.array_equal(shown_tiles(fig, 4, 4), pattern)
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]  # layer 0 and the first query are on top


def test_the_pointer_is_told_layer_head_query_key_and_weight(rng):
    pattern = rng.random((2, 3, 4, 4)).astype(np.float32)
    trace = head_grid(pattern, ["the", "cat", "the", "<b>"]).data[0]
    seen = set()
    for i, j in np.argwhere(~np.isnan(trace.z)):
        query, key = plain(trace.y[i]), plain(trace.x[j])
        layer, query = query.split("<br>query ")
        at = ["the", "cat", "the₂", "&lt;b&gt;"]
        index = (int(layer.split()[1]), trace.customdata[i, j], at.index(query), at.index(key.split(" ")[1]))
        assert trace.z[i, j] == pattern[index]
        seen.add(index)
    assert len(seen) == pattern.size
    assert len(set(trace.x)) == len(trace.x) and len(set(trace.y)) == len(trace.y)


def plain(label):
    return label.replace("\u200b", "").replace("\u2060", "")


def test_axes_carry_tokens_and_say_which_is_which(rng):
    fig = head_grid(rng.random((2, 3, 3)), ["the", "cat", "the"])
    assert (fig.layout.yaxis.title.text, fig.layout.xaxis.title.text) == ("query", "key")
    assert list(fig.layout.yaxis.ticktext) == ["the", "cat", "the₂"]
    assert list(fig.layout.xaxis.ticktext) == ["the", "cat", "the₂"] * 2
    assert set(fig.layout.xaxis.tickvals) <= set(fig.data[0].x)
    assert (fig.data[0].zmin, fig.data[0].zmax, fig.data[0].colorbar.title.text) == (0, 1, "attention weight")


def test_many_tokens_are_pooled_and_no_bright_cell_is_lost():
    pattern = np.zeros((2, 200, 200), np.float32)
    pattern[1, 123, 45] = 1
    fig = head_grid(pattern, [f"w{i}" for i in range(200)])
    tiles = shown_tiles(fig, 64, 64)
    assert tiles.sum() == 1
    trace = fig.data[0]
    ((i, j),) = np.argwhere(trace.z == 1)
    assert trace.customdata[i, j] == 1
    assert plain(trace.y[i]) == "query w121 … w124"
    assert plain(trace.x[j]) == "key w43 … w45"
    assert len(fig.layout.yaxis.ticktext) < 30


def test_every_head_has_its_label_and_its_frame():
    fig = head_grid(np.full((2, 2, 1, 1), 0.5), ["a"])
    assert [note.text for note in fig.layout.annotations] == [
        "layer 0 · head 0",
        "layer 0 · head 1",
        "layer 1 · head 0",
        "layer 1 · head 1",
    ]
    assert fig.layout.shapes[0].path.count("M") == 4


def test_six_layers_of_twelve_heads_stay_small():
    pattern = np.zeros((6, 12, 512, 512), np.float32)
    assert len(head_grid(pattern, ["w"] * 512).to_json()) < 4_000_000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("pattern", "tokens", "options", "message"),
    [
        (
            np.eye(3),
            list("abc"),
            {},
            r"\(3, 3\), but must be \[head, query, key\] or \[layer, head, query, key\]",
        ),
        (np.ones((2, 2, 2)), ["a"], {}, "1 query tokens for 2 query positions"),
        (np.full((1, 1, 1), 9.0), ["a"], {}, "from 9 to 9, but must lie in 0..1"),
        (np.full((1, 1, 1), np.nan), ["a"], {}, "NaN or infinite"),
        (np.ones((MAX_HEADS + 1, 1, 1)), ["a"], {}, "1025 heads are more than the 1024 a grid holds"),
    ],
)
def test_bad_input_is_named_grids(pattern, tokens, options, message):
    with pytest.raises(ValueError, match=message):
        head_grid(pattern, tokens, **options)
