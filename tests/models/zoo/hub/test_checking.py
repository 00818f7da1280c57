"""What is recorded of a model is proved when it is opened; what fails is not offered, in a sentence."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from attention_lab.models import load_model
from attention_lab.models.files import FileError
from attention_lab.models.zoo.hub import loading, proof
from attention_lab.models.zoo.hub.model_folder import open_folder
from tests.apple_gpu import DEVICE, apple_gpu
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import TEXT

SIZES = families._SIZES
SHARED = SIZES | {"num_key_value_heads": 2}
MOE = SIZES | {"moe_intermediate_size": 16, "num_experts_per_tok": 2}
DEEPSEEK = MOE | {
    "n_routed_experts": 4, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "kv_lora_rank": 8,
    "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8, "num_key_value_heads": 4,
}  # fmt: skip


def saved(name: str, config: str, sizes: dict[str, Any], folder: Path, monkeypatch: Any) -> Path:
    monkeypatch.setitem(families.FAMILIES, name, (name, config, sizes))
    return families.save(name, folder)


REFUSED: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "columns of a window": (
        "LongformerForMaskedLM", "LongformerConfig", SIZES | {"attention_window": 4},
        r"\(4, 7, 5\), not \(4, 7, 7\)"
    ),
    "scores as weights": (
        "SqueezeBertForMaskedLM", "SqueezeBertConfig", SIZES | {"embedding_size": 32}, "not from 0 to 1"
    ),
    "no tokens by tokens": (
        "FunnelForMaskedLM", "FunnelConfig",
        {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "block_sizes": [1, 1]}, "not \\(4, 7, 7\\)",
    ),
    "windows": (
        "LEDForConditionalGeneration", "LEDConfig",
        families._ENDS | {
            "attention_window": 4, "max_encoder_position_embeddings": 64,
            "max_decoder_position_embeddings": 64,
        }, r"\(4, 7, 5\), not \(4, 7, 7\)",
    ),
    "several streams": (
        "ProphetNetForConditionalGeneration", "ProphetNetConfig",
        {"hidden_size": 32, "num_encoder_layers": 2, "num_decoder_layers": 2,
         "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4, "encoder_ffn_dim": 48,
         "decoder_ffn_dim": 48}, "not from 0 to 1",
    ),
    "blocks": ("LongT5ForConditionalGeneration", "LongT5Config", families._T5, "the attention weights"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_weight_of_tokens_by_tokens_is_refused(
    what: str, tmp_path: Path, monkeypatch: Any
) -> None:
    kind, config, sizes, why = REFUSED[what]
    folder = saved(kind, config, sizes, tmp_path / "model", monkeypatch)
    with pytest.raises(FileError, match=why) as error:
        load_model(f"hf:{folder}")
    assert str(error.value).endswith("open another model")


OPENED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama4": (
        "Llama4ForCausalLM", "Llama4TextConfig",
        SHARED | {"head_dim": 8, "num_local_experts": 2, "intermediate_size_mlp": 48},
    ),
    "phimoe": ("PhimoeForCausalLM", "PhimoeConfig", SHARED | {"num_local_experts": 2}),
    "doge": ("DogeForCausalLM", "DogeConfig", SHARED),
}  # fmt: skip


@pytest.mark.parametrize("name", OPENED)
def test_what_gave_a_traceback_is_whole_or_says_what_is_missing(
    name: str, tmp_path: Path, monkeypatch: Any
) -> None:
    kind, config, sizes = OPENED[name]
    model = load_model(f"hf:{saved(kind, config, sizes, tmp_path / name, monkeypatch)}")
    trace = model.trace(TEXT)
    for address in (a for a in trace if a.endswith(".pattern")):
        sums = trace[address].sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-5, rtol=0)
    assert model.note == "" or "cannot be shown" in model.note
    assert all(about.n_layers == 2 and about.n_heads == 4 for about in model.attentions.values())


def test_a_stack_is_a_decoder_where_nothing_looks_ahead_whatever_its_class_is_called(
    tmp_path: Path, monkeypatch: Any
) -> None:
    base = saved("LlamaModel", "LlamaConfig", SHARED, tmp_path / "base", monkeypatch)
    assert list(load_model(f"hf:{base}").attentions) == ["decoder.self"]
    both = saved(
        "XLNetLMHeadModel", "XLNetConfig", families.ENCODERS["xlnet"][2], tmp_path / "x", monkeypatch
    )
    assert open_folder(f"hf:{both}").kind == "decoder-only"  # by its name, before it is opened
    assert list(load_model(f"hf:{both}").attentions) == ["encoder.self"]
    assert open_folder(f"hf:{both}").kind == "encoder-only"


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("z", "its z is not its weights times its values"),
        ("scale", "its scores are not its scaled products of queries and keys"),
        ("deaf", "replacing its weights changes nothing that it computes"),
    ],
)
def test_each_identity_that_fails_takes_away_all_but_the_patterns(
    broken: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = open_folder(f"hf:{families.save('llama', tmp_path)}")
    observe = proof.Recorder.observe

    def lies(self: Any, name: str, value: Tensor) -> Tensor:
        if broken == "z" and name == "z":
            observe(self, name, value.roll(1, dims=2))
            return value
        if broken == "scale" and name == "k":
            observe(self, name, 2 * value)
            return value
        after = observe(self, name, value)
        return value if broken == "deaf" and name == "pattern" else after

    monkeypatch.setattr(proof.Recorder, "observe", lies)
    loaded = loading.load(folder)
    assert loaded.layout is None and "shows only its attention weights" in loaded.note
    assert says in loaded.note or (broken == "deaf" and "weights" in loaded.note)


def test_parts_that_do_not_sum_to_the_stream_are_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = open_folder(f"hf:{families.save('llama', tmp_path)}")
    recorded = proof.Recorder._recorded

    def half(self: Any, address: str, value: Tensor) -> Tensor:
        if not address.endswith("ff.out"):
            return recorded(self, address, value)
        recorded(self, address, value / 2)
        return value

    monkeypatch.setattr(proof.Recorder, "_recorded", half)
    loaded = loading.load(folder)
    assert loaded.layout is not None and all(layer.added is None for layer in loaded.layout.layers)
    assert "they do not sum to what leaves model.layers.0" in loaded.note


def test_a_model_is_proved_once_until_its_weights_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = open_folder(f"hf:{families.save('granite', tmp_path)}")
    proved: list[int] = []
    real = loading.prove
    monkeypatch.setattr(loading, "prove", lambda *given: (proved.append(1), real(*given))[1])
    first, second = loading.load(folder), loading.load(folder)
    assert len(proved) == 1 and first.note == second.note
    assert first.layout is not None and second.layout is not None
    assert [list(a.out) for a in first.layout.layers] == [list(b.out) for b in second.layout.layers]
    os.utime(folder.weights[0])
    loading.load(open_folder(folder.name))
    assert len(proved) == 2


def test_a_trace_of_another_length_than_the_tokens_is_refused(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save('llama', tmp_path)}")
    reading = model.read(TEXT)
    wrong = replace(reading, tokens={"decoder": reading.tokens["decoder"][1:]})
    with pytest.raises(ValueError, match=r"attends between \d+ queries and \d+ keys where"):
        model.trace(wrong)


@pytest.mark.parametrize("family", ["gptj", "codegen", "mpt", "falcon", "roformer"])
@pytest.mark.parametrize("format", [torch.float16, torch.bfloat16])
def test_in_half_the_bits_masks_stay_masks_and_rounding_is_no_bias(
    family: str, format: torch.dtype, tmp_path: Path
) -> None:
    folder = families.save(family, tmp_path)
    kind = getattr(transformers, families.FAMILIES[family][0])
    kind.from_pretrained(folder, dtype=format).save_pretrained(folder)
    model = load_model(f"hf:{folder}")
    assert model.net.dtype == format and model.layout is not None
    trace = model.trace(TEXT)
    side = next(iter(model.attentions)).partition(".")[0]
    assert (f"{side}.0.self.bias" in trace) == (family == "mpt")
    later = trace[f"{side}.0.self.scores"].isneginf()
    assert torch.equal(later[0], torch.ones_like(later[0]).triu(1) if side == "decoder" else later[0] & False)


def test_what_an_edit_computes_is_counted_as_nothing_of_the_models(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save('opt', tmp_path)}")
    plain = model.trace(TEXT)

    def adding(address: str, x: Tensor) -> Tensor:
        if address.endswith("ff.post"):
            return x + torch.zeros_like(x)
        return x @ torch.eye(x.shape[-1]) if address.endswith(".q") else x.clone()

    same = model.trace(TEXT, edit=adding)
    assert list(same) == list(plain)
    for address in plain:
        torch.testing.assert_close(same[address], plain[address], atol=1e-5, rtol=1e-5)


def test_values_may_have_another_width_than_queries(tmp_path: Path, monkeypatch: Any) -> None:
    sizes = DEEPSEEK | {"v_head_dim": 4}
    model = load_model(
        f"hf:{saved('DeepseekV3ForCausalLM', 'DeepseekV3Config', sizes, tmp_path, monkeypatch)}"
    )
    trace, w_o = model.trace(TEXT), model.projection("decoder.self", 0)
    assert w_o is not None and w_o.shape == (4, 4, 32)
    parts = (trace["decoder.0.self.z"] @ w_o).sum(dim=0)
    torch.testing.assert_close(parts, trace["decoder.0.self.out"], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_an_end_that_is_not_the_answer_is_not_recorded_as_the_norm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved("LlamaModel", "LlamaConfig", SHARED, tmp_path / "base", monkeypatch)
    model = load_model(f"hf:{folder}")
    answer = transformers.LlamaModel.from_pretrained(folder).eval()(*model.read(TEXT).inputs)[0][0]
    torch.testing.assert_close(model.trace(TEXT)["decoder.norm"], answer, atol=1e-5, rtol=1e-5)
    finished = proof.Recorder._finished

    def half(self: Any, module: nn.Module, output: Any) -> Any:
        if module in self.layout.stacks.values():
            finished(self, module, (output[0] / 2,))
        return output

    monkeypatch.setattr(proof.Recorder, "_finished", half)
    loading._PROVED.clear()
    assert "decoder.norm" not in load_model(f"hf:{folder}").trace(TEXT)


def test_a_model_of_which_weights_alone_are_known_is_opened_without_float64(tmp_path: Path) -> None:
    families.save("nystromformer", tmp_path)
    net = transformers.NystromformerForMaskedLM.from_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    here = load_model(net, tokenizer).trace(TEXT)
    with apple_gpu():
        model = load_model(net.to(DEVICE), tokenizer)
        there = model.trace(TEXT)
    assert "shows only its attention weights" in model.note and model.net.device == DEVICE
    for address in here:
        torch.testing.assert_close(there[address], here[address])
