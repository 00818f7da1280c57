"""What training keeps, by formula, against meters, autograd's own hooks and PyTorch's checkpointing."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint

from attention_lab.pages.lab.design import memory
from attention_lab.pages.lab.design.inputs import LONG, Inputs
from attention_lab.pages.lab.design.memory import Meter, Setting, measure_pieces
from tests.pages.lab.boards import facts, panel
from tests.pages.lab.design.conftest import rows

PLAIN = Setting(n_sequences=4, t=48, n_heads=2, n_layers=3, d_head=4)
SETTINGS = [
    *memory.one_by_one(PLAIN, 2).values(),
    replace(PLAIN, half=True, fused=True),
    replace(PLAIN, n_pieces=4, checkpointing=True, fused=True, half=True),
    Setting(n_sequences=2, t=80, n_heads=3, n_layers=2, d_head=8),
]


def data(setting: Setting) -> torch.Tensor:
    shape = (setting.n_sequences, setting.t, setting.n_heads * setting.d_head)
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_what_is_kept_is_exactly_as_counted_and_the_peak_nearly(setting: Setting):
    found = memory.measure(setting)
    assert found.kept == memory.kept_bytes(setting)
    assert 0.89 * memory.peak_bytes(setting) < found.peak <= 1.001 * memory.peak_bytes(setting)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if not s.checkpointing], ids=str)
def test_autograds_hooks_see_the_same_tensors_kept(setting: Setting):
    """Every storage once, weights left out."""
    layers = memory.stack(setting)
    weights = {w.untyped_storage().data_ptr() for layer in layers for w in layer.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        pointer = tensor.untyped_storage().data_ptr()
        if pointer not in weights:
            kept[pointer] = tensor
        return tensor

    x = data(setting).to(layers[0].q_proj.weight.dtype)[: setting.at_once]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        memory.loss(layers, x, setting)
    found = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    assert memory.kept_bytes(setting) == pytest.approx(found, abs=64)  # fused attention's seed


def gradients(setting: Setting, run=memory.loss) -> list[torch.Tensor]:
    layers = memory.stack(setting)
    for piece in data(setting).split(setting.at_once):
        run(layers, piece, setting).backward()
    return [weight.grad for layer in layers for weight in layer.parameters()]


def with_pytorchs_checkpoint(layers, x, setting: Setting) -> torch.Tensor:
    x = x.clone()
    for layer in layers:
        x = checkpoint(memory.attend, layer, x, setting.fused, use_reentrant=False)
    return x.sum()


@pytest.mark.parametrize(
    "saving",
    [{"n_pieces": 4}, {"checkpointing": True}, {"fused": True}, {"fused": True, "checkpointing": True}],
)
def test_savings_change_no_gradient(saving: dict):
    for found, plain in zip(gradients(replace(PLAIN, **saving)), gradients(PLAIN), strict=True):
        assert plain.abs().max() > 0.01
        torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("fused", [False, True])
def test_recomputing_is_pytorchs_checkpointing(fused: bool):
    setting = replace(PLAIN, checkpointing=True, fused=fused)
    for mine, theirs in zip(gradients(setting), gradients(setting, with_pytorchs_checkpoint), strict=True):
        torch.testing.assert_close(mine, theirs)
    layers, x = memory.stack(setting), data(setting)
    theirs = measure_pieces([lambda: with_pytorchs_checkpoint(layers, x, setting)])
    mine = memory.measure(setting)
    assert mine.kept == theirs.kept
    # PyTorch stops before the layer's output, which no gradient needs.
    assert 0 <= mine.peak - theirs.peak <= memory.stream_bytes(setting)


def test_the_meter_counts_storages_once_and_forgets_what_is_gone():
    with Meter() as meter:
        a = torch.zeros(10)
        b = a.view(2, 5).T  # a view costs nothing
        assert meter.now == 40
        c = a + 1
        assert (meter.now, meter.peak) == (80, 80)
        a.add_(1)  # in place
        assert meter.now == 80
        del c
        assert (meter.now, meter.peak) == (40, 80)
        del a
        assert meter.now == 40  # the view still holds it
        del b
        assert meter.now == 0


AT = LONG.index(1_000)


def test_the_lessons_numbers():
    board = memory.lesson(Inputs()).board
    found = facts(board)
    assert found["one head's matrices, 16 sequences"][AT] == 16 * 1_000 * 1_000 * 4 / 1e6 == 64
    assert found["four copies of them"][AT] == 256
    assert found["× heads × layers"][AT] == pytest.approx(256e6 * 8 * 6 / 1e9)
    kept = 6 * (8 * 64e6 + 5 * 16 * 1_000 * 512 * 4)
    assert found["PyTorch keeps, plain"][AT] == pytest.approx(kept / 1e9)
    assert found["peak, with your switches"][AT] == pytest.approx((kept + 2 * 8 * 64e6) / 1e9)
    peak, patterns = (f"{size / 1e9:.3g} GB" for size in (kept + 2 * 8 * 64e6, 6 * 8 * 64e6))
    said = f"peaks at **{peak}**, {patterns} of it attention patterns; no saving is switched on."
    assert board.notice[AT] == f"With 1,000 tokens, training {said}"


SWITCHES = {
    "half": {"half": True}, "4 pieces": {"pieces": 4}, "checkpoint": {"checkpointing": True},
    "fused": {"fused": True},
}  # fmt: skip


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_does_what_its_bar_says(name: str):
    board = memory.lesson(Inputs(**SWITCHES[name])).board
    bars = panel(board, "peak, % of plain: each saving alone, and your switches")
    by_name = dict(zip(bars.labels, bars.values.T, strict=True))
    np.testing.assert_allclose(by_name["yours"], by_name[name])
    np.testing.assert_allclose(by_name["plain"], 100)
    curves = {line.name: line.y for line in panel(board, "peak over the length").lines}
    np.testing.assert_allclose(100 * curves["your switches"] / curves["plain"], by_name[name])
    said = re.search(
        r"at \*\*([\d.,]+) GB.*; with your switches at \*\*([\d.,]+) GB", board.notice[AT]
    ).groups()
    before, after = (float(number.replace(",", "")) for number in said)
    assert 100 * after / before == pytest.approx(by_name[name][AT], rel=0.01)


def test_the_measured_table_is_measured():
    found = rows(memory.lesson(Inputs(half=True)).board)
    plain = memory.measure(memory.SMALL)
    assert found["plain"][1] == f"{plain.kept / 1e3:,.0f}"
    assert found["plain"][4] == f"{plain.peak / 1e3:,.0f}"
    assert found["your switches"] == found["half precision"]
    for cells in found.values():
        assert cells[2] == "1.000"
        assert 0.89 < float(cells[5]) <= 1.001


def test_pieces_that_are_not_equal_are_refused():
    with pytest.raises(ValueError, match="4 sequences cannot be cut into 8 equal pieces; try 4 pieces"):
        memory.lesson(Inputs(sequences=4, pieces=8))
