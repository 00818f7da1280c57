"""Operations against PyTorch's own count, and a clock that is under control."""

import math

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from models.engine.trace import Trace, within
from models.lessons.design import layer_cost
from models.lessons.heads import cost

SIZES = [(5, 8, 3), (16, 4, 2), (7, 12, 5)]


def counted(run) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return counter.get_total_flops()


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
def test_operations_are_those_that_pytorch_counts(n: int, d: int, k: int):
    attention, x = cost.random_layer(1, d), torch.zeros(1, n, d)
    traced = counted(lambda: attention(x, x, trace=within(Trace(), "counted")))
    assert layer_cost.attention_flops(n, d) == traced == 4 * n * n * d + 8 * n * d * d
    convolution = layer_cost.layer("convolution", d, k)
    assert layer_cost.convolution_flops(n, d, k) == counted(lambda: convolution(x.mT.contiguous()))
    recurrence = layer_cost.layer("recurrent", d)
    cell = nn.RNNCell(d, d, bias=False)  # the fused layer is opaque to the counter
    assert layer_cost.recurrent_flops(n, d) == n * counted(lambda: cell(x[:, 0], x[:, 0]))
    assert sum(w.numel() for w in recurrence.parameters()) == sum(w.numel() for w in cell.parameters())


@pytest.mark.parametrize("d", [32, 64, 256])
def test_self_attention_costs_as_much_as_recurrence_where_n_is_d(d: int):
    assert layer_cost.self_attention(d, d) == layer_cost.recurrent(d, d)
    assert layer_cost.self_attention(d // 2, d) < layer_cost.recurrent(d // 2, d)
    assert layer_cost.self_attention(2 * d, d) == 2 * layer_cost.recurrent(2 * d, d)
    assert layer_cost.restricted(100, d, 100) == layer_cost.self_attention(100, d)
    assert layer_cost.convolution(9, d, 3) == 3 * layer_cost.recurrent(9, d)


@pytest.mark.parametrize("name", ["self-attention", "recurrent", "convolution"])
def test_layers_are_one_layer_each_and_need_no_global_randomness(name: str):
    state = torch.get_rng_state()
    x = layer_cost.texts(name, 6, 8)
    with torch.no_grad():
        one, same = (layer_cost.layer(name, 8, 3)(x) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    one, same = (out[0] if isinstance(out, tuple) else out for out in (one, same))
    assert one.shape == x.shape
    torch.testing.assert_close(one, same)


def test_the_recurrent_layer_is_the_plain_one():
    """h_t = tanh(W_x x_t + W_h h_{t-1}), in a float64 loop."""
    layer, x = layer_cost.layer("recurrent", 5), layer_cost.texts("recurrent", 7, 5)
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
    monkeypatch.setattr(layer_cost.time, "perf_counter", lambda: now[0])

    def run(x: torch.Tensor) -> None:
        made.append(x.shape[1])
        now[0] += 1e-3 * ms_a_token * x.shape[1] * (1 + len(made) % 2 / 4)

    found = layer_cost.milliseconds(run, [torch.zeros(1, 2**at, 1) for at in range(len(times))], growth)
    assert [None if math.isnan(ms) else round(ms, 9) for ms in found] == times
    assert made == calls


def test_who_asks_again_gets_the_same_numbers():
    first = layer_cost.measure("recurrent", (4, 8), 8)
    assert all(ms > 0 for ms in first)
    assert layer_cost.measure("recurrent", (4, 8), 8) is first
