"""Knobs on our models: what each does, again by hand in PyTorch on the first layer."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from models.contrast import Side, contrast, knobs
from models.contrast.knobs.formats import rounded
from models.engine.trace import Trace
from tests.models.interventions.conftest import Letters, letters

Make = Callable[..., Letters]
__all__ = ["letters"]
TEXT = "abcabd"
BIASED = ["none", "alibi", "t5", "transformer-xl", "rotary"]


def turned(lm: Any, knob: str, value: str, text: str = TEXT) -> tuple[Trace, Trace]:
    """The trace without and with a knob, of the same tokens."""
    side = Side(lm, text)
    reading = side.read()
    return side.trace(reading), knobs()[knob].applied(side, value).trace(reading)


def test_the_knobs_are_declared_in_the_order_of_a_menu() -> None:
    assert list(knobs()) == ["scale", "temperature", "mask", "positions", "order", "heads", "format"]
    assert all(knob.help.endswith(".") and knob.name == name for name, knob in knobs().items())


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "encoder-decoder"])
def test_a_knob_at_the_models_own_value_changes_no_bit(letters: Make, kind: str) -> None:
    lm = letters(kind)
    side = Side(lm, TEXT)
    for knob in knobs().values():
        assert knob.applied(side, knob.own(lm)) is side
    plain, remade = side.trace(), lm.remade(lambda net: None).trace(TEXT)
    assert list(plain) == list(remade) and all(plain[at].equal(remade[at]) for at in plain)


def test_no_knob_changes_the_model_itself(letters: Make) -> None:
    lm = letters("decoder-only")
    before = copy.deepcopy(lm.model.state_dict())
    for name, knob in knobs().items():
        if knob.why_not(Side(lm, TEXT)):
            assert name == "order"  # letters are no words
            continue
        for value in knob.values(lm)[-2:]:
            if value != knob.own(lm):
                contrast(Side(lm, TEXT), knob.applied(Side(lm, TEXT), value))
                assert lm.model.config.mask == "none" and lm.model.decoder.causal, name
    after = lm.model.state_dict()
    assert all(before[name].equal(after[name]) and before[name].dtype == after[name].dtype for name in before)


@pytest.mark.parametrize("positions", BIASED)
def test_temperature_divides_the_whole_scores(letters: Make, positions: str) -> None:
    before, after = turned(letters("decoder-only", positions=positions), "temperature", "0.5")
    scores = before["decoder.0.self.scores"]
    assert after["decoder.0.self.pattern"].equal((scores / 0.5).softmax(dim=-1))
    assert not after["decoder.1.self.q"].equal(before["decoder.1.self.q"])


@pytest.mark.parametrize("positions", BIASED)
def test_without_scale_the_dot_products_alone_grow(letters: Make, positions: str) -> None:
    lm = letters("encoder-only", positions=positions)
    before, after = turned(lm, "scale", "off")
    at = "encoder.0.self"
    q, k = before[f"{at}.q"], before[f"{at}.k"]
    products = q @ k.mT
    assert after[f"{at}.q"].equal(q)
    bias = before[f"{at}.bias"] if f"{at}.bias" in before else torch.zeros_like(products)
    if positions == "transformer-xl":  # its terms are dot products as well: the scale is on all four
        bias = bias * lm.config.head_size**0.5
    torch.testing.assert_close(after[f"{at}.scores"], products + bias, rtol=1e-12, atol=1e-12)


def test_none_lets_a_decoder_look_ahead_and_a_window_hides_the_rest(letters: Make) -> None:
    lm = letters("decoder-only")
    before, after = turned(lm, "mask", "none")
    at = "decoder.0.self"
    products = before[f"{at}.q"] @ before[f"{at}.k"].mT * lm.config.scale
    torch.testing.assert_close(after[f"{at}.pattern"], products.softmax(dim=-1), rtol=1e-12, atol=1e-12)
    _, windowed = turned(lm, "mask", "causal+window:2")
    for head in range(2):
        for query in range(6):
            open_ = range(max(0, query - 1), query + 1)
            exps = {key: products[head, query, key].exp().item() for key in open_}
            wanted = [exps.get(key, 0.0) / sum(exps.values()) for key in range(6)]
            assert windowed[f"{at}.pattern"][head, query].tolist() == pytest.approx(wanted, abs=1e-12)


def test_padding_and_cross_attention_stay_under_a_mask(letters: Make) -> None:
    _, after = turned(letters("encoder-decoder"), "mask", "causal", "ab_cd")
    assert after["encoder.0.self.pattern"][:, :, 2].eq(0).all()
    assert after["encoder.0.self.pattern"].triu(1).eq(0).all()
    assert after["decoder.0.cross.pattern"][:, 0, [0, 1, 3, 4]].gt(0).all()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "t5", "transformer-xl"])
def test_without_positions_a_bag_of_words_is_read(letters: Make, positions: str) -> None:
    lm = letters("encoder-only", positions=positions)
    _, after = turned(lm, "positions", "none")
    at = "encoder.0.self"
    assert after["encoder.0.resid_pre"].equal(after["encoder.embed"])
    products = after[f"{at}.q"] @ after[f"{at}.k"].mT * lm.config.scale
    torch.testing.assert_close(after[f"{at}.scores"], products, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(after["logits"][0], after["logits"][3], rtol=1e-9, atol=1e-9)  # both are "a"


def test_another_scheme_takes_the_place_of_the_own(letters: Make) -> None:
    lm = letters("encoder-only", positions="learned")
    assert knobs()["positions"].values(lm) == ("learned", "none", "alibi", "rotary", "sinusoidal")
    made = letters("encoder-only", positions="rotary")
    kept = {name: value for name, value in lm.model.state_dict().items() if "positions" not in name}
    made.model.load_state_dict(kept)
    _, after = turned(lm, "positions", "rotary")
    assert after["logits"].equal(made.trace(TEXT)["logits"])


@pytest.mark.parametrize("n_heads", [1, 4, 8])
def test_the_same_matrices_are_cut_into_other_heads(letters: Make, n_heads: int) -> None:
    lm = letters("encoder-only", positions="transformer-xl" if n_heads == 4 else "sinusoidal")
    _, after = turned(lm, "heads", str(n_heads))
    layer = lm.model.encoder.layers[0]
    h = layer.self_norm(after["encoder.0.resid_pre"])
    parts = [
        (h @ each.weight.T + each.bias).view(6, n_heads, 8 // n_heads).transpose(0, 1)
        for each in (layer.self_attention.q_proj, layer.self_attention.k_proj, layer.self_attention.v_proj)
    ]
    q, k, v = parts
    scores = q @ k.mT / (8 // n_heads) ** 0.5
    if n_heads == 4:
        scores = scores + after["encoder.0.self.bias"]
    torch.testing.assert_close(after["encoder.0.self.scores"], scores, rtol=1e-9, atol=1e-9)
    z = (scores.softmax(dim=-1) @ v).transpose(0, 1).flatten(1)
    out = z @ layer.self_attention.out_proj.weight.T + layer.self_attention.out_proj.bias
    torch.testing.assert_close(after["encoder.0.self.out"], out, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "t5", "transformer-xl"])
@pytest.mark.parametrize("value", ["bfloat16", "float16"])
def test_the_whole_pass_is_in_the_format(letters: Make, positions: str, value: str) -> None:
    lm = letters("decoder-only", positions=positions)
    _, after = turned(lm, "format", value)
    trace = Trace()
    net = copy.deepcopy(lm.model).to(getattr(torch, value))
    net(lm.read(TEXT).inputs[0], trace=trace)
    for at in trace:
        assert after[at].dtype == torch.float32 and after[at].equal(trace[at].float()), at


def test_each_row_of_int8_is_whole_numbers_times_one_number(letters: Make) -> None:
    lm = letters("decoder-only", tied_embeddings=False)
    made = knobs()["format"].applied(Side(lm, TEXT), "int8").model.model
    before, after = dict(lm.model.named_parameters()), dict(made.named_parameters())
    changed = {name for name in before if not before[name].equal(after[name])}
    matrices = ("q_proj", "k_proj", "v_proj", "out_proj", "linear_in", "linear_out")
    rounds = {name for name in before if name.endswith(".weight") and name.split(".")[-2] in matrices}
    assert changed == {"output.weight", *rounds} and len(rounds) == 12
    for row, plain in zip(after["output.weight"].tolist(), before["output.weight"].tolist(), strict=True):
        step = max(map(abs, plain)) / 127
        assert row == pytest.approx([round(x / step) * step for x in plain], rel=1e-6)
    few = rounded(torch.tensor([[0.0, 0.0], [1.27, 0.016]]))
    assert few.flatten().tolist() == pytest.approx([0, 0, 1.27, 0.02])


def test_a_tied_output_layer_stays_tied_and_unrounded(letters: Make) -> None:
    lm = letters("decoder-only")
    made = knobs()["format"].applied(Side(lm, TEXT), "int8").model.model
    assert made.embedding.weight is lm.model.embedding.weight and made.output is None


def test_knobs_add_up_but_none_is_turned_twice(letters: Make) -> None:
    lm = letters("decoder-only")
    side = knobs()["temperature"].applied(Side(lm, TEXT), "2")
    both = knobs()["mask"].applied(side, "causal+window:2")
    assert dict(both.knobs) == {"temperature": "2", "mask": "causal+window:2"} and both.reader is lm
    scores = side.trace()["decoder.0.self.scores"].tril().triu(-1)
    open_ = torch.ones(6, 6).tril().triu(-1).bool()
    wanted = scores.masked_fill(~open_, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(both.trace()["decoder.0.self.pattern"], wanted, rtol=1e-12, atol=1e-12)
    lines = ("decoder.0.self.pattern at 3: only 0",)
    with pytest.raises(ValueError, match="position 3 may not look at position 0, which its mask hides"):
        replace(both, edits=lines).trace()
    assert replace(side, edits=lines).trace()["decoder.0.self.pattern"][:, 3, 0].eq(1).all()
    with pytest.raises(ValueError, match="temperature=2 is set already; start from the side without"):
        knobs()["temperature"].applied(both, "4")
