"""Differential attention: what edits of it do. zoo/hub/test_into_engine.py has its numbers."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from attention_lab.models import Trace, Transformer
from attention_lab.models.engine.differential import fused
from attention_lab.models.interventions.edit import Edit
from attention_lab.models.interventions.edited_pass import Prepared
from attention_lab.models.interventions.head_paths import direct_heads, parts_of_logits
from attention_lab.models.interventions.head_sweep import sweep_heads
from tests.models.interventions.conftest import Letters

Make = Callable[..., Transformer]
IDS = torch.tensor([[3, 1, 4, 10, 5, 9, 2]])
FIELDS: dict[str, Any] = {"n_heads": 4, "d_head": 3, "n_layers": 3, "differential": True, "n_kv_heads": 2}


def traced(model: Transformer, edit: Any = None) -> Trace:
    trace, source = Trace(edit=edit), [IDS] * (1 + (model.config.kind == "encoder-decoder"))
    model(*source, trace=trace)
    return trace


def handed(model: Transformer, layer: int, left: Tensor) -> Tensor:
    """What the projection makes of pairs [pair, query, channel], in the words of the paper."""
    initial = 0.8 - 0.6 * math.exp(-0.3 * layer)
    normed = left / (left.square().mean(dim=-1, keepdim=True) + model.config.norm_eps).sqrt() * (1 - initial)
    side = model.get_submodule(model.config.stacks[-1])
    return side.layers[layer].self_attention.out_proj(torch.cat(list(normed), dim=-1))


@pytest.mark.parametrize("name", ["lambda", "difference", "head_out"])
def test_what_follows_is_computed_from_an_edited_value(make: Make, name: str):
    model, at = make("decoder-only", **FIELDS), "decoder.1.self"
    trace = traced(model, lambda address, x: x * 0 if address == f"{at}.{name}" else x)
    bias = model.decoder.layers[1].self_attention.out_proj.bias  # type: ignore[union-attr]
    expected = handed(model, 1, trace[f"{at}.z"][:2]) if name == "lambda" else bias.expand(7, -1)
    torch.testing.assert_close(trace[f"{at}.out"], expected)


@torch.no_grad()
def test_sweeps_of_heads_are_edits_and_shares_add_up(make: Make):
    lm = Letters("letters", make("decoder-only", **FIELDS))
    reading, target = lm.read("abcabd"), "logits 3-5 at 2"
    sweep, direct = sweep_heads(lm, reading, target), direct_heads(lm, reading, target)
    plain = lm.trace(reading)
    for layer, head in product(range(3), range(4)):
        edits = [Edit.read(f"decoder.{layer}.self heads {head}: zero")]
        edited = lm.trace(reading, edit=Prepared(lm, reading, edits, {}).applied(reading))["logits"][2]
        found = float(sweep.effects["decoder.self"][layer, head]) + sweep.before
        assert found == pytest.approx(float(edited[3] - edited[5]), abs=1e-9)
        part = plain[f"decoder.{layer}.self.head_out"][head] @ lm.projection("decoder.self", layer)[head]
        stream = plain["decoder.2.resid_post"] - part
        without = lm.model.unembed(lm.model.decoder.norm(stream))[2]
        found = float(direct.effects["decoder.self"][layer, head]) + direct.before
        assert found == pytest.approx(float(without[3] - without[5]), abs=1e-9)
    parts = parts_of_logits(lm, reading)
    torch.testing.assert_close(parts.values.sum(dim=0), plain["logits"][-1], atol=1e-9, rtol=0)
    assert sum("head" in name for name in parts.names) == 12


@pytest.mark.parametrize("mask", [("strided", "40"), ("window", "200"), ("none", "")])
def test_long_training_texts_in_blocks_are_those_of_a_trace(make: Make, mask: tuple[str, str]):
    name, argument = mask
    model = make("decoder-only", **FIELDS, mask=name, mask_argument=argument, max_len=1_100)
    ids = torch.randint(1, 11, (1, 1_100), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        torch.testing.assert_close(model(ids), model(ids, trace=Trace(lambda *_: None)), atol=1e-9, rtol=0)


def test_wide_values_go_through_pytorchs_kernel_in_parts(monkeypatch: pytest.MonkeyPatch):
    q, k, v = (
        torch.randn(1, 2, 6, width, generator=torch.Generator().manual_seed(width)) for width in (4, 4, 8)
    )
    expected, widths, whole = (
        F.scaled_dot_product_attention(q, k, v, is_causal=True),
        [],
        (F.scaled_dot_product_attention),
    )

    def heard(q: Tensor, k: Tensor, v: Tensor, **more: Any) -> Tensor:
        widths.append(v.shape[-1])
        return whole(q, k, v, **more)

    monkeypatch.setattr(F, "scaled_dot_product_attention", heard)
    torch.testing.assert_close(fused(q, k, v, is_causal=True), expected)
    fused(q, k, v, dropout=0.5)
    assert widths == [4, 4, 8]
