"""Every point of a layer is what the engine's trace holds; sums and norms are what they are called."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch.nn import functional as F

from attention_lab.models import ModelConfig, UntrainedModel, load_model
from attention_lab.pages.lab.block import flow
from attention_lab.pages.lab.block.inputs import Inputs
from tests.pages.lab.boards import bold, panel

TEXT = "the animal did not cross the street because it was too tired"


@pytest.mark.parametrize("number", [0, 1])
def test_a_trained_layer_step_by_step(number: int):
    lm = load_model("translator")
    trace = lm.trace(TEXT, target="")
    block = flow.of_translator(lm, TEXT, number)
    points = flow.walk(block.layer, block.x).points
    assert [p.kind for p in points] == [
        "stream", "norm", "attention", "add", "norm", "feed-forward", "add",
    ]  # fmt: skip
    close(points[-1].x, trace[f"encoder.{number}.resid_post"])
    expected = F.layer_norm(block.x, (64,), block.layer.self_norm.weight, block.layer.self_norm.bias)
    close(points[1].x, expected.detach())
    assert block.tokens == trace.tokens["encoder"]


def close(actual: torch.Tensor, expected: torch.Tensor, atol: float = 1e-5) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=atol)


USUAL_TEXT = Inputs().text


def trace_of(**fields):
    sizes = {"n_layers": 1, "n_heads": 4, "d_model": 32, "vocab_size": 17, "max_len": 19}
    return UntrainedModel(ModelConfig(kind="encoder-only", **sizes, **fields), seed=0).trace(USUAL_TEXT)


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


@pytest.mark.parametrize("feed_forward", [True, False])
@pytest.mark.parametrize(
    ("norm", "residual"), [("pre", True), ("post", True), ("post", False), ("none", True), ("none", False)]
)
def test_each_frame_is_the_tensor_of_the_trace(norm: str, residual: bool, feed_forward: bool):
    board = flow.lesson(Inputs(norm=norm, residual=residual, ff=4 * feed_forward)).board
    trace = trace_of(norm=norm, residual=residual, feed_forward=feed_forward)
    values = panel(board, "the tensor").values
    at = {name: i for i, name in enumerate(board.scrub.words)}
    assert np.allclose(values[0], trace["encoder.0.resid_pre"], atol=1e-5)
    assert np.allclose(values[at["attention"]], trace["encoder.0.self.out"], atol=1e-5)
    if feed_forward:
        assert np.allclose(values[at["feed-forward"]], trace["encoder.0.ff.out"], atol=1e-5)
        assert np.allclose(panel(board, "the feed-forward's").values, trace["encoder.0.ff.post"], atol=1e-5)
    assert np.allclose(values[-1], trace["encoder.0.resid_post"], atol=1e-5)

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
    assert at["norm 1"].endswith("**.")
    assert "embedding plus position" in at["x enters"]
    assert "what layer 0 leaves" in flow.lesson(Inputs(subject="layer1")).board.notice[0]
    assert bold(at["add 1"]) == [pytest.approx(length(trace["encoder.0.resid_self"]), abs=0.051)]
    zeros = 100 * (trace["encoder.0.ff.post"] == 0).float().mean().item()
    assert bold(at["feed-forward"]) == [pytest.approx(zeros, abs=0.51)]


def test_without_residual_a_branch_replaces_what_came_in():
    for residual, count in ((True, 0), (False, 2)):
        notices = flow.lesson(Inputs(residual=residual)).board.notice
        assert sum("**replaces** the input" in notice for notice in notices) == count


def test_a_trained_layer_says_that_its_gains_are_trained():
    notices = flow.lesson(Inputs(subject="layer0", norm="post")).board.notice  # the switch is not for it
    assert len(notices) == 7 and "gains are trained" in notices[1]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"text": "a " * 18}, "The sentence has 18 words; at most 16 are drawn; remove 2."),
        ({"subject": "layer0", "text": "the zebra was tired"}, "do not include “zebra”"),
    ],
)
def test_impossible_sentences(fields: dict[str, Any], problem: str):
    with pytest.raises(ValueError, match=problem):
        flow.lesson(Inputs(**fields))


def length(x: torch.Tensor) -> float:
    return x.double().square().sum(-1).sqrt().mean().item()


SHORT_TEXT = "the animal was tired"
MODULES = {
    "llama": ("AutoModelForCausalLM", "model.layers.1", "self_attn.o_proj", "mlp.down_proj"),
    "gemma2": (
        "AutoModelForCausalLM",
        "model.layers.1",
        "post_attention_layernorm",
        "post_feedforward_layernorm",
    ),
    "gpt-neox": ("AutoModelForCausalLM", "gpt_neox.layers.1", "attention.dense", "mlp.dense_4h_to_h"),
    "bert": ("AutoModelForMaskedLM", "bert.encoder.layer.1", "attention.output.dense", "output.dense"),
}


def asked(folder: Path, **fields: Any) -> Inputs:
    return Inputs(subject="other", other=f"hf:{folder}", other_text=SHORT_TEXT, **{"other_layer": 1} | fields)


def heard(folder: Path, ids: torch.Tensor, kind: str, layer: str, *inside: str) -> list[torch.Tensor]:
    """What a layer of transformers' own model is given, what these modules in it return, what it returns."""
    net = getattr(hf, kind).from_pretrained(folder).eval()
    outer = net.get_submodule(layer)
    found: dict[str, torch.Tensor] = {}

    def put(name: str, value: Any) -> None:
        found[name] = (value if isinstance(value, torch.Tensor) else value[0])[0]

    with ExitStack() as hooks, torch.no_grad():
        hooks.callback(outer.register_forward_pre_hook(lambda _, given: put("in", given)).remove)
        hooks.callback(outer.register_forward_hook(lambda _, given, made: put("out", made)).remove)
        for name in inside:
            module = outer.get_submodule(name)
            hooks.callback(module.register_forward_hook(lambda _, g, made, name=name: put(name, made)).remove)
        net(ids)
    return [found["in"], *(found[name] for name in inside), found["out"]]


@pytest.mark.parametrize("family", MODULES)
def test_points_are_what_the_modules_return(saved: Path, family: str) -> None:
    board = flow.lesson(asked(saved / family)).board
    (ids,) = load_model(f"hf:{saved / family}").read(SHORT_TEXT).inputs
    points = heard(saved / family, ids, *MODULES[family])
    assert list(board.scrub.words) == ["x enters", "attention", "feed-forward", "x leaves"]
    np.testing.assert_allclose(panel(board, "the tensor").values, torch.stack(points), atol=1e-5)
    mean, deviation, length = panel(board, "each token").values[-1]
    np.testing.assert_allclose(length, points[-1].norm(dim=-1), rtol=1e-5)
    np.testing.assert_allclose(mean, points[-1].mean(-1), atol=1e-5)
    np.testing.assert_allclose(deviation, points[-1].std(-1, correction=0), rtol=1e-4)
    lengths = [point.norm(dim=-1).mean().item() for point in points]
    for notice, own in zip(board.notice, lengths, strict=True):
        assert bold(notice)[0] == pytest.approx(own, abs=0.051)
    total = sum(points[:-1])
    is_sum = torch.allclose(total, points[-1], atol=1e-4)
    assert is_sum == (family != "bert")  # whose norms stand behind the sums
    assert ("added up" in board.notice[-1]) == is_sum
    if not is_sum:
        assert bold(board.notice[-1])[1] == pytest.approx(total.norm(dim=-1).mean().item(), abs=0.051)


def test_what_a_trace_does_not_hold_is_said(saved: Path) -> None:
    hub, own = (
        flow.PART.lesson(asked(saved / "llama")),
        flow.PART.lesson(Inputs(subject="other", other_text=SHORT_TEXT)),
    )
    assert "Its norms and the sums between are not drawn" in hub.see
    assert "Its norms are not drawn" in own.see
    said = [fact.label for fact in hub.board.rows[2][1].facts]
    assert said[2] == "of the hidden layer's 48 units, exactly 0"


def test_a_decoder_with_an_encoder_looks_into_the_memory(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "MOST_TOKENS", 72)
    board = flow.lesson(asked(saved / "bart", other_stack="decoder.self", other_layer=2)).board
    names = ["x enters", "attention", "cross-attention", "feed-forward", "x leaves"]
    assert list(board.scrub.words) == names
    trace = load_model(f"hf:{saved / 'bart'}").trace(SHORT_TEXT)
    shown = panel(board, "the tensor").values[2]
    np.testing.assert_allclose(shown, trace["decoder.2.cross.out"], atol=1e-5)
    assert "looks into the encoder's memory" in board.notice[2]
    (diagram,) = board.rows[0]
    assert ("0", "4") in diagram.edges and ("3", "4") in diagram.edges and len(diagram.edges) == 5


def test_what_a_decoder_writes_leaves_the_encoder_s_room_as_it_is(saved: Path) -> None:
    board = flow.lesson(asked(saved / "bart")).board
    trace = load_model(f"hf:{saved / 'bart'}").trace(SHORT_TEXT)
    assert len(trace.tokens["decoder"]) > flow.MOST_TOKENS
    np.testing.assert_allclose(
        panel(board, "the tensor").values[-1], trace["encoder.1.resid_post"], atol=1e-5
    )


def test_our_own_sums_between_are_points() -> None:
    board = flow.lesson(Inputs(subject="other", other="translator", other_stack="decoder.self")).board
    trace = load_model("translator").trace(Inputs(other="translator").reading_text)
    names = ["x enters", "attention", "add 1", "cross-attention", "add 2", "feed-forward", "x leaves"]
    assert list(board.scrub.words) == names
    shown = panel(board, "the tensor").values
    np.testing.assert_allclose(shown[4], trace["decoder.0.resid_cross"], atol=1e-5)
    assert "added up" in board.notice[-1]
    (diagram,) = board.rows[0]
    assert {("0", "2"), ("2", "4"), ("4", "6")} < set(diagram.edges)


def test_a_text_of_too_many_tokens_is_refused(saved: Path) -> None:
    refusal = r"The decoder of llama has \d+ tokens; 24 have room here; shorten the text"
    with pytest.raises(ValueError, match=refusal):
        flow.lesson(replace(asked(saved / "llama"), other_text="the " * 25))
