"""Blocks of columns and rows are the heads."""

import pytest
import torch

from models.lessons.heads import cut
from models.lessons.heads.reading import Reading


def test_head_h_owns_the_h_th_columns_and_rows():
    matrix = torch.arange(24.0).view(4, 6)
    columns = cut.cut_columns(matrix, 3)
    assert columns[1].tolist() == [[2, 3], [8, 9], [14, 15], [20, 21]]
    assert [cut.owner(column, 2) for column in range(6)] == [0, 0, 1, 1, 2, 2]
    rows = cut.cut_rows(matrix.T, 3)
    assert rows[2].tolist() == [[4, 10, 16, 22], [5, 11, 17, 23]]


def test_a_head_computes_with_its_own_columns_alone(reading: Reading):
    layer, d_head = reading.attention, reading.config.head_size
    named = {"q": layer.q_proj, "k": layer.k_proj, "v": layer.v_proj}
    for name, linear in named.items():
        per_head = cut.project(reading.x, linear, layer.n_heads)
        torch.testing.assert_close(per_head, getattr(reading, name), rtol=1e-4, atol=1e-5)
        whole = linear.weight.detach().T
        block = getattr(cut.blocks(layer), f"w_{name}")[2]
        torch.testing.assert_close(block, whole[:, 2 * d_head : 3 * d_head], rtol=0, atol=0)


def test_zeroing_other_heads_columns_leaves_a_head_alone(reading: Reading):
    """An independent look: head 1's queries do not change when all other columns of W_Q are zero."""
    layer, d_head = reading.attention, reading.config.head_size
    mine = torch.zeros(layer.q_proj.out_features)
    mine[d_head : 2 * d_head] = 1
    with torch.no_grad():
        q = torch.nn.functional.linear(reading.x, layer.q_proj.weight * mine[:, None], layer.q_proj.bias)
    torch.testing.assert_close(q[:, d_head : 2 * d_head], reading.q[1], rtol=1e-4, atol=1e-5)


def test_side_by_side_and_w_o_make_the_output(reading: Reading):
    together = cut.concatenate(reading.z)
    assert together.shape == (len(reading.tokens), reading.config.n_heads * reading.config.head_size)
    with torch.no_grad():
        out = reading.attention.out_proj(together)
    torch.testing.assert_close(out, reading.out, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_cutting_loses_nothing(n_heads: int):
    matrix = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(torch.cat(list(cut.cut_columns(matrix, n_heads)), dim=1), matrix)
    assert torch.equal(torch.cat(list(cut.cut_rows(matrix.T, n_heads))), matrix.T)
