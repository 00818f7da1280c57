"""Small random models of many families of transformers, saved to folders as a person's own would be."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

TEXT = "the animal did not cross the street because it was too tired"
ANSWER = "the street was wide"
_LINES = [TEXT, ANSWER, "the animal was tired and the street was wide", "it did not cross"]
_SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 64,
}  # fmt: skip
_SHARED = {"num_key_value_heads": 2}
_ENDS = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64,
    "decoder_start_token_id": 2, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3,
    "forced_eos_token_id": None,
}  # fmt: skip
_MODERN = {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
_ROTARY = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 4}
_DISTIL = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64}
_T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}

ENCODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertForMaskedLM", "BertConfig", _SIZES),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", _SIZES),
    "distilbert": ("DistilBertForMaskedLM", "DistilBertConfig", _DISTIL),
    "electra": ("ElectraForMaskedLM", "ElectraConfig", _SIZES | {"embedding_size": 16}),
    "mpnet": ("MPNetForMaskedLM", "MPNetConfig", _SIZES),
    "deberta": (
        "DebertaForMaskedLM",
        "DebertaConfig",
        _SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False},
    ),
    "deberta-v2": (
        "DebertaV2ForMaskedLM",
        "DebertaV2Config",
        _SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8},
    ),
    "roformer": ("RoFormerForMaskedLM", "RoFormerConfig", _SIZES | {"embedding_size": 32}),
    "xlnet": ("XLNetLMHeadModel", "XLNetConfig", {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}),
    "convbert": ("ConvBertForMaskedLM", "ConvBertConfig", _SIZES | {"embedding_size": 32, "head_ratio": 2}),
    "modernbert": ("ModernBertForMaskedLM", "ModernBertConfig", _SIZES | _MODERN | {"local_attention": 4}),
}
SHARED_LAYERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "albert": ("AlbertForMaskedLM", "AlbertConfig", _SIZES | {"embedding_size": 16, "num_hidden_layers": 3})
}
DECODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "gpt-neo": (
        "GPTNeoForCausalLM", "GPTNeoConfig",
        {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global"], 2]],
         "max_position_embeddings": 64},
    ),
    "falcon": ("FalconForCausalLM", "FalconConfig", _SIZES | {"alibi": False}),
    "falcon-alibi": (
        "FalconForCausalLM", "FalconConfig",
        _SIZES | {"alibi": True, "multi_query": False, "parallel_attn": False},
    ),
    "bloom": ("BloomForCausalLM", "BloomConfig", {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "mpt": ("MptForCausalLM", "MptConfig", {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}),
    "gptj": ("GPTJForCausalLM", "GPTJConfig", _ROTARY),
    "codegen": ("CodeGenForCausalLM", "CodeGenConfig", _ROTARY),
    "xglm": (
        "XGLMForCausalLM", "XGLMConfig",
        {"d_model": 32, "num_layers": 2, "attention_heads": 4, "ffn_dim": 48, "max_position_embeddings": 64},
    ),
    "openai-gpt": (
        "OpenAIGPTLMHeadModel", "OpenAIGPTConfig",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    ),
    "granite": (
        "GraniteForCausalLM", "GraniteConfig",
        _SIZES | _SHARED | {"residual_multiplier": 0.3, "attention_multiplier": 0.2},
    ),
    "opt": ("OPTForCausalLM", "OPTConfig", _SIZES | {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "gpt-neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", _SIZES),
    "llama": ("LlamaForCausalLM", "LlamaConfig", _SIZES | _SHARED),
    "mistral": ("MistralForCausalLM", "MistralConfig", _SIZES | _SHARED | {"sliding_window": 3}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", _SIZES | _SHARED),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", _SIZES | _SHARED | {"head_dim": 8}),
    "gemma2": (
        "Gemma2ForCausalLM", "Gemma2Config",
        _SIZES | _SHARED | {"head_dim": 8, "sliding_window": 3, "attn_logit_softcapping": 0.5},
    ),
    "gemma3": (
        "Gemma3ForCausalLM", "Gemma3TextConfig", _SIZES | _SHARED | {"head_dim": 8, "sliding_window": 3}
    ),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", _SIZES | _SHARED),
    "mixtral": (
        "MixtralForCausalLM", "MixtralConfig",
        _SIZES | _SHARED | {"num_local_experts": 3, "num_experts_per_tok": 2},
    ),
    "qwen3_moe": (
        "Qwen3MoeForCausalLM", "Qwen3MoeConfig",
        _SIZES | _SHARED | {
            "head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 12,
            "norm_topk_prob": True,
        },
    ),
    "smollm3": ("SmolLM3ForCausalLM", "SmolLM3Config", _SIZES | _SHARED | {"no_rope_layers": [1, 0]}),
    "phi": ("PhiForCausalLM", "PhiConfig", _SIZES),
    "gpt-oss": (
        "GptOssForCausalLM", "GptOssConfig",
        _SIZES | _SHARED | {"head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1,
         "sliding_window": 3},
    ),
}  # fmt: skip
HYBRIDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "qwen3-next": (
        "Qwen3NextForCausalLM", "Qwen3NextConfig",
        _SIZES | _SHARED | {"head_dim": 8, "num_hidden_layers": 8, "num_experts": 4, "num_experts_per_tok": 2,
         "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, "linear_num_key_heads": 2,
         "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8},
    ),
    "lfm2": (
        "Lfm2ForCausalLM", "Lfm2Config",
        _SIZES | _SHARED | {"num_hidden_layers": 4, "full_attn_idxs": [1, 3],
         "block_auto_adjust_ff_dim": False},
    ),
}  # fmt: skip
"""Those of whose layers some attend: 3 and 7 of eight, and 1 and 3 of four."""
TRANSLATORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "t5": ("T5ForConditionalGeneration", "T5Config", _T5),
    "bart": ("BartForConditionalGeneration", "BartConfig", _ENDS),
    "marian": ("MarianMTModel", "MarianConfig", _ENDS),
}
PATTERNS_ONLY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nystromformer": ("NystromformerForMaskedLM", "NystromformerConfig", _SIZES)  # it adds more to its z
}
_SEEN = {"image_size": 32, "patch_size": 8, "num_labels": 5}
PICTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "vit": ("ViTForImageClassification", "ViTConfig", _SIZES | _SEEN),
    "deit": ("DeiTForImageClassification", "DeiTConfig", _SIZES | _SEEN),
    "dinov2": ("Dinov2ForImageClassification", "Dinov2Config", _SIZES | _SEEN),
    "dinov2-registers": (
        "Dinov2WithRegistersForImageClassification",
        "Dinov2WithRegistersConfig",
        _SIZES | _SEEN,
    ),
    "beit": (
        "BeitForImageClassification",
        "BeitConfig",
        {size: _SIZES[size] for size in _SIZES if size != "max_position_embeddings"}
        | _SEEN
        | {"use_relative_position_bias": True},
    ),
    "ijepa": ("IJepaForImageClassification", "IJepaConfig", _SIZES | _SEEN),
}
PREPARED = {
    "image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": 32, "width": 32},
    "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
    "image_mean": [0.5, 0.4, 0.3], "image_std": [0.5, 0.25, 0.2],
}  # fmt: skip
FAMILIES = ENCODERS | SHARED_LAYERS | DECODERS | TRANSLATORS | PATTERNS_ONLY


def save(family: str, folder: Path, **changes: Any) -> Path:
    """Saves a model of a family with its tokenizer into a folder; `changes` go into its config."""
    name, config_name, sizes = (FAMILIES | HYBRIDS)[family]
    tokenizer = tokenizer_of(
        "word-piece" if family in ENCODERS | SHARED_LAYERS | PATTERNS_ONLY else "byte-level"
    )
    usual = {"vocab_size": len(tokenizer), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    _save_model(name, getattr(hf, config_name)(**(usual | sizes | changes)), folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_picture_model(
    family: str, folder: Path, prepared: dict[str, Any] | None = None, **changes: Any
) -> Path:
    """The same for a model that reads pictures. prepared: what its image processor does."""
    name, config_name, sizes = PICTURES[family]
    _save_model(name, getattr(hf, config_name)(**(sizes | changes)), folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(prepared or PREPARED))
    return folder


def _save_model(name: str, config: Any, folder: Path) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = getattr(hf, name)(config)
        for parameter in model.parameters():  # larger than at the start of training, so that heads differ
            parameter.data += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(folder)


@cache
def tokenizer_of(kind: str) -> Any:
    """A tokenizer of a few words: "word-piece", "byte-level" or "sentence-piece"."""
    made, trainer = _KINDS[kind]()
    made.train_from_iterator(_LINES, trainer)
    if kind == "word-piece":
        pair = [("[CLS]", 2), ("[SEP]", 3)]
        made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=pair)
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, mask_token="[MASK]", **named)


_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def _word_piece() -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    return made, trainers.WordPieceTrainer(vocab_size=60, special_tokens=_SPECIAL, show_progress=False)


def _byte_level() -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return made, trainers.BpeTrainer(
        vocab_size=300, special_tokens=_SPECIAL, initial_alphabet=alphabet, show_progress=False
    )


def _sentence_piece() -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    return made, trainers.UnigramTrainer(
        vocab_size=60, special_tokens=_SPECIAL, unk_token="[UNK]", show_progress=False
    )


_KINDS: dict[str, Callable[[], tuple[Tokenizer, Any]]] = {
    "word-piece": _word_piece, "byte-level": _byte_level, "sentence-piece": _sentence_piece
}  # fmt: skip
