"""Gradients beside finite differences, and attributions beside the edits that they estimate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.interventions.attribution import attribute_heads, attribute_positions
from attention_lab.models.interventions.head_sweep import sweep_heads
from tests.models.interventions.conftest import Letters
from tests.models.zoo.hub import families

Make = Callable[..., Letters]
TEXT, OTHER = "abcabd", "fbgabc"
KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]
METRIC = "logits 3-5 at -1"
LINEAR: dict[str, Any] = {"n_layers": 1, "norm": "none", "feed_forward": False}
"""The logits of such a decoder are a linear function of z."""


def difference(trace: Any) -> float:
    return float(trace["logits"][-1, 3] - trace["logits"][-1, 5])


def along(lm: Any, reading: Any, address: str, direction: torch.Tensor, step: float) -> float:
    """The slope of the metric in a direction at an address, by central differences."""
    ends = [
        difference(lm.trace(reading, edit=lambda at, x, by=by: x + by * direction if at == address else x))
        for by in (step, -step)
    ]
    return (ends[0] - ends[1]) / (2 * step)


def check_slopes(lm: Any, reading: Any, grads: Any, rel: float) -> None:
    """At every address, in a random direction."""
    generator = torch.Generator().manual_seed(1)
    plain = lm.trace(reading)
    assert set(grads) == set(plain)
    for address in plain:
        value = plain[address]
        if address == "logits":
            continue
        open_ = value.isfinite()  # a masked score is -inf
        direction = torch.randn(value.shape, generator=generator).to(value).masked_fill(~open_, 0)
        slope = along(lm, reading, address, direction, 1e-5)
        assert grads[address].shape == value.shape
        assert float((grads[address] * direction).sum()) == pytest.approx(slope, rel=rel, abs=1e-7), address


@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_keeps_the_gradient_at_every_address(letters: Make, kind: str) -> None:
    lm = letters(kind)
    reading = lm.read(TEXT)
    trace = lm.trace(reading, grad=METRIC)
    assert repr(trace).splitlines()[0].endswith(", with gradients")
    check_slopes(lm, reading, trace.grads, rel=1e-5)
    for metric in (
        lambda logits: logits[:, -1, 3] - logits[:, -1, 5],
        lambda trace: trace["logits"][-1, 3] - trace["logits"][-1, 5],
    ):
        same = lm.trace(reading, grad=metric).grads
        assert all(torch.equal(same[address], grad) for address, grad in trace.grads.items())
    plain = lm.trace(reading)
    assert all(torch.equal(plain[address], trace[address]) for address in plain) and not plain.grads
    assert all(parameter.grad is None for parameter in lm.model.parameters())


@pytest.mark.parametrize("family", ["llama", "bart"])
def test_so_does_that_of_a_model_of_transformers(family: str, tmp_path: Path) -> None:
    lm = load_model(f"hf:{families.save(family, tmp_path)}")
    lm.net.double()
    settings = {"target": families.ANSWER} if family == "bart" else {}
    reading = lm.read(families.TEXT, **settings)
    lm.net.requires_grad_(False)  # as of a model that is not trained
    check_slopes_in_floats(lm, reading, lm.trace(reading, grad=METRIC).grads)


def check_slopes_in_floats(lm: Any, reading: Any, grads: Any) -> None:
    """The trace has float32, whatever the network computes in, so that steps are larger."""
    generator = torch.Generator().manual_seed(1)
    plain = lm.trace(reading)
    for address in plain:
        value = plain[address]
        if address == "logits":
            continue
        direction = torch.randn(value.shape, generator=generator).masked_fill(~value.isfinite(), 0)
        slope = along(lm, reading, address, direction * float(value[value.isfinite()].std()), 1e-2)
        found = float((grads[address] * direction).sum() * value[value.isfinite()].std())
        assert found == pytest.approx(slope, rel=2e-2, abs=2e-3), address


def test_gradients_are_of_the_pass_as_it_is_edited(letters: Make) -> None:
    lm = letters("decoder-only")
    line = "decoder.0.self heads 1: scale 0.5"
    trace = lm.trace(TEXT, edits=[line], grad=METRIC)
    plain = lm.trace(TEXT, grad=METRIC)
    assert not torch.allclose(trace.grads["decoder.1.self.z"], plain.grads["decoder.1.self.z"])
    z = trace["decoder.0.self.z"]
    direction = torch.randn(z.shape, generator=torch.Generator().manual_seed(2)).double()

    def at(by: float) -> float:
        edit = lambda a, x: x + by * direction if a == "decoder.0.self.z" else x  # noqa: E731
        return difference(lm.trace(TEXT, edits=[line], edit=edit))

    slope = (at(1e-5) - at(-1e-5)) / 2e-5
    assert float((trace.grads["decoder.0.self.z"] * direction).sum()) == pytest.approx(slope, rel=1e-5)


def test_what_a_metric_does_not_depend_on_has_no_gradient(letters: Make) -> None:
    lm = letters("decoder-only")
    early = lm.trace(TEXT, grad=lambda trace: trace["decoder.0.self.pattern"][1, 3, 0])
    assert "decoder.0.self.q" in early.grads and "decoder.0.self.v" not in early.grads
    with pytest.raises(ValueError, match="the metric depends on nothing in the trace"):
        lm.trace(TEXT, grad=lambda trace: torch.tensor(1.0))


@pytest.mark.parametrize("how", [{}, {"change": "mean"}, {"change": "from", "other": OTHER}])
@pytest.mark.parametrize("by_position", [False, True])
def test_attribution_is_the_sweep_itself_where_the_model_is_linear(
    letters: Make, how: dict[str, Any], by_position: bool
) -> None:
    lm = letters("decoder-only", **LINEAR)
    exact = sweep_heads(lm, TEXT, METRIC, by_position=by_position, **how)
    told = attribute_heads(lm, TEXT, METRIC, by_position=by_position, **how)
    torch.testing.assert_close(told.effects["decoder.self"], exact.effects["decoder.self"])
    assert told.layers == exact.layers and float(exact.effects["decoder.self"].abs().max()) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_attribution_is_the_slope_of_each_edit(letters: Make, kind: str) -> None:
    lm = letters(kind)
    reading = lm.read(TEXT)
    found = attribute_heads(lm, reading, METRIC)
    patched = attribute_positions(lm, reading, METRIC, OTHER)
    source = lm.trace(OTHER)
    for stack, effects in found.effects.items():
        side, name = stack.split(".")
        address = f"{side}.0.{name}.z"
        direction = torch.zeros_like(lm.trace(reading)[address])
        direction[1] = -lm.trace(reading)[address][1]
        slope = along(lm, reading, address, direction, 1e-5)
        assert float(effects[0, 1]) == pytest.approx(slope, rel=1e-5, abs=1e-9)
    side = next(iter(reading.tokens))
    address = f"{side}.1.resid_pre"
    direction = torch.zeros_like(source[address])
    direction[3] = source[address][3] - lm.trace(reading)[address][3]
    slope = along(lm, reading, address, direction, 1e-5)
    assert float(patched.effects[side][1, 3]) == pytest.approx(slope, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("how", "least"), [("zero", 0.9), ("mean", 0.95), ("from", 0.7)])
def test_attribution_ranks_the_heads_of_a_trained_model_nearly_as_the_sweep_does(
    how: str, least: float
) -> None:
    """By correlation, as Nanda 2023 compares the two: the translator's "il" less "elle" for "it"."""
    lm = load_model("translator")
    il, elle = (lm.outputs.index(word) for word in ("il", "elle"))
    metric, text = f"logits {il}-{elle} at 10", "the animal did not cross the street because it was too tired"
    more = {"change": how, "other": text.replace("tired", "wide") if how == "from" else None}
    both = [ask(lm, text, metric, **more).effects for ask in (sweep_heads, attribute_heads)]
    rows = [torch.cat([effects[stack].flatten() for stack in both[0]]) for effects in both]
    assert float(torch.corrcoef(torch.stack(rows))[0, 1]) > least


@pytest.mark.parametrize("metric", ["kl at 0", "distance at -1", "score"])
def test_what_is_flat_where_nothing_is_changed_is_refused(letters: Make, metric: str) -> None:
    lm = letters("decoder-only")
    with pytest.raises(ValueError, match="has no slope where nothing is changed"):
        attribute_heads(lm, TEXT, metric)
