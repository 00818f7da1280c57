"""Parameters and operations by formula, against the engine's module and PyTorch's own counters."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attention_lab.models.engine.trace import Trace, within
from attention_lab.pages.lab import attention_cost

SIZES = [(1, 16, 16), (4, 16, 4), (4, 16, 16), (3, 12, 5), (8, 64, 8), (8, 64, 64), (12, 8, 1)]


@pytest.mark.parametrize(("n_heads", "d_model", "d_head"), SIZES)
def test_parameters_are_those_of_the_module(n_heads: int, d_model: int, d_head: int):
    layer = attention_cost.random_layer(n_heads, d_model, d_head)
    assert attention_cost.parameters(n_heads, d_model, d_head) == sum(p.numel() for p in layer.parameters())
    assert attention_cost.count(layer) == sum(p.numel() for p in layer.parameters())


@pytest.mark.parametrize("h", [1, 2, 4, 8])
def test_narrow_and_wide_as_bloem_counts_them(h: int):
    k, n = 32, 10
    assert attention_cost.narrow(h, k, n).parameters == 3 * k**2 + k**2
    assert attention_cost.wide(h, k, n).parameters == 3 * h * k**2 + h * k**2
    assert attention_cost.wide(h, k, n).flops == h * attention_cost.narrow(h, k, n).flops
    assert attention_cost.narrow(h, k, n).flops == attention_cost.narrow(1, k, n).flops
    assert (
        attention_cost.narrow(h, k, n).pattern_entries
        == attention_cost.wide(h, k, n).pattern_entries
        == h * n * n
    )
    assert (attention_cost.narrow(h, k, n).d_head, attention_cost.wide(h, k, n).d_head) == (k // h, k)


@pytest.mark.parametrize("n_tokens", [1, 7])
@pytest.mark.parametrize(("n_heads", "d_model", "d_head"), SIZES)
def test_flops_are_those_that_pytorch_counts(n_heads: int, d_model: int, d_head: int, n_tokens: int):
    layer, x = attention_cost.random_layer(n_heads, d_model, d_head), torch.zeros(1, n_tokens, d_model)
    with FlopCounterMode(display=False) as counter:
        layer(x, x, trace=within(Trace(), "counted"))  # traced, every product is a matmul of its own
    assert attention_cost.flops(n_heads, d_model, d_head, n_tokens) == counter.get_total_flops()


def test_what_cannot_be_narrow_is_refused():
    with pytest.raises(ValueError, match="d_model=100 is not divisible by n_heads=8; try 96 or 104"):
        attention_cost.narrow(8, 100, 1)


def test_weights_come_from_the_seed_alone():
    state = torch.get_rng_state()
    one, same, other = (attention_cost.random_layer(2, 64, seed=seed).q_proj.weight for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert one.std().item() == pytest.approx(1 / 8, rel=0.05)


def test_times_are_medians_of_turns(monkeypatch: pytest.MonkeyPatch):
    """A clock that each forward pass moves by what it is told: 9 s first, not counted, then 1, 2, 6 s."""
    now = [0.0]
    monkeypatch.setattr(attention_cost.time, "perf_counter", lambda: now[0])

    class Slow(nn.Module):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor, self.left = factor, [9.0, 1.0, 2.0, 6.0]

        def forward(self, x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
            now[0] += self.factor * self.left.pop(0)
            return x

    layers = [Slow(1.0), Slow(10.0)]
    assert attention_cost.milliseconds(layers, torch.zeros(2, 4), seconds=1e9, most_runs=3) == [2_000, 20_000]


def test_measuring_ends_in_time_and_counts_at_least_three_runs():
    layers = [attention_cost.random_layer(1, 4), attention_cost.random_layer(1, 4, 8)]
    calls = [0, 0]
    for at, layer in enumerate(layers):
        layer.register_forward_hook(lambda *_, at=at: calls.__setitem__(at, calls[at] + 1))
    times = attention_cost.milliseconds(layers, torch.zeros(3, 4), seconds=0.0)
    assert calls == [4, 4]
    assert all(t > 0 for t in times)
