"""Captured attention of modules written by hand, against loops over plain numbers."""

import math
from typing import Any

import pytest
import torch
from jaxtyping import config
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules import module as hooks
from torch.profiler import ProfilerActivity, profile
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from attention_lab.models import Trace, capture
from attention_lab.models.engine.capture import DotProducts


def random(*shape: int, seed: int = 1, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


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


# Captured attention of torch's own layers, against the weights that they return themselves.

SIZES: dict[str, Any] = {"d_model": 12, "nhead": 2, "dim_feedforward": 20, "batch_first": True}


def seeded(make: Any, *args: Any, dtype: torch.dtype = torch.float64, **fields: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make(*args, **fields).to(dtype).eval()


def weights(attention: nn.MultiheadAttention, x: Tensor, memory: Tensor, **masks: Any) -> Tensor:
    """[head, query, key] as the layer itself returns them."""
    with torch.no_grad():
        return attention(x, memory, memory, average_attn_weights=False, **masks)[1][0]


def causal(n: int) -> Tensor:
    return nn.Transformer.generate_square_subsequent_mask(n, dtype=torch.float64)


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-12)


def check_sums(trace: Trace, at: str) -> None:
    """The parts of one attention fit together, as our own trace's do."""
    q, k, v = trace[f"{at}.q"], trace[f"{at}.k"], trace[f"{at}.v"]
    scores, pattern = trace[f"{at}.scores"], trace[f"{at}.pattern"]
    open_ = scores != -torch.inf
    close(scores[open_], (q @ k.mT / q.shape[-1] ** 0.5)[open_])
    close(pattern, scores.softmax(-1))
    close(trace[f"{at}.z"], pattern @ v)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("mask", ["none", "bool", "float", "padding", "both"])
def test_multi_head_attention(need_weights: bool, mask: str) -> None:
    module = seeded(nn.MultiheadAttention, 12, 3, batch_first=True)
    x, memory = random(1, 4, 12), random(1, 5, 12, seed=2)
    masks: dict[str, Any] = {}
    if mask in ("bool", "both"):
        masks["attn_mask"] = torch.ones(4, 5, dtype=torch.bool).triu(2)
    if mask == "float":
        masks["attn_mask"] = random(3, 4, 5, seed=3)
    if mask in ("padding", "both"):
        masks["key_padding_mask"] = torch.tensor([[False, False, True, False, False]])
    output, trace = capture(module, x, memory, memory, need_weights=need_weights, **masks)
    own = module(x, memory, memory, need_weights=need_weights, **masks)
    assert torch.equal(output[0], own[0])
    assert (output[1] is None) if own[1] is None else torch.equal(output[1], own[1])
    close(trace["attention.pattern"], weights(module, x, memory, **masks))
    close(trace["attention.out"], own[0][0])
    close(module.out_proj(trace["attention.z"].transpose(0, 1).flatten(1)), own[0][0])
    assert list(trace) == [f"attention.{name}" for name in ("q", "k", "v", "scores", "pattern", "z", "out")]
    if mask != "float":
        check_sums(trace, "attention")


@pytest.mark.parametrize("fields", [{"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 7, "vdim": 5}])
def test_multi_head_attention_of_other_makes(fields: dict[str, Any]) -> None:
    module = seeded(nn.MultiheadAttention, 12, 3, **fields)  # sequence first
    x, k, v = (random(4, 1, 12), random(5, 1, fields.get("kdim", 12)), random(5, 1, fields.get("vdim", 12)))
    output, trace = capture(module, x, k, v, average_attn_weights=False)
    close(trace["attention.pattern"], output[1][0])
    close(trace["attention.out"], output[0][:, 0])


def test_one_sequence_without_a_batch() -> None:
    module = seeded(nn.MultiheadAttention, 12, 3)
    x = random(4, 12)
    output, trace = capture(module, x, x, x, average_attn_weights=False)
    close(trace["attention.pattern"], output[1])
    close(trace["attention.out"], output[0])


def test_a_transformer() -> None:
    module = seeded(nn.Transformer, num_encoder_layers=1, num_decoder_layers=2, **SIZES)
    source, target = random(1, 5, 12), random(1, 4, 12, seed=2)
    output, trace = capture(module, source, target, tgt_mask=causal(4), tgt_is_causal=True)
    assert torch.equal(output, module(source, target, tgt_mask=causal(4), tgt_is_causal=True))
    close(trace["encoder.0.self.pattern"], weights(module.encoder.layers[0].self_attn, source, source))
    memory, x = module.encoder(source), target
    for number, part in enumerate(module.decoder.layers):
        close(trace[f"decoder.{number}.self.pattern"], weights(part.self_attn, x, x, attn_mask=causal(4)))
        read = part.norm1(x + part.self_attn(x, x, x, attn_mask=causal(4))[0])
        close(trace[f"decoder.{number}.cross.pattern"], weights(part.multihead_attn, read, memory))
        check_sums(trace, f"decoder.{number}.cross")
        x = part(x, memory, tgt_mask=causal(4))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_fast_path_runs_as_it_would_and_its_attention_is_seen(dtype: torch.dtype) -> None:
    module = seeded(nn.TransformerEncoder, nn.TransformerEncoderLayer(**SIZES), 2, dtype=dtype)
    x = random(1, 5, 12, dtype=dtype)
    with torch.no_grad():
        with profile(activities=[ProfilerActivity.CPU]) as seen:
            output, trace = capture(module, x)
        assert torch.equal(output, module(x))
    runs = [event.key for event in seen.key_averages()]
    assert "aten::_transformer_encoder_layer_fwd" in runs and "aten::scaled_dot_product_attention" in runs
    found = trace["encoder.0.self.pattern"].to(dtype)
    torch.testing.assert_close(found, weights(module.layers[0].self_attn, x, x))
    assert torch.backends.mha.get_fastpath_enabled()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_padding_that_the_fast_path_leaves_out() -> None:
    module = seeded(nn.TransformerEncoder, nn.TransformerEncoderLayer(**SIZES), 2, dtype=torch.float32)
    padding = torch.tensor([[False, False, False, True, True]])
    with torch.no_grad():
        output, trace = capture(module, random(1, 5, 12, dtype=torch.float32), src_key_padding_mask=padding)
    assert not output[0, 3:].any() and output[0, :3].all()
    pattern = trace["encoder.1.self.pattern"]
    assert not pattern[..., 3:].any()
    torch.testing.assert_close(pattern.sum(-1), torch.ones(2, 5))


# A capture leaves everything as one plain call would; what cannot be captured is refused in a sentence.


def narrow(*shape: int) -> Tensor:
    return random(*shape, dtype=torch.float32)


class Remembering(nn.Module):
    """Attends, counts its calls in a buffer, normalises by its batches and adds noise."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.norm = nn.BatchNorm1d(3)
        self.attention = nn.MultiheadAttention(3, 1, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        x = self.norm(x.mT).mT
        return self.attention(x, x, x)[0] + torch.randn(3) + self.calls


def test_state_is_as_after_one_plain_call() -> None:
    module, twin, x = Remembering(), Remembering(), narrow(1, 4, 3)
    twin.load_state_dict(module.state_dict())
    functions = (F.scaled_dot_product_attention, F.multi_head_attention_forward, F.softmax)
    torch.manual_seed(5)
    output, _ = capture(module, x)
    random_after = torch.get_rng_state()
    torch.manual_seed(5)
    assert torch.equal(output, twin(x))
    assert torch.equal(random_after, torch.get_rng_state())
    for name, value in twin.state_dict().items():
        assert torch.equal(module.state_dict()[name], value), name
    assert module.calls == 1 and module.training
    assert (F.scaled_dot_product_attention, F.multi_head_attention_forward, F.softmax) == functions
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
    assert not hooks._global_forward_hooks and not hooks._global_forward_pre_hooks
    output.sum().backward()  # its own output, with its own gradients
    assert module.attention.in_proj_weight.grad is not None


class Failing(nn.Module):
    """Fails where it is watched, after its attention."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Attending()
        self.fast: list[bool] = []

    def forward(self, x: Tensor) -> Tensor:
        self.fast.append(torch.backends.mha.get_fastpath_enabled())
        x = self.inner(x, x, x)
        if len(self.fast) == 2:
            raise RuntimeError("not today")
        return x


@pytest.mark.parametrize("enabled", [True, False])
def test_all_is_undone_where_the_module_fails(enabled: bool) -> None:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(enabled)
    try:
        module = Failing()
        with pytest.raises(RuntimeError, match="not today"):
            capture(module, narrow(1, 1, 4, 3))
        assert module.fast == [enabled, False]
        assert torch.backends.mha.get_fastpath_enabled() == enabled
        assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class Counting(nn.Module):
    calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return F.scaled_dot_product_attention(x, x, x) * self.calls


class Native(nn.Module):
    """Calls the fast path by itself."""

    def forward(self, x: Tensor) -> Any:
        square, bias = torch.ones(12, 4), torch.ones(12)
        return torch._native_multi_head_attention(x, x, x, 4, 2, square, bias, square[:4], bias[:4])


class ByHand(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x @ x.mT).softmax(-1) @ x


def nested(x: Tensor) -> Tensor:
    return torch.nested.nested_tensor(list(x), layout=torch.jagged).transpose(1, 2)


REFUSED: list[tuple[nn.Module, list[Tensor], dict[str, Any], str]] = [
    (Attending(), [narrow(2, 1, 4, 3)] * 3, {}, r"attention attends with a batch of 2, .* x\[i : i \+ 1\]"),
    (Attending(), [narrow(1, 1, 4, 3), *[narrow(2, 1, 4, 3)] * 2], {}, "with a batch of 2"),
    (Attending(), [narrow(1, 1, 4, 3)] * 3, {"dropout_p": 1e-9}, "dropout_p=1e-09, .* call module.eval"),
    (Attending(), [nested(narrow(1, 4, 1, 3))] * 3, {}, "attends in nested tensors, .* pass one sequence"),
    (
        nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True),
        [narrow(1, 3, 4)] * 3,
        {},
        "MultiheadAttention is in training with a dropout of 0.1, .* call module.eval",
    ),
    (
        nn.TransformerEncoderLayer(4, 2),
        [narrow(3, 1, 4)],
        {},
        "self_attn is in training with a dropout of 0.1",
    ),
    (ByHand(), [narrow(1, 4, 3)], {}, "ByHand called neither nn.MultiheadAttention nor scaled_dot"),
    (Counting(), [narrow(1, 1, 4, 3)], {}, "another when it was watched, .* pass a fresh cache"),
    (Native(), [narrow(1, 3, 4)], {}, "calls torch._native_multi_head_attention by itself, which shows no"),
]


@pytest.mark.parametrize(("module", "inputs", "keywords", "message"), REFUSED)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_cannot_be_captured_is_refused_in_a_sentence(
    module: nn.Module, inputs: list[Tensor], keywords: dict[str, Any], message: str
) -> None:
    with torch.no_grad(), pytest.raises(ValueError, match=message):
        capture(module, *inputs, **keywords)


def test_a_result_that_its_pattern_does_not_explain_is_refused() -> None:
    """As a fused kernel might give that knows another mask."""
    q = narrow(1, 2, 4, 3)
    ran = F.scaled_dot_product_attention(q, q, q)
    DotProducts(q, q, q).record(Trace(), "blocks.0", ran)
    with pytest.raises(ValueError, match=r"blocks.1 gave another result than softmax\(scores\) v"):
        DotProducts(q, q, q, is_causal=True).record(Trace(), "blocks.1", ran)


def test_what_is_no_module_is_refused_in_a_sentence() -> None:
    config.update("jaxtyping_disable", True)  # as users have it
    try:
        with pytest.raises(ValueError, match=r"function is no torch.nn.Module, .* the forward of one"):
            capture(narrow, 3)
    finally:
        config.update("jaxtyping_disable", False)


# Models of transformers run as they are, with SDPA; their weights are those that eager attention returns.

LLAMA = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.mark.parametrize(
    ("make", "config", "path", "n_key_heads"),
    [
        (
            GPT2LMHeadModel,
            GPT2Config(vocab_size=31, n_embd=16, n_layer=2, n_head=4),
            "transformer.h.{}.attn",
            4,
        ),
        (
            LlamaForCausalLM,
            LlamaConfig(vocab_size=31, num_key_value_heads=2, **LLAMA),
            "model.layers.{}.self_attn",
            2,
        ),
    ],
)
def test_patterns_are_those_of_eager_attention(make: Any, config: Any, path: str, n_key_heads: int) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = make(config).eval()
    words = torch.tensor([[3, 1, 4, 1, 5, 9, 2]])
    model.set_attn_implementation("sdpa")
    with torch.no_grad():
        output, trace = capture(model, words)
        assert torch.equal(output.logits, model(words).logits)
        model.set_attn_implementation("eager")
        expected = model(words, output_attentions=True).attentions
    for layer, weights in enumerate(expected):
        at = path.format(layer)
        torch.testing.assert_close(trace[f"{at}.pattern"], weights[0])
        assert trace[f"{at}.q"].shape == (4, 7, 4) and trace[f"{at}.k"].shape == (n_key_heads, 7, 4)
