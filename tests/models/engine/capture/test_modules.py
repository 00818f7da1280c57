"""Captured attention of modules written by hand, against loops over plain numbers."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import capture


def random(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def plain(q: Tensor, k: Tensor, v: Tensor, scale: float, added: Any) -> tuple[list[Any], list[Any]]:
    """Pattern and z of each head [head, position, d_head], number by number; added(head, query, key)."""
    patterns, outputs = [], []
    share = len(q) // len(k)
    for head, queries in enumerate(q.tolist()):
        keys, values = k[head // share].tolist(), v[head // share].tolist()
        rows = []
        for i, query in enumerate(queries):
            scores = [
                scale * sum(a * b for a, b in zip(query, key, strict=True)) + added(head, i, j)
                for j, key in enumerate(keys)
            ]
            total = sum(math.exp(score) for score in scores)
            rows.append([math.exp(score) / total if total else 0.0 for score in scores])
        patterns.append(rows)
        outputs.append([[sum(w * value[c] for w, value in zip(row, values, strict=True))
                         for c in range(len(values[0]))] for row in rows])  # fmt: skip
    return patterns, outputs


class Attending(nn.Module):
    """Whatever PyTorch's function is given."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor, **keywords: Any) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, **keywords)


BOOLEAN = torch.tensor(
    [[True, False, True, True, False], [False] * 5, [True] * 5, [False, True] * 2 + [True]]
)
FLOAT = random(2, 4, 5, seed=9)
CASES: dict[str, tuple[int, dict[str, Any], Any]] = {
    "nothing": (2, {}, lambda h, i, j: 0),
    "scale": (2, {"scale": 0.7}, lambda h, i, j: 0),
    "causal": (2, {"is_causal": True}, lambda h, i, j: 0 if j <= i else -math.inf),
    "boolean": (2, {"attn_mask": BOOLEAN}, lambda h, i, j: 0 if BOOLEAN[i, j] else -math.inf),
    "float": (2, {"attn_mask": FLOAT[None]}, lambda h, i, j: FLOAT[h, i, j].item()),
    "row": (2, {"attn_mask": BOOLEAN[:1]}, lambda h, i, j: 0 if BOOLEAN[0, j] else -math.inf),
    "grouped": (1, {"enable_gqa": True}, lambda h, i, j: 0),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("batched", [True, False])
def test_numbers_are_those_of_a_loop(case: str, batched: bool) -> None:
    n_key_heads, keywords, added = CASES[case]
    q, k, v = random(2, 4, 3), random(n_key_heads, 5, 3, seed=2), random(n_key_heads, 5, 6, seed=3)
    inputs = [x[None] for x in (q, k, v)] if batched or case == "float" else [q, k, v]
    output, trace = capture(Attending(), *inputs, **keywords)
    assert torch.equal(output, F.scaled_dot_product_attention(*inputs, **keywords))
    pattern, z = plain(q, k, v, keywords.get("scale", 3**-0.5), added)
    torch.testing.assert_close(trace["attention.pattern"], torch.tensor(pattern, dtype=torch.float64))
    torch.testing.assert_close(trace["attention.z"], torch.tensor(z, dtype=torch.float64))
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        assert torch.equal(trace[f"attention.{name}"], tensor)


def test_one_head_of_two_axes() -> None:
    q, k = random(4, 3), random(5, 3, seed=2)
    _, trace = capture(Attending(), q, k, k)
    torch.testing.assert_close(trace["attention.pattern"], (q @ k.T / 3**0.5).softmax(-1)[None])


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn = Attending()

    def forward(self, x: Tensor) -> Tensor:
        x = self.attn(x, x, x)
        return self.attn(x, x, x)


def test_addresses_are_paths_and_count_what_happens_twice() -> None:
    module = nn.Sequential(Block(), nn.ModuleDict({"inner": nn.Identity()})["inner"], Block())
    _, trace = capture(module, random(1, 2, 4, 3))
    places = ["0.attn", "0.attn.2", "2.attn", "2.attn.2"]
    names = ("q", "k", "v", "scores", "pattern", "z")
    assert list(trace) == [f"{place}.{name}" for place in places for name in names]


class Layers(nn.Module):
    """Encoder layers where they lie, called one after the other."""

    def __init__(self, **stacks: int) -> None:
        super().__init__()
        for name, count in stacks.items():
            layers = [nn.TransformerEncoderLayer(4, 2, 6, batch_first=True) for _ in range(count)]
            self.add_module(name, nn.ModuleList(layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.modules():
            x = layer(x) if isinstance(layer, nn.TransformerEncoderLayer) else x
        return x


@pytest.mark.parametrize(
    ("stacks", "places"),
    [
        ({"blocks": 2}, {"encoder.0.self", "encoder.1.self"}),
        ({"blocks": 1}, {"encoder.0.self"}),
        ({"text": 1, "image": 1}, {"text.0.self_attn", "image.0.self_attn"}),
    ],
)
def test_one_stack_of_torch_s_layers_has_our_addresses(stacks: dict[str, int], places: set[str]) -> None:
    _, trace = capture(Layers(**stacks).double().eval(), random(1, 3, 4))
    assert {at.rsplit(".", 1)[0] for at in trace} == places


class Overwriting(nn.Module):
    """Changes in place what the trace saw."""

    def forward(self, x: Tensor) -> Tensor:
        q = x.clone()
        z = F.scaled_dot_product_attention(q, q, q)
        q.zero_()
        return z.add_(1)


def test_what_is_recorded_stays_when_the_module_goes_on() -> None:
    x = random(1, 2, 4, 3)
    _, trace = capture(Overwriting(), x)
    assert torch.equal(trace["attention.q"], x[0])
    torch.testing.assert_close(trace["attention.z"], F.scaled_dot_product_attention(x, x, x)[0])


def test_a_compiled_module_runs_compiled_and_is_watched_as_it_is_written() -> None:
    runs = []

    def backend(graph: Any, _inputs: Any) -> Any:
        def run(*inputs: Any) -> Any:
            runs.append(graph)
            return graph.forward(*inputs)

        return run

    x = random(1, 2, 4, 3)
    module = nn.Sequential(Block(), torch.compile(Block(), backend=backend))
    _, trace = capture(module, x)
    assert len(runs) == 1
    assert {at.rsplit(".", 1)[0] for at in trace} == {"0.attn", "0.attn.2", "1.attn", "1.attn.2"}
    torch.testing.assert_close(trace["0.attn.pattern"], (x[0] @ x[0].mT / 3**0.5).softmax(-1))


class CrossCovariance(nn.Module):
    """Channels attend to channels, in heads, as in XCiT (El-Nouby et al. 2021)."""

    def __init__(self, how: str = "matmul") -> None:
        super().__init__()
        self.qkv, self.drop, self.how = nn.Linear(8, 24), nn.Dropout(0.1), how

    def forward(self, x: Tensor) -> Tensor:  # [1, token, 8]
        q, k, v = (each.unflatten(-1, (2, 4)).permute(0, 2, 3, 1) for each in self.qkv(x).chunk(3, dim=-1))
        weights = self.drop((F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT).softmax(dim=-1)).to(v.dtype)
        if self.how == "matmul":
            made = weights @ v
        elif self.how == "bmm":
            made = torch.bmm(weights.flatten(0, 1), v.flatten(0, 1))[None]
        else:
            made = torch.einsum("bhcd,bhdn->bhcn", weights, v)
        return made.permute(0, 3, 1, 2).flatten(-2)


class Mixed(nn.Module):
    """Cross-covariance attention, then attention that PyTorch computes, then experts under a softmax."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.channels, self.tokens = CrossCovariance(how), nn.MultiheadAttention(8, 2, batch_first=True)
        self.router, self.experts = nn.Linear(8, 3), nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.channels(x)
        x = x + self.tokens(x, x, x)[0]
        shares = self.router(x).softmax(dim=-1)
        return sum(shares[..., at : at + 1] * expert(x) for at, expert in enumerate(self.experts))


@pytest.mark.parametrize("how", ["matmul", "bmm", "einsum"])
def test_attention_that_is_written_out_is_named_as_missing(how: str) -> None:
    torch.manual_seed(0)
    module = Mixed(how).eval()
    with pytest.warns(UserWarning, match="this trace lacks what is weighed by a softmax in channels, outs"):
        output, trace = capture(module, torch.randn(1, 5, 8))
    assert trace["tokens.pattern"].shape == (2, 5, 5) and output.shape == (1, 5, 8)
    assert len(trace.notes) == 1 and "tokens" not in trace.notes[0] and "router" not in trace.notes[0]


def test_a_trace_that_hears_all_lacks_nothing(recwarn: pytest.WarningsRecorder) -> None:
    module = nn.TransformerEncoderLayer(8, 2, batch_first=True).eval()
    _, trace = capture(nn.Sequential(module, nn.Linear(8, 4), nn.Softmax(-1)), torch.randn(1, 5, 8))
    assert trace.notes == [] and not recwarn.list


def test_where_nothing_is_heard_the_refusal_names_what_is_written_out() -> None:
    module = nn.Sequential(*(CrossCovariance() for _ in range(6))).eval()
    with pytest.raises(ValueError, match=r"\(a softmax of its own weighs in 0, 1, 2, 3 and 2 more parts\)"):
        capture(module, torch.randn(1, 5, 8))
