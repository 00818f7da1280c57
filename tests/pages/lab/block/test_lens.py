"""Part 4: cells, bars and sentences are those of the model under the lens."""

import numpy as np
import pytest
import torch

from models import load_model
from pages.lab.block import lens
from pages.lab.block.inputs import HIDDEN, PROMPT, Inputs
from tests.pages.lab.block.conftest import bold, panel, right


@pytest.mark.parametrize(("reader", "text"), [("shakespeare", PROMPT), ("masked", HIDDEN)])
def test_the_last_row_is_the_models_own_answer(reader: str, text: str):
    board, model = lens.lesson(Inputs(reader=reader)).board, load_model(reader)
    with torch.no_grad():
        p = model.model(*model.read(text).inputs)[0].softmax(-1)
    cells = panel(board, "the likeliest")
    assert np.allclose(cells.values[-1], p.max(-1).values, atol=1e-5)
    words = [model.outputs[word].replace(" ", "␣") for word in p.argmax(-1).tolist()]
    assert list(cells.texts[-1]) == words
    assert np.allclose(panel(board, "probability").values[:, -1], p.max(-1).values, atol=1e-5)
    entropy = -(p * p.log()).sum(-1)
    assert np.allclose(panel(board, "entropy").values[:, -1], entropy, atol=1e-4)
    assert (panel(board, "its rank").values[:, -1] == 1).all()
    assert np.allclose(panel(board, "KL").values[:, -1], 0, atol=1e-6)


def test_each_frame_marks_its_position():
    board = lens.lesson(Inputs()).board
    marked = panel(board, "the likeliest").marked
    assert all((marked[at].all(axis=0) == (np.arange(23) == at)).all() for at in range(23))
    assert len(board.notice) == len(board.scrub.values) == 23


def test_notices_follow_the_cells():
    board = lens.lesson(Inputs()).board
    cells = panel(board, "the likeliest")
    for at, notice in enumerate(board.notice):
        column = [row[at] for row in cells.texts]
        assert f"final answer “{column[-1]}”" in notice and f"says “{column[0]}”, the token itself" in notice
        since = max((n + 1 for n, word in enumerate(column) if word != column[-1]), default=0)
        assert f"from **{f'layer {since}' if since else 'the embedding'}** on" in notice
        sure, loss = bold(notice)
        assert sure == pytest.approx(cells.values[-1, at], abs=0.0051)
        assert loss == pytest.approx(panel(board, "KL").values[at, 1], abs=0.0051)


def test_a_mask_is_not_what_it_says():
    notice = lens.lesson(Inputs(reader="masked")).board.notice[7]
    assert notice.startswith("At “[MASK]” the final answer “road”") and "the token itself" not in notice


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"prompt": "  "}, "The text is empty; type at least one word."),
        ({"prompt": "a" * 30}, "The text has 30 positions; this page draws at most 24; shorten it by 6."),
        ({"prompt": "a" * 80}, "64"),
    ],
)
def test_impossible_texts(fields, problem: str):
    with pytest.raises(ValueError, match=problem):
        lens.lesson(Inputs(**fields))


def test_questions():
    assert right(lens.questions()) == ["the letter that is read", "layer 2", "road"]
