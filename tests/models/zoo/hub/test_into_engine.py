"""GPT-2 and BERT in our own engine: every number of the trace is that of transformers' own model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
import transformers
from torch import Tensor, nn

from attention_lab.models import Trace, load_model
from attention_lab.models.engine.decoding import greedy
from attention_lab.models.zoo.hub.into_engine import into_engine
from attention_lab.models.zoo.hub.model import HubModel
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import TEXT

CHOICES: list[tuple[str, dict[str, Any]]] = [
    ("gpt2", {}),
    ("gpt2", {"activation_function": "gelu", "scale_attn_weights": False, "n_inner": 20}),
    ("gpt2", {"layer_norm_epsilon": 0.01, "tie_word_embeddings": False, "activation_function": "relu"}),
    ("gpt2", {"activation_function": "gelu_fast", "n_layer": 3, "n_head": 2}),
    ("bert", {}),
    ("bert", {"hidden_act": "gelu_new", "layer_norm_eps": 0.01, "type_vocab_size": 3}),
    ("bert", {"hidden_act": "relu", "tie_word_embeddings": False, "num_hidden_layers": 1}),
]


def opened(folder: Path, family: str, **changes: Any) -> HubModel:
    return load_model(f"hf:{families.save(family, folder, **changes)}")


def assert_same(found: Any, expected: Any, addresses: Any) -> None:
    for address in addresses:
        torch.testing.assert_close(
            found[address], expected[address], atol=1e-4, rtol=1e-5, msg=lambda m, at=address: f"{at}: {m}"
        )


@pytest.mark.parametrize(("family", "changes"), CHOICES, ids=str)
def test_every_address_is_that_of_the_model_itself(tmp_path: Path, family: str, changes: dict[str, Any]):
    lm = opened(tmp_path, family, **changes)
    reading, own = lm.read(TEXT), Trace()
    expected = lm.trace(reading)
    model = into_engine(lm.net)
    logits = model(*reading.inputs, trace=own)
    more = {address for address in own if address.endswith((".resid_self", ".ff.pre"))}
    assert set(own) == set(expected) | more
    assert len(more) == 2 * model.config.n_layers
    assert_same(own, expected, expected)
    torch.testing.assert_close(
        model(*reading.inputs), logits, atol=1e-5, rtol=1e-5
    )  # untraced: PyTorch's kernel


LIKE_LLAMA: list[tuple[str, dict[str, Any]]] = [
    ("llama", {"tie_word_embeddings": True}),
    ("llama", {"rope_parameters": {
        "rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 12,
    }}),
    ("llama", {
        "rope_parameters": {"rope_type": "linear", "rope_theta": 10.0, "factor": 3.0}, "mlp_bias": True,
    }),
    ("gpt-neox", {"use_parallel_residual": True}),
    ("gpt-neox", {"use_parallel_residual": False, "attention_bias": False, "rope_parameters": {
        "rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5,
    }}),
    ("gpt-neox", {"rope_parameters": {"rope_theta": 10.0, "partial_rotary_factor": 1.0}}),
    ("mistral", {}),
    ("qwen2", {}),
    ("qwen3", {"num_hidden_layers": 3}),
    ("gemma2", {"num_hidden_layers": 4, "final_logit_softcapping": 0.4}),
    ("gemma3", {"num_hidden_layers": 7, "query_pre_attn_scalar": 11}),
    ("olmo2", {}),
    ("smollm3", {}),
    ("mixtral", {}),
    ("qwen3_moe", {}),
    ("gpt-oss", {"num_hidden_layers": 3, "num_local_experts": 4, "num_experts_per_tok": 2}),
    ("gpt-oss", {"rope_parameters": {
        "rope_type": "yarn", "rope_theta": 150_000.0, "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": False, "original_max_position_embeddings": 16,
    }}),
]  # fmt: skip


@pytest.mark.parametrize(("family", "changes"), LIKE_LLAMA, ids=str)
@torch.no_grad()
def test_models_of_today_have_the_same_numbers_in_our_engine(
    tmp_path: Path, family: str, changes: dict[str, Any]
):
    """Every address of theirs; the channels of queries and keys that turn stand in pairs, not in halves."""
    lm = opened(tmp_path, family, **changes)
    generator = torch.Generator().manual_seed(7)
    for parameter in lm.net.parameters():
        if parameter.dim() == 1:  # gains and biases say nothing while they are 1 and 0
            parameter += torch.randn(parameter.shape, generator=generator) / 4
    reading, own = lm.read(TEXT), Trace()
    expected, model = lm.trace(reading), into_engine(lm.net)
    logits = model(*reading.inputs, trace=own)
    d_head, n_turned = model.config.head_size, round(model.config.rotary_share * model.config.head_size)
    pairs = [torch.arange(first, n_turned, 2) for first in (0, 1)]
    halves = torch.cat([*pairs, torch.arange(n_turned, d_head)])
    found = {at: own[at][..., halves] if at.endswith((".q", ".k")) else own[at] for at in own}
    shared = [at for at in expected if at in own]
    assert {at.split(".")[-1] for at in shared} >= {"q", "k", "v", "scores", "pattern", "z", "resid_post"}
    assert_same(found, expected, shared)
    torch.testing.assert_close(model(*reading.inputs), logits, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("changes", [{}, {"num_key_value_heads": 2}, {"attention_bias": True}], ids=str)
@torch.no_grad()
def test_differential_attention_is_that_of_transformers(changes: dict[str, Any]):
    """Heard inside theirs: its attention function, which runs for each half of the values, and modules."""
    torch.manual_seed(5)
    sizes = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 40}
    net = transformers.DiffLlamaForCausalLM(
        transformers.DiffLlamaConfig(
            **sizes | changes, num_hidden_layers=3, vocab_size=50, max_position_embeddings=64,
            lambda_std_dev=0.4, rms_norm_eps=1e-3, pad_token_id=0,
        )
    ).eval()  # fmt: skip
    for parameter in net.parameters():
        parameter += torch.randn(parameter.shape) / 8
    halves, expected = torch.cat([torch.arange(0, 8, 2), torch.arange(1, 8, 2)]), {}
    eager = transformers.models.diffllama.modeling_diffllama.eager_attention_forward

    def heard(module: Any, q: Tensor, k: Tensor, v: Tensor, mask: Any, **more: Any) -> tuple[Tensor, Tensor]:
        z, pattern = eager(module, q, k, v, mask, **more)
        at = f"decoder.{module.layer_idx}.self"
        expected[f"{at}.q"], expected[f"{at}.k"], expected[f"{at}.pattern"] = q[0], k[0], pattern[0]
        for name, part in (("v", v[0]), ("z", z[0].transpose(0, 1))):
            before = expected.get(f"{at}.{name}")
            expected[f"{at}.{name}"] = part if before is None else torch.cat([before, part], dim=-1)
        return z, pattern

    def keep(module: nn.Module, address: str, *, entering: bool = False, turn: Any = lambda x: x) -> None:
        def hook(_: nn.Module, given: Any, made: Any) -> None:
            expected[address] = turn((given[0] if entering else made)[0])

        module.register_forward_hook(hook)

    for i, layer in enumerate(net.model.layers):
        at = f"decoder.{i}"
        keep(layer, f"{at}.resid_pre", entering=True)
        keep(layer.post_attention_layernorm, f"{at}.resid_self", entering=True)
        keep(layer, f"{at}.resid_post")
        keep(layer.self_attn.o_proj, f"{at}.self.out")
        pairs = {"entering": True, "turn": lambda x: x.transpose(0, 1)}
        keep(layer.self_attn.groupnorm, f"{at}.self.difference", **pairs)
        keep(layer.mlp.gate_proj, f"{at}.ff.pre")
        keep(layer.mlp.up_proj, f"{at}.ff.gated")
        keep(layer.mlp, f"{at}.ff.out")
    keep(net.model.norm, "decoder.norm")
    transformers.AttentionInterface.register("heard", heard)
    net.set_attn_implementation("heard")
    ids, own = torch.tensor([[3, 9, 2, 41, 7, 7, 30, 12, 5]]), Trace()
    expected["logits"] = net(ids, attention_mask=torch.ones(1, 1, 9, 9).tril().log()).logits[0]
    model = into_engine(net)
    logits = model(ids, trace=own)
    found = {at: own[at][..., halves] if at.endswith((".q", ".k")) else own[at] for at in own}
    for i, layer in enumerate(net.model.layers):
        rest = layer.self_attn
        product = [(getattr(rest, f"lambda_q{j}") @ getattr(rest, f"lambda_k{j}")).exp() for j in (1, 2)]
        expected[f"decoder.{i}.self.lambda"] = (product[0] - product[1] + rest.lambda_init).expand(2)
    assert set(own) - set(expected) == {
        *(f"decoder.{i}.{name}" for i in range(3) for name in ("self.scores", "self.head_out", "ff.post")),
        "decoder.embed",
    }
    assert_same(found, expected, expected)
    torch.testing.assert_close(model(ids), logits, atol=1e-4, rtol=1e-5)
    net.set_attn_implementation("eager")
    assert greedy(model, ids, max_new_tokens=6)[0].tolist() == net.generate(
        ids, max_new_tokens=6, do_sample=False, eos_token_id=None
    )[0].tolist()  # fmt: skip


def test_layers_without_positions_are_not_said_to_turn_queries_and_keys(tmp_path: Path):
    assert opened(tmp_path, "smollm3").attention("decoder.self").turned == (0,)
    assert opened(tmp_path / "other", "qwen3").attention("decoder.self").turned == (0, 1)


HEARD = {
    "gpt2": ("decoder", "transformer.h.{}.ln_2", "transformer.h.{}.mlp.c_fc"),
    "bert": ("encoder", "bert.encoder.layer.{}.intermediate", "bert.encoder.layer.{}.intermediate.dense"),
}


@pytest.mark.parametrize("family", HEARD)
def test_what_only_our_engine_traces_is_what_theirs_computes(tmp_path: Path, family: str):
    """The stream after attention enters the feed-forward network, whose first map is heard, too."""
    lm = opened(tmp_path, family)
    stack, reads_stream, first_map = HEARD[family]
    expected: dict[str, Tensor] = {}
    for layer in range(2):

        def stream(module: nn.Module, given: tuple[Tensor, ...], at: str = f"{stack}.{layer}.resid_self"):
            expected[at] = given[0][0]

        def mapped(module: nn.Module, given: Any, made: Tensor, at: str = f"{stack}.{layer}.ff.pre"):
            expected[at] = made.view(-1, made.shape[-1])

        lm.net.get_submodule(reads_stream.format(layer)).register_forward_pre_hook(stream)
        lm.net.get_submodule(first_map.format(layer)).register_forward_hook(mapped)
    reading, own = lm.read(TEXT), Trace()
    lm.net(*reading.inputs)
    into_engine(lm.net)(*reading.inputs, trace=own)
    assert len(expected) == 4
    assert_same(own, expected, expected)


def test_a_bert_without_a_head_is_read_by_encode(tmp_path: Path):
    whole = families.save("bert", tmp_path / "whole")
    bare = transformers.BertModel.from_pretrained(whole)
    bare.save_pretrained(whole)
    lm = load_model(f"hf:{whole}")
    assert type(lm.net).__name__ == "BertModel"
    reading, own = lm.read(TEXT), Trace()
    into_engine(lm.net).encode(*reading.inputs, trace=own)
    expected = lm.trace(reading)
    assert "logits" not in expected and "logits" not in own
    assert_same(own, expected, expected)


@torch.no_grad()
def test_two_sentences_are_told_apart_by_their_types(tmp_path: Path):
    net = opened(tmp_path, "bert").net
    ids = torch.tensor([[2, 9, 11, 3, 12, 8, 3], [2, 7, 3, 13, 14, 15, 3]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1]])
    model = into_engine(net)
    found = model(ids, types=types)
    torch.testing.assert_close(found, net(ids, token_type_ids=types).logits, atol=1e-4, rtol=1e-5)
    assert (found - model(ids)).abs().max() > 0.01


@torch.no_grad()
def test_the_engine_owns_its_weights_in_float32(tmp_path: Path):
    net = opened(tmp_path, "gpt2").net
    ids = torch.tensor([[9, 11, 3]])
    before = net(ids).logits
    model = into_engine(net)
    for parameter in model.parameters():
        parameter.zero_()
    assert torch.equal(net(ids).logits, before)
    half = into_engine(net.to(torch.bfloat16))
    assert {parameter.dtype for parameter in half.parameters()} == {torch.float32}
    torch.testing.assert_close(half(ids), net.float()(ids).logits, atol=1e-4, rtol=1e-5)


KNOWN = "relu, silu, quick_gelu, gelu, gelu_python, gelu_new, gelu_fast, gelu_pytorch_tanh, gelu_python_tanh"
REMEDY = "use load_model"
EXPERTS = "our engine's experts are in every layer, and their shares add up to 1"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "gpt2", {"activation_function": "tanh"},
        f"activation_function='tanh' is no activation of our engine, which has {KNOWN}; {REMEDY}",
    ),
    (
        "bert", {"hidden_act": "mish"},
        f"hidden_act='mish' is no activation of our engine, which has {KNOWN}; {REMEDY}",
    ),
    (
        "gpt2", {"scale_attn_by_inverse_layer_idx": True},
        f"our engine computes only False, not scale_attn_by_inverse_layer_idx=True; {REMEDY}",
    ),
    (
        "bert", {"position_embedding_type": "relative_key"},
        "our engine computes only 'absolute', not position_embedding_type='relative_key'; "
        + REMEDY,
    ),
    (
        "phi", {},
        "PhiForCausalLM has no counterpart in our engine; give one of GPT2LMHeadModel, "
        "GPTNeoXForCausalLM, BertForMaskedLM, BertModel, LlamaForCausalLM, MistralForCausalLM, "
        "MixtralForCausalLM, Qwen2ForCausalLM, "
        "Qwen3ForCausalLM, Qwen3MoeForCausalLM, Gemma2ForCausalLM, Gemma3ForCausalLM, Olmo2ForCausalLM, "
        "SmolLM3ForCausalLM, GptOssForCausalLM, DiffLlamaForCausalLM",
    ),
    ("qwen3_moe", {"norm_topk_prob": False}, f"{EXPERTS}; {REMEDY}"),
    (
        "smollm3", {"no_rope_layers": [0, 1]},
        "layers with and without a window, or positions, take turns in a way that our engine has no name for"
        f"; {REMEDY}",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("family", "changes", "sentence"), REFUSED, ids=lambda x: str(x)[:40])
def test_what_our_engine_does_not_compute_is_refused(
    tmp_path: Path, family: str, changes: dict[str, Any], sentence: str
):
    net = opened(tmp_path, family, **changes).net
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        into_engine(net)


def test_a_model_that_is_too_large_a_second_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    net = opened(tmp_path, "gpt2").net
    free = psutil.virtual_memory()._replace(available=100_000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    sentence = (
        r"^GPT2LMHeadModel in our engine needs about \d+ kB of memory, but at most 50 kB may be taken here"
    )
    with pytest.raises(ValueError, match=sentence):
        into_engine(net)
