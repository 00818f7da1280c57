"""Part 1 on any model: its points are what the modules of transformers themselves return."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from models import load_model
from pages.lab.block import any_flow, flow
from pages.lab.block.inputs import Inputs
from tests.models.zoo.hub import families
from tests.pages.lab.block.conftest import bold, panel

TEXT = "the animal was tired"
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


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for family in (*MODULES, "bart", "nystromformer"):
        families.save(family, root / family)
    return root


def asked(folder: Path, **fields: Any) -> Inputs:
    return Inputs(subject="other", other=f"hf:{folder}", other_text=TEXT, **{"other_layer": 1} | fields)


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
    (ids,) = load_model(f"hf:{saved / family}").read(TEXT).inputs
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
    hub, own = flow.lesson(asked(saved / "llama")), flow.lesson(Inputs(subject="other", other_text=TEXT))
    assert "Its norms and the sums between are not drawn" in hub.see
    assert "Its norms are not drawn" in own.see
    said = [fact.label for fact in hub.board.rows[2][1].facts]
    assert said[2] == "of the hidden layer's 48 units, exactly 0"


def test_a_decoder_with_an_encoder_looks_into_the_memory(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_flow, "MOST_TOKENS", 72)
    board = flow.lesson(asked(saved / "bart", other_stack="decoder.self", other_layer=2)).board
    names = ["x enters", "attention", "cross-attention", "feed-forward", "x leaves"]
    assert list(board.scrub.words) == names
    trace = load_model(f"hf:{saved / 'bart'}").trace(TEXT)
    shown = panel(board, "the tensor").values[2]
    np.testing.assert_allclose(shown, trace["decoder.2.cross.out"], atol=1e-5)
    assert "looks into the encoder's memory" in board.notice[2]
    (diagram,) = board.rows[0]
    assert ("0", "4") in diagram.edges and ("3", "4") in diagram.edges and len(diagram.edges) == 5


def test_what_a_decoder_writes_leaves_the_encoder_s_room_as_it_is(saved: Path) -> None:
    board = flow.lesson(asked(saved / "bart")).board
    trace = load_model(f"hf:{saved / 'bart'}").trace(TEXT)
    assert len(trace.tokens["decoder"]) > any_flow.MOST_TOKENS
    np.testing.assert_allclose(
        panel(board, "the tensor").values[-1], trace["encoder.1.resid_post"], atol=1e-5
    )


def test_our_own_sums_between_are_points() -> None:
    board = flow.lesson(Inputs(subject="other", other="translator", other_stack="decoder.self")).board
    trace = load_model("translator").trace(Inputs(other="translator").said)
    names = ["x enters", "attention", "add 1", "cross-attention", "add 2", "feed-forward", "x leaves"]
    assert list(board.scrub.words) == names
    shown = panel(board, "the tensor").values
    np.testing.assert_allclose(shown[4], trace["decoder.0.resid_cross"], atol=1e-5)
    assert "added up" in board.notice[-1]
    (diagram,) = board.rows[0]
    assert {("0", "2"), ("2", "4"), ("4", "6")} < set(diagram.edges)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"other_layer": 2}, "layer=2 is not there: llama has layers 0 to 1; take one"),
        (
            {"other_text": "the " * 25},
            r"The decoder of llama has \d+ tokens; 24 have room here; shorten the text",
        ),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(saved: Path, fields: dict[str, Any], refusal: str) -> None:
    with pytest.raises(ValueError, match=refusal):
        flow.lesson(
            Inputs(**{"subject": "other", "other": f"hf:{saved / 'llama'}", "other_text": TEXT} | fields)
        )


def test_patterns_alone_have_no_points(saved: Path) -> None:
    with pytest.raises(ValueError, match="Only the attention weights of nystromformer can be shown"):
        flow.lesson(asked(saved / "nystromformer"))
