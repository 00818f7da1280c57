"""Part 1: boxes, tensors and sentences are those of the layer that ran."""

import numpy as np
import pytest
import torch
from torch import nn

from models import ModelConfig, UntrainedModel
from pages.lab.block import flow
from pages.lab.block.inputs import Inputs
from tests.pages.lab.block.conftest import bold, panel, right

TEXT = Inputs().text


def trace_of(**fields):
    sizes = {"n_layers": 1, "n_heads": 4, "d_model": 32, "vocab_size": 17, "max_len": 19}
    return UntrainedModel(ModelConfig(kind="encoder-only", **sizes, **fields), seed=0).trace(TEXT)


@pytest.mark.parametrize(
    ("fields", "boxes"),
    [
        ({}, ["x enters", "norm 1", "attention", "add 1", "norm 2", "feed-forward", "add 2"]),
        ({"norm": "post"}, ["x enters", "attention", "add 1", "norm 1", "feed-forward", "add 2", "norm 2"]),
        ({"norm": "none"}, ["x enters", "attention", "add 1", "feed-forward", "add 2"]),
        ({"residual": False}, ["x enters", "norm 1", "attention", "norm 2", "feed-forward"]),
        ({"ff": 0}, ["x enters", "norm", "attention", "add"]),
        ({"norm": "none", "residual": False, "ff": 0}, ["x enters", "attention"]),
    ],
)
def test_the_diagram_follows_the_switches(fields, boxes):
    board = flow.lesson(Inputs(**fields)).board
    (diagram,) = board.rows[0]
    assert [node.label for node in diagram.nodes] == list(board.scrub.words) == boxes
    assert [node.frame for node in diagram.nodes] == list(range(len(boxes)))
    assert (diagram.levels.argmax(axis=1) == np.arange(len(boxes))).all()
    skips = [(int(a), int(b)) for a, b in diagram.edges if int(b) - int(a) > 1]
    adds = [at for at, box in enumerate(boxes) if box.startswith("add")]
    assert [end for _, end in skips] == adds
    after = {"pre": "add", "post": "norm", "none": "add"}[fields.get("norm", "pre")]
    for start, _ in skips[1:]:
        assert boxes[start].startswith(after)
    assert not skips or skips[0][0] == 0


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_each_frame_is_the_tensor_of_the_trace(norm: str):
    board, trace = flow.lesson(Inputs(norm=norm)).board, trace_of(norm=norm)
    values = panel(board, "the tensor").values
    at = {name: i for i, name in enumerate(board.scrub.words)}
    assert np.allclose(values[0], trace["encoder.0.resid_pre"], atol=1e-5)
    assert np.allclose(values[at["attention"]], trace["encoder.0.self.out"], atol=1e-5)
    assert np.allclose(values[at["feed-forward"]], trace["encoder.0.ff.out"], atol=1e-5)
    assert np.allclose(values[-1], trace["encoder.0.resid_post"], atol=1e-5)
    assert np.allclose(panel(board, "the feed-forward's").values, trace["encoder.0.ff.post"], atol=1e-5)
    mean, deviation, length = panel(board, "each token").values[-1]
    last = trace["encoder.0.resid_post"].double().numpy()
    assert np.allclose(mean, last.mean(1), atol=1e-5)
    assert np.allclose(deviation, last.std(1), atol=1e-5)
    assert np.allclose(length, (last**2).sum(1) ** 0.5, atol=1e-4)


def test_notices_tell_lengths_of_what_is_there():
    board, trace = flow.lesson(Inputs()).board, trace_of()
    at = {name: notice for name, notice in zip(board.scrub.words, board.notice, strict=True)}
    assert bold(at["x enters"]) == [pytest.approx(length(trace["encoder.0.resid_pre"]), abs=0.051)]
    assert bold(at["norm 1"]) == pytest.approx([1.0, 32**0.5], abs=0.06)
    assert "** each" in at["norm 1"]
    assert "embedding plus position" in at["x enters"]
    assert "what layer 0 leaves" in flow.lesson(Inputs(subject="layer1")).board.notice[0]
    assert bold(at["add 1"]) == [pytest.approx(length(trace["encoder.0.resid_self"]), abs=0.051)]
    zeros = 100 * (trace["encoder.0.ff.post"] == 0).float().mean().item()
    assert bold(at["feed-forward"]) == pytest.approx([zeros, length(trace["encoder.0.ff.out"])], abs=0.51)


def test_a_gradient_passes_an_add_unchanged():
    """What the notice at "add" says: the branch's share of the gradient comes on top of the stream's own."""
    torch.manual_seed(0)
    x, branch = torch.randn(3, 4, requires_grad=True), nn.Linear(4, 4)
    upstream = torch.randn(3, 4)
    (whole,) = torch.autograd.grad(x + branch(x), x, upstream)
    (through,) = torch.autograd.grad(branch(x), x, upstream)
    torch.testing.assert_close(whole - through, upstream)


def test_without_residual_a_branch_replaces_what_came_in():
    for residual, count in ((True, 0), (False, 2)):
        notices = flow.lesson(Inputs(residual=residual)).board.notice
        assert sum("**replaces** what came in" in notice for notice in notices) == count


def test_a_trained_layer_says_that_its_gains_are_trained():
    notices = flow.lesson(Inputs(subject="layer0", norm="post")).board.notice  # the switch is not for it
    assert len(notices) == 7 and "gains are trained" in notices[1]


def test_the_translator_reads_words_that_it_knows():
    with pytest.raises(ValueError, match="do not include “zebra”"):
        flow.lesson(Inputs(subject="layer0", text="the zebra was tired"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" ", "The sentence is empty; type at least one word."),
        ("a " * 18, "The sentence has 18 words; this page draws at most 16; remove 2."),
    ],
)
def test_impossible_sentences(text: str, problem: str):
    with pytest.raises(ValueError, match=problem):
        flow.lesson(Inputs(text=text))


def test_questions():
    assert right(flow.questions()) == ["about half", "longer", "√32 = 5.7"]


def length(x: torch.Tensor) -> float:
    return x.double().square().sum(-1).sqrt().mean().item()
