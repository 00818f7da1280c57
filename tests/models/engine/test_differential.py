"""Differential attention: what each head of a pair hands on, and what edits of it do."""

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
from tests.models.kinds import KINDS

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


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_hands_on_the_difference_of_two_patterns(make: Make, kind: str):
    model = make(kind, **FIELDS)
    trace, side = traced(model), model.config.stacks[-1]
    for layer in range(3):
        at = f"{side}.{layer}.self"
        pattern, v, z, lambda_ = (trace[f"{at}.{name}"] for name in ("pattern", "v", "z", "lambda"))
        torch.testing.assert_close(pattern.sum(dim=-1), torch.ones(4, 7, dtype=torch.float64))
        own = model.get_submodule(f"{side}.layers.{layer}.self_attention.difference")
        expected = (
            math.exp((own.q1 @ own.k1).item())
            - math.exp((own.q2 @ own.k2).item())
            + [0.2, 0.3555, 0.4707][layer]
        )
        torch.testing.assert_close(
            lambda_, torch.full((2,), expected, dtype=torch.float64), atol=1e-4, rtol=0
        )
        assert torch.equal(v[0], v[1])
        for pair in range(2):  # one pattern with negative weights, which the paper draws
            signed = pattern[pair] - lambda_[pair] * pattern[pair + 2]
            torch.testing.assert_close(signed @ v[0], trace[f"{at}.difference"][pair])
        left = z[:2] - lambda_[:, None, None] * z[2:]
        torch.testing.assert_close(handed(model, layer, left), trace[f"{at}.out"], atol=1e-12, rtol=0)


@pytest.mark.parametrize("head", range(4))
def test_a_head_that_is_off_leaves_its_partner_alone(make: Make, head: int):
    model, at = make("decoder-only", **FIELDS), "decoder.1.self"
    keep = torch.ones(4, 1, 1, dtype=torch.float64)
    keep[head] = 0
    trace = traced(model, lambda address, x: x * keep if address == f"{at}.z" else x)
    z, before = trace[f"{at}.z"], traced(model)[f"{at}.z"]
    partner = (head + 2) % 4
    assert torch.equal(z[partner], before[partner])
    factor = trace[f"{at}.lambda"][0]
    assert torch.equal(trace[f"{at}.difference"][head % 2], -factor * z[partner] if head < 2 else z[partner])
    assert not trace[f"{at}.head_out"][head].abs().sum() > 1e-12
    torch.testing.assert_close(handed(model, 1, trace[f"{at}.difference"]), trace[f"{at}.out"])


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
