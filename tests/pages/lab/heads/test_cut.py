"""Blocks of columns and rows are the heads."""

from functools import partial

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.pages.lab.heads import cut, inputs
from tests.pages.lab.boards import close, facts, panel
from tests.pages.lab.heads.conftest import engine

Inputs = partial(inputs.Inputs, model="random")


def test_head_h_owns_the_h_th_columns_and_rows():
    matrix = torch.arange(24.0).view(4, 6)
    columns = cut.cut_columns(matrix, 3)
    assert columns[1].tolist() == [[2, 3], [8, 9], [14, 15], [20, 21]]
    assert [cut.owner(column, 2) for column in range(6)] == [0, 0, 1, 1, 2, 2]
    rows = cut.cut_rows(matrix.T, 3)
    assert rows[2].tolist() == [[4, 10, 16, 22], [5, 11, 17, 23]]


def test_blocks_patterns_and_output_are_the_engines():
    model, trace = engine()
    layer = model.model.encoder.layers[0]
    board = cut.lesson(Inputs()).board
    with torch.no_grad():
        x = layer.self_norm(trace["encoder.0.resid_pre"])
        close(panel(board, "X: the sentence").values, x)
        close(panel(board, "Q: all heads' queries").values, layer.self_attention.q_proj(x))
    close(panel(board, "W_Q").values, layer.self_attention.q_proj.weight.detach().T)
    close(panel(board, "W_O").values, layer.self_attention.out_proj.weight.detach().T)
    for name in ("q", "k", "v", "z", "pattern"):
        close(panel(board, f"its {name}").values, trace[f"encoder.0.self.{name}"])
    close(panel(board, "out: what the layer adds").values, trace["encoder.0.self.out"])


def test_the_chosen_heads_block_is_marked():
    board = cut.lesson(Inputs(n_heads=8)).board
    assert board.scrub.values.tolist() == list(range(8))
    w_q, w_o = panel(board, "W_Q"), panel(board, "W_O")
    assert w_q.column_heads == w_o.row_heads == [column // 4 for column in range(32)]
    for head in range(8):
        own = torch.arange(32) // 4 == head
        assert (w_q.marked[head] == own.numpy()).all()
        assert (w_o.marked[head] == own.numpy()[:, None]).all()


def test_the_notice_names_the_block():
    for head, notice in enumerate(cut.lesson(Inputs()).board.notice):
        assert f"columns **{8 * head} to {8 * head + 7}** of W_Q" in notice
        assert f"rows **{8 * head} to {8 * head + 7}** of W_O" in notice


@pytest.mark.parametrize("fields", [{}, {"n_heads": 8}, {"d_head": 32}, {"n_heads": 3, "d_model": 48}])
def test_counts_are_those_of_the_parameters(fields: dict):
    layer = engine(**fields)[0].model.encoder.layers[0]
    shown = facts(cut.lesson(Inputs(**fields)).board)
    count = {
        "parameters: attention": layer.self_attention,
        "+ feed-forward": layer.feed_forward,
        "= the layer, sum(p.numel())": layer,
    }
    for label, module in count.items():
        assert shown[label] == f"{sum(p.numel() for p in module.parameters()):,}"


def test_the_translators_layer(translated):
    lesson = cut.lesson(inputs.Inputs())  # a trained head, not noise, is what a visitor sees first
    close(panel(lesson.board, "its pattern").values, translated["encoder.1.self.pattern"])
    layer = load_model("translator").model.encoder.layers[1]
    counted = lesson.board.rows[4][0].facts[-1].values
    assert counted == f"{sum(p.numel() for p in layer.parameters()):,}"


def test_rotary_queries_are_shown_as_they_meet_the_keys():
    _, trace = engine(positions="rotary")
    board = cut.lesson(Inputs(positions="rotary")).board
    close(panel(board, "its q").values, trace["encoder.0.self.q"])


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"n_heads": 12},
            "d_model=32 is not divisible by n_heads=12; "
            "try n_heads=8 or 16, d_model=24 or 48, or choose d_head",
        ),
        ({"text": "w " * 23}, "The sentence has 23 words; at most 20 are drawn; remove 3."),
        ({"model": "layer1", "text": "the zebra was tired"}, "do not include “zebra”"),
    ],
)
def test_what_cannot_be_is_explained(fields: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        cut.lesson(Inputs(**fields))
