"""The census of model types: what each becomes, beside eager attention that the census runs apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.census import checks
from benchmarks.census.checks import row_of
from benchmarks.census.small_models import GapError, class_of, config_of

ALL = {"patterns", "numbers", "head", "ff"}
DECODERS = [
    "gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3", "olmo2", "cohere", "starcoder2",
    "gpt_oss", "gpt_neox", "opt", "falcon", "bloom", "mpt", "gptj", "codegen", "xglm", "xlnet", "mixtral",
    "qwen3_moe", "deepseek_v2", "deepseek_v3", "glm4_moe", "ernie4_5_moe", "granitemoeshared",
    "qwen3_next", "jamba",
    "lfm2", "recurrent_gemma", "gemma3", "llava", "openai-gpt", "granite", "gemma3_text", "phi",
]  # fmt: skip
ENCODERS = [
    "bert", "distilbert", "electra", "modernbert", "mpnet", "deberta", "deberta-v2", "roformer", "convbert",
    "esm", "roberta", "albert",
]  # fmt: skip
OTHERS = ["t5", "bart", "marian", "m2m_100", "vit", "deit", "dinov2", "beit"]
UNSEEN = {"recurrent_gemma": {"head"}, "convbert": {"head"}, "xlnet": {"head"}, "esm": {"head"}}
UNSEEN["albert"] = {"numbers", "head", "ff"}  # one layer that is called again and again
"""What the census has no plain hook for: an output projection by another name, or of more than heads."""
_OTHER = "open a model of texts (input_ids) or of pictures in equal patches (pixel_values)"
REFUSED = {
    "wav2vec2": f"reads input_values; {_OTHER}",
    "whisper": f"reads input_features; {_OTHER}",
    "patchtst": f"reads past_values; {_OTHER}",
    "timesfm": f"reads past_values; {_OTHER}",
    "encodec": f"reads input_values; {_OTHER}",
    "videomae": "cannot read pixel_values alone",
    "resnet": "states no single patch_size",
    "mamba": "computes no attention that can be recorded",
    "rwkv": "computes no attention that can be recorded",
    "clip": "cannot read input_ids alone",
}
"""Types that read something else, or do not attend, and what their sentence has to say."""


@pytest.mark.parametrize("model_type", [*DECODERS, *ENCODERS, *OTHERS])
def test_a_type_that_is_whole_computes_what_eager_computes(model_type: str, tmp_path: Path) -> None:
    row = row_of(model_type, tmp_path / model_type)
    assert (row.outcome, row.why) == ("whole", ""), row.trail
    assert row.difference is not None and row.difference <= 1e-5
    assert set(row.checked) >= ALL - UNSEEN.get(model_type, set())


@pytest.mark.parametrize("model_type", REFUSED)
def test_a_type_that_reads_something_else_is_refused_in_a_sentence(model_type: str, tmp_path: Path) -> None:
    row = row_of(model_type, tmp_path / model_type)
    assert row.outcome == "refused", (row.outcome, row.why, row.trail)
    assert REFUSED[model_type] in row.why and "open" in row.why


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        ("logits", "logits: differs by"),
        ("decoder.1.self.pattern", "patterns decoder.1.self.pattern: differs by"),
        ("decoder.1.resid_pre", "layers [0, 1] are not the elements of these numbers of any list"),
        ("decoder.1.ff.out", "an edit that changes nothing changes decoder.1.ff.out"),
    ],
)
def test_the_census_sees_what_is_wrong(
    address: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def falsified(name: str) -> Any:
        model = load_model(name)
        trace_of = model.trace

        def trace(*given: Any, **named: Any) -> Any:
            trace = trace_of(*given, **named)
            if not named:
                trace._values[address] = trace[address] + 1e-3
            return trace

        monkeypatch.setattr(model, "trace", trace)
        return model

    load_model = checks.load_model
    monkeypatch.setattr(checks, "load_model", falsified)
    row = row_of("llama", tmp_path / "llama")
    assert row.outcome == "wrong" and wrong in row.why


def test_an_error_of_any_kind_is_a_row_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(name: str) -> Any:
        raise KeyError("layers")

    monkeypatch.setattr(checks, "load_model", fails)
    row = row_of("llama", tmp_path / "llama")
    assert (row.outcome, row.why) == ("traceback", "KeyError: 'layers'") and "Traceback" in row.trail


def test_a_type_has_the_class_that_a_researcher_opens_and_small_sizes() -> None:
    classes = {name: class_of(name).__name__ for name in ("llama", "bert", "bart", "vit", "llava", "clip")}
    assert classes == {
        "llama": "LlamaForCausalLM", "bert": "BertForMaskedLM", "bart": "BartForConditionalGeneration",
        "vit": "ViTForImageClassification", "llava": "LlavaForConditionalGeneration", "clip": "CLIPModel",
    }  # fmt: skip
    small = config_of("llava")
    assert (small.text_config.hidden_size, small.vision_config.hidden_size) == (32, 32)
    assert set(config_of("qwen3_next").layer_types) == {"linear_attention", "full_attention"}
    with pytest.raises(GapError, match="has no model of this config alone"):
        class_of("sam_prompt_encoder")
