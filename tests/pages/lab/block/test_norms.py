"""Both norms against torch.nn's own, with batch and with running statistics."""

import numpy as np
import pytest
import torch
from torch import nn

from attention_lab.pages.lab.block import norms
from attention_lab.pages.lab.block.inputs import Inputs
from tests.pages.lab.boards import bold, panel


def test_running_statistics_are_those_of_torch():
    batches = norms.batches(60, 2)
    theirs = nn.BatchNorm1d(norms.N_CHANNELS)
    for batch in batches:
        theirs(batch.transpose(1, 2))
    running = norms.trained_on(batches)
    close(running.mean, theirs.running_mean)
    close(running.variance, theirs.running_var)
    x = norms.sentences(2, 3, 2)
    close(norms.with_running(x, running), theirs.eval()(x.transpose(1, 2)).transpose(1, 2))


def test_a_batch_of_one_token_is_nothing_to_batch_norm():
    x = norms.sentences(1, 1, 0)
    assert (norms.normalise(x, "batch") == 0).all()
    assert norms.normalise(x, "layer").abs().max() > 0.5
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        nn.BatchNorm1d(norms.N_CHANNELS)(x[:, 0])
    with pytest.raises(ValueError, match="give 2 tokens"):
        norms.trained_on(x[None])


@pytest.mark.parametrize("axis", ["layer", "batch"])
def test_what_is_marked_is_what_is_averaged(axis: norms.Axis):
    """The gradient of the one number reaches the marked cells and no other."""
    x = norms.sentences(2, 3, 1).double().requires_grad_()
    (gradient,) = torch.autograd.grad(norms.normalise(x, axis)[0, 1, 2], x)
    assert torch.equal(gradient.abs() > 1e-9, norms.averaged((2, 3, norms.N_CHANNELS), axis, 1, 2))


def test_sentences_stay_themselves_in_larger_batches():
    assert torch.equal(norms.sentences(3, 4, 7)[:2, :3], norms.sentences(2, 3, 7))


def close(actual: torch.Tensor, expected: torch.Tensor, atol: float = 1e-5) -> None:
    torch.testing.assert_close(actual, expected.detach(), rtol=1e-5, atol=atol)


def test_tables_are_torchs_norms_of_the_moved_batch():
    board = norms.lesson(Inputs(seed=2)).board
    x = norms.sentences(3, 3, 2)
    for frame in (0, 7, 20):
        moved = x.clone()
        moved[1:] += norms.SHIFTS[frame]
        with torch.no_grad():
            layer = nn.LayerNorm(6)(moved)
            batch = nn.BatchNorm1d(6)(moved.flatten(0, 1))
        assert np.allclose(panel(board, "the batch").values[frame], moved.flatten(0, 1), atol=1e-6)
        assert np.allclose(panel(board, "layer norm").values[frame], layer.flatten(0, 1), atol=1e-5)
        assert np.allclose(panel(board, "batch norm").values[frame], batch, atol=1e-5)


def test_a_row_is_marked_or_a_column():
    board = norms.lesson(Inputs()).board
    layer, batch = panel(board, "layer norm").marked, panel(board, "batch norm").marked
    assert layer[0].all() and layer.sum() == 6
    assert batch[:, norms.CHANNEL].all() and batch.sum() == 9
    running = panel(norms.lesson(Inputs(statistics="running")).board, "batch norm, running")
    assert not running.marked.any()


@pytest.mark.parametrize("title", ["layer norm", "batch norm"])
def test_the_outlined_results_are_those_that_were_normalised_together(title: str):
    """The outlines are on the results, of which none is averaged: together they have mean 0, deviation 1."""
    assert "The outlined cells are normalised together" in " ".join(norms.PART.lesson(Inputs()).see.split())
    outlined = panel(norms.lesson(Inputs()).board, title)
    together = outlined.values[0][outlined.marked]
    assert together.mean() == pytest.approx(0, abs=1e-6)
    assert together.std() == pytest.approx(1, abs=1e-3)
    assert outlined.marked[0, norms.CHANNEL]


def test_notices_are_changes_of_sentence_1():
    board = norms.lesson(Inputs()).board
    results = panel(board, "batch norm").values[:, :3]
    for frame in (5, 20):
        moved = np.abs(results[frame] - results[0]).max()
        assert bold(board.notice[frame]) == [round(float(moved), 2), 0.0]
    running = norms.lesson(Inputs(statistics="running")).board
    mean = panel(running, "batch norm").values[20].mean()
    assert np.allclose(bold(running.notice[20]), [0, mean], atol=0.006)
    assert bold(norms.lesson(Inputs(sentences=1, tokens=1)).board.notice[0]) == [0]
    assert (panel(norms.lesson(Inputs(sentences=1, tokens=1)).board, "batch norm").values == 0).all()
    assert "alone" in norms.lesson(Inputs(sentences=1)).board.notice[0]
