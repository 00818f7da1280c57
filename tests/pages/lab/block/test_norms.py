"""Part 3: tables, marks and sentences against torch.nn."""

import numpy as np
import pytest
import torch
from torch import nn

from models.lessons.block import norms as lesson
from pages.lab.block import norms
from pages.lab.block.inputs import Inputs
from tests.pages.lab.block.conftest import bold, panel, right


def test_tables_are_torchs_norms_of_the_moved_batch():
    board = norms.lesson(Inputs(seed=2)).board
    x = lesson.sentences(3, 3, 2)
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
    assert "the outlined cells were normalised together" in " ".join(norms.SEE.split())
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


def test_questions():
    assert right(norms.questions()) == ["512", "batch norm's", "0 in every channel"]
