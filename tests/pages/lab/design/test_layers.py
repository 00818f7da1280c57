"""Operations against PyTorch's own count, and a clock that is under control."""

import math
import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attention_lab.models.engine.trace import Trace, within
from attention_lab.pages.lab import attention_cost
from attention_lab.pages.lab.design import layers
from attention_lab.pages.lab.design.inputs import D_LAYER, LENGTHS, Inputs
from tests.pages.lab.boards import facts, panel

SIZES = [(5, 8, 3), (16, 4, 2), (7, 12, 5)]


def counted(run) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return counter.get_total_flops()


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
def test_operations_are_those_that_pytorch_counts(n: int, d: int, k: int):
    attention, x = attention_cost.random_layer(1, d), torch.zeros(1, n, d)
    traced = counted(lambda: attention(x, x, trace=within(Trace(), "counted")))
    assert layers.attention_flops(n, d) == traced == 4 * n * n * d + 8 * n * d * d
    convolution = layers.layer("convolution", d, k)
    assert layers.convolution_flops(n, d, k) == counted(lambda: convolution(x.mT.contiguous()))
    recurrence = layers.layer("recurrent", d)
    cell = nn.RNNCell(d, d, bias=False)  # the fused layer is opaque to the counter
    assert layers.recurrent_flops(n, d) == n * counted(lambda: cell(x[:, 0], x[:, 0]))
    assert sum(w.numel() for w in recurrence.parameters()) == sum(w.numel() for w in cell.parameters())


@pytest.mark.parametrize("name", ["self-attention", "recurrent", "convolution"])
def test_layers_are_one_layer_each_and_need_no_global_randomness(name: str):
    state = torch.get_rng_state()
    x = layers.texts(name, 6, 8)
    with torch.no_grad():
        one, same = (layers.layer(name, 8, 3)(x) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    one, same = (out[0] if isinstance(out, tuple) else out for out in (one, same))
    assert one.shape == x.shape
    torch.testing.assert_close(one, same)


def test_the_recurrent_layer_is_the_plain_one():
    """h_t = tanh(W_x x_t + W_h h_{t-1}), in a float64 loop."""
    layer, x = layers.layer("recurrent", 5), layers.texts("recurrent", 7, 5)
    with torch.no_grad():
        found = layer(x)[0][0].double()
    w_x, w_h = (weight.detach().double() for weight in layer.parameters())
    h = torch.zeros(5, dtype=torch.float64)
    for at in range(7):
        h = torch.tanh(w_x @ x[0, at].double() + w_h @ h)
        torch.testing.assert_close(found[at], h, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("ms_a_token", "growth", "times", "calls"),
    [
        (1.2, 4, [1.2, 2.4, None, None], [1, 1, 1, 2, 2]),
        (1.2, 2, [1.2, 2.4, 4.8, None], [1, 1, 1, 2, 2, 4, 4]),
        (0.1, 4, [0.1, 0.2, 0.4], [1] * 6 + [2] * 5 + [4] * 5),
    ],
)
def test_times_are_the_fastest_and_end_in_time(
    ms_a_token: float, growth: int, times: list, calls: list, monkeypatch: pytest.MonkeyPatch
):
    """A clock that each pass moves by so much a token, and a quarter more every other time."""
    now, made = [0.0], []
    monkeypatch.setattr(layers.time, "perf_counter", lambda: now[0])

    def run(x: torch.Tensor) -> None:
        made.append(x.shape[1])
        now[0] += 1e-3 * ms_a_token * x.shape[1] * (1 + len(made) % 2 / 4)

    found = layers.milliseconds(run, [torch.zeros(1, 2**at, 1) for at in range(len(times))], growth)
    assert [None if math.isnan(ms) else round(ms, 9) for ms in found] == times
    assert made == calls


def test_who_asks_again_gets_the_same_numbers():
    first = layers.measure("recurrent", (4, 8), 8)
    assert all(ms > 0 for ms in first)
    assert layers.measure("recurrent", (4, 8), 8) is first


N = np.array(LENGTHS, float)


def test_the_terms_of_table_1():
    found = facts(layers.lesson(Inputs(d_layer=128, kernel=5, neighbours=64)).board)
    np.testing.assert_allclose(found["self-attention, n² d"], N**2 * 128 / 1e6)
    np.testing.assert_allclose(found["recurrent, n d²"], N * 128**2 / 1e6)
    np.testing.assert_allclose(found["convolution, k n d²"], 5 * N * 128**2 / 1e6)
    np.testing.assert_allclose(found["restricted, r n d"], np.minimum(N, 64) * N * 128 / 1e6)


def test_the_operations_that_are_timed():
    found = facts(layers.lesson(Inputs(d_layer=32)).board)
    np.testing.assert_allclose(
        found["self-attention, 4 n² d + 8 n d²"], (4 * N**2 * 32 + 8 * N * 32**2) / 1e6
    )
    np.testing.assert_allclose(found["recurrent, 4 n d²"], 4 * N * 32**2 / 1e6)
    np.testing.assert_allclose(found["convolution, 2 k n d²"], 2 * 3 * N * 32**2 / 1e6)


def test_the_share_of_the_weights_is_what_the_last_question_asks():
    share = facts(layers.lesson(Inputs(d_layer=256)).board)["of self-attention's, for W_Q, W_K, W_V, W_O"]
    np.testing.assert_allclose(share, 100 * 2 * 256 / (N + 2 * 256))
    assert f"{share[LENGTHS.index(32)]:.0f}% of" in layers.PART.questions()[2].because


def test_the_upright_stands_where_n_is_d_and_every_curve_keeps_its_points():
    curves = panel(layers.lesson(Inputs(d_layer=64)).board, "operations of table 1")
    upright = curves.lines[-1].y
    np.testing.assert_array_equal(curves.x[np.isfinite(upright)], [64, 64])
    for line in curves.lines[:-1]:
        points = dict(zip(curves.x, line.y, strict=True))
        assert list(points) == list(LENGTHS)
    attention, recurrent = (curves.lines[at].y[np.isfinite(upright)] for at in (0, 1))
    np.testing.assert_allclose(attention, recurrent)


def test_times_are_those_measured():
    board = layers.lesson(Inputs(d_layer=32)).board
    curves = panel(board, "time, one thread")
    for line in curves.lines[:-1]:
        measured = layers.measure(line.name, LENGTHS, 32, 3 if line.name == "convolution" else 1)
        for n, ms in zip(LENGTHS, measured, strict=True):
            np.testing.assert_array_equal(line.y[curves.x == n], ms)
    attention, recurrent = (
        layers.measure(name, LENGTHS, 32, 1)[1] for name in ("self-attention", "recurrent")
    )
    assert f"Measured, recurrence takes {recurrent / attention:.1f} × as long." in board.notice[1]


@pytest.mark.parametrize("d", [D_LAYER[0], D_LAYER[-1]])
def test_the_notice_gives_n_over_d(d: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layers, "measure", lambda name, lengths, d, k=1: [float("nan")] * len(lengths))
    for n, notice in zip(LENGTHS, layers.notices(*_counted(d), d), strict=True):
        assert float(re.search(r"\*\*(.*) ×\*\*", notice).group(1)) == pytest.approx(n / d, rel=0.01)
        assert "too long" in notice


def _counted(d: int):
    nothing = {name: [float("nan")] * len(LENGTHS) for name in layers.MEASURED}
    return layers.counted(d, 3, 32), nothing
