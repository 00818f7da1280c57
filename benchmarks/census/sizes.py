"""The sizes of small models: what a field of a config is shrunk to, and the types that need their own."""

# ruff: noqa: E501 -- a table
from __future__ import annotations

import re
from typing import Any

WIDTH, HEADS, KEY_HEADS, HEAD, INNER, LAYERS = 32, 4, 2, 8, 48, 2
VOCABULARY = 320
"""A few ids more than the tokenizer has: those of pictures and other marks lie beyond its own."""
N_WORDS = 300
SIDE, PATCH = 32, 8
SPECIAL = {
    "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2, "cls_token_id": 2,
    "sep_token_id": 3, "unk_token_id": 1, "mask_token_id": 4,
}  # fmt: skip

RULES: list[tuple[str, int | None]] = [
    (r"(vocab_size|.*_vocab_size|vocabulary_size|n_vocab|n_token|vocab_size_per_layer_input)", VOCABULARY),
    (r"type_vocab_size", None),
    (r"(max_position_embeddings|n_positions|max_seq_len\w*|max_sequence_length|n_ctx|context_length"
     r"|max_(source|target)_positions|seq_length|model_max_length|max_length)", 128),
    (r"original_max_position_embeddings", 64),
    (r"(num_|n_|\w*_num_|\w*_n_)?(key_value_heads|kv_heads|num_kv_heads|key_value_attention_heads)", KEY_HEADS),
    (r"(num_|n_)?(attention_heads|heads?)|(num|n)_head|\w*attention_heads|\w*(num|n)_heads|index_n_heads", HEADS),
    (r"(linear_num_(key|value)_heads|mamba_n_heads|mamba_num_heads|num_heads)", HEADS),
    (r"(\w+_)?head_dim|d_kv|kv_channels|d_head|dim_head|attention_head_dim", HEAD),
    (r"rotary_dim", HEAD),
    (r"qk_head_dim", 2 * HEAD),
    (r"(kv|q|o|\w*)_?lora_rank|\w*_rank", 16),
    (r"(num_|n_)?(hidden_layers|layers?|blocks)|(num|n)_layer|depth|(encoder|decoder)_layers"
     r"|num_(encoder|decoder|\w+_hidden|\w+_attention)_layers|\w+_num_hidden_layers|\w+_depth", LAYERS),
    (r"(num_experts|n_routed_experts|num_local_experts|moe_num_experts|n_experts|num_routed_experts)", 4),
    (r"(num_experts_per_tok\w*|moe_topk|moe_k|top_k|num_experts_per_token|moe_top_k|experts_per_token)", 2),
    (r"(n_group|topk_group|num_expert_group)", 1),
    (r"(mamba_d_state|ssm_state_size|state_size|mamba_chunk_size|chunk_size)", 8),
    (r"(\w*moe_intermediate_size|shared_expert_intermediate_size|expert_ffn_hidden_size|\w*expert\w*_size"
     r"|\w*expert\w*_dim)", 16),
    (r"(intermediate_size|\w*ffn_dim|d_ff|n_inner|ffn_hidden_size|\w*intermediate_(size|dim)|mlp_dim"
     r"|\w*(ffn|mlp)_hidden_(size|dim)|dim_feedforward|inner_dim)", INNER),
    (r"(image_size|img_size|input_size|pretrain_image_size)", SIDE),
    (r"(patch_size|patch_stride)", PATCH),
    (r"(sliding_window|attention_window|local_attention|window)", 4),
    (r"(first_k_dense_replace|num_dense_layers)", 1),
    (r"num_(register|virtual|query)_tokens", 4),
    (r"(hidden_size|d_model|n_embd|dim|emb_dim|embed_dim|embedding_dim|embedding_size|hidden_dim|width"
     r"|model_dim|out_hidden_size|output_dim|projection_dim|projector_dim|word_embed_proj_dim)", WIDTH),
    (r"(\w+_hidden_size|\w+_hidden_dim|\w+_embed_dim|\w+_dim|\w+_embd|\w+_width|\w+_embedding_size)", WIDTH),
]  # fmt: skip
"""The first pattern that is a field's whole name says its size; None: as it is."""

LISTS: dict[str, Any] = {"image_size": [SIDE, SIDE], "patch_size": [PATCH, PATCH]}

HYBRID = 4
"""Layers of those whose layers are of several kinds."""

_MOE = {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 16}
_MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_chunk_size": 8}
_DEPTHS = {"depths": [1, 1], "num_heads": [2, 4], "embed_dim": 16, "window_size": 4, "patch_size": 4}
_FOUR = {
    "depths": [1, 1, 1, 1],
    "num_heads": [2, 2, 4, 4],
    "embed_dim": 16,
    "window_size": 2,
    "patch_size": 4,
}
_ROPE = {"rope_type": "default", "rope_theta": 10_000.0}
_BY_KIND = ["sliding_attention", "full_attention"] * 2
_EXPERTS = {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 16}

OWN: dict[str, dict[str, Any]] = {
    "recurrent_gemma": {"num_hidden_layers": 3},
    "reformer": {"axial_pos_shape": [16, 8], "axial_pos_embds_dim": [16, 16], "is_decoder": True},
    "funnel": {"block_sizes": [1, 1], "d_head": 8},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "num_layers": 2, "window_size": 4},
    "jamba": {"num_hidden_layers": 4, "attn_layer_period": 4, "attn_layer_offset": 2, "use_mamba_kernels": False,
              "mamba_d_state": 8},
    "bamba": _MAMBA | {"num_hidden_layers": 4, "attn_layer_indices": [2]},
    "granitemoehybrid": _MAMBA | {"num_hidden_layers": 4, "layer_types": ["mamba", "mamba", "attention", "mamba"],
                                  "shared_intermediate_size": 16},
    "kimi_linear": {"num_hidden_layers": 4, "linear_num_heads": 4, "linear_head_dim": 8,
                    "layer_types": ["linear_attention"] * 3 + ["full_attention"]},
    "bailing_hybrid": {"num_hidden_layers": 4, "layer_group_size": 4, "num_key_value_heads": 4},
    "big_bird": {"attention_type": "original_full", "block_size": 4, "num_random_blocks": 1},
    "bigbird_pegasus": {"attention_type": "original_full", "block_size": 4, "num_random_blocks": 1},
    "deepseek_v2": _MOE | {"num_key_value_heads": 4, "first_k_dense_replace": 1, "topk_group": 1, "n_group": 1},
    "longcat_flash": {"qk_head_dim": 16, "head_dim": 8, "zero_expert_num": 2, "num_key_value_heads": 4},
    "lfm2_moe": {"num_hidden_layers": 4, "layer_types": ["conv", "conv", "full_attention", "conv"]},
    "zamba": {"num_hidden_layers": 6, "attn_layer_period": 3, "attn_layer_offset": 2, "use_mamba_kernels": False,
              "attention_head_dim": 16, "num_key_value_heads": 4, "mamba_d_state": 8,
              "layers_block_type": ["mamba", "mamba", "hybrid", "mamba", "mamba", "hybrid"]},
    "zamba2": {"num_hidden_layers": 6, "n_mamba_heads": 8, "mamba_d_state": 8, "chunk_size": 8,
               "intermediate_size": 48, "use_mamba_kernels": False, "use_mem_rope": True,
               "layers_block_type": ["mamba", "mamba", "hybrid", "mamba", "mamba", "hybrid"]},
    "mamba2": {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 2, "chunk_size": 8},
    "nemotron": {"num_key_value_heads": 2, "head_dim": 8},
    "nemotron_h": {"mamba_num_heads": 8, "mamba_head_dim": 8, "ssm_state_size": 8, "n_groups": 2, "chunk_size": 8,
                   "moe_shared_expert_intermediate_size": 16, "expand": 2,
                   "layers_block_type": ["mamba", "moe", "attention", "mlp"]},
    "esm": {"vocab_size": 320, "pad_token_id": 0, "mask_token_id": 4},
    "dots1": _MOE | {"num_key_value_heads": 4, "first_k_dense_replace": 1},
    "deepseek_v3": {"num_key_value_heads": 4}, "deepseek_v32": {"num_key_value_heads": 4},
    "hunyuan_v1_dense": {"num_key_value_heads": 2}, "hunyuan_v1_moe": {"num_experts": 4, "moe_topk": 2},
    "gemma3n_text": {"num_hidden_layers": 6, "num_kv_shared_layers": 2, "activation_sparsity_pattern": None,
                     "layer_types": (["sliding_attention"] * 1 + ["full_attention"]) * 3},
    "gemma4_text": {"num_hidden_layers": 4, "global_head_dim": 8, "layer_types":
                    ["sliding_attention", "full_attention"] * 2, "num_global_key_value_heads": 2},
    "ernie4_5_vl_moe_text": {"moe_intermediate_size": [16, 16],
                             "rope_parameters": _ROPE | {"mrope_section": [1, 1, 2]}},
    "cohere_compass_text": {"num_key_value_heads": 2, "num_hidden_layers": 4, "layer_types": _BY_KIND,
                            "rope_parameters": {kind: _ROPE | {"mrope_section": [2, 1, 1]} for kind in _BY_KIND}},
    "diffusion_gemma_text": _EXPERTS | {"num_hidden_layers": 4, "layer_types": _BY_KIND},
    "neomme": {"head_dim": 16},
    "qwen4_exp_text": {"indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 8,
                       "indexer_compress_ratio": 2, "ngram_vocab_size_base": 100, "split_ngram_parts": 4},
    "t5gemma2_text": {"dropout_rate": 0.0}, "t5gemma2_decoder": {"dropout_rate": 0.0},
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 16},
    "granite4_vision": {"deepstack_layer_map": [[-1, 0]], "downsample_rate": "1/2"},
    "muse_spark_audio": {"patch_sizes": [16, 6], "hidden_sizes": [16, 32], "depths": [1, 1]},
    "molmo2": {"adapter_config": {"vision_feature_layer": [1, 0]}},
    "moonshine_streaming": {"num_key_value_heads": 4},
    "dbrx": {"attn_config": {"rope_theta": 10_000.0, "clip_qkv": 8.0}, "ffn_config": {"hidden_size": 32}},
    "nemotron_h_omni": {"vision_config": {"video_temporal_patch_size": 2}},
    "fun_asr_nano": {"adaptor_config": {"intermediate_size": 8}},
    "bridgetower_vision_model": {"hidden_size": 64},
    "align_vision_model": {"width_coefficient": 0.1, "depth_coefficient": 0.1},
    "emu3_vqgan": {"base_channels": 32, "codebook_size": 16}, "janus_vqgan": {"base_channels": 32},
    "mimi_decoder": {"upsample_groups": 32}, "pocket_tts_audio_tokenizer": {"upsample_groups": 32},
    "pocket_tts_audio_tokenizer_decoder": {"upsample_groups": 32},
    "lw_detr_vit": {"num_windows": 4},
    "florence_vision": {"depths": [1, 1, 1, 1], "embed_dim": [8, 16, 16, 32], "num_heads": [2, 2, 4, 4],
                        "num_groups": [2, 2, 4, 4]},
    "deepseek_ocr2_text": _MOE | {"mlp_layer_types": ["dense", "sparse"], "num_key_value_heads": 4},
    "perceiver": {"num_latents": 8, "d_latents": 32, "num_self_attends_per_block": 2, "num_frames": 2,
                  "audio_samples_per_frame": 16, "output_shape": [1, 2, 16, 16], "train_size": [16, 16]},
    "step3p5": {"sliding_window": 4}, "step3p7": {"text_config": {"sliding_window": 4}},
    "blt_patcher": {"vocab_size": 320},
    "vits": {"vocab_size": 320}, "fastspeech2_conformer": {"vocab_size": 320},
    "xmod": {"default_language": "en_XX"},
    "lilt": {"channel_shrink_ratio": 4, "hidden_size": 48, "num_attention_heads": 4},
    "layoutlmv3": {"coordinate_size": 6, "shape_size": 4, "hidden_size": 32},
    "swin": _DEPTHS, "swinv2": _DEPTHS, "swin2sr": _DEPTHS, "donut-swin": _DEPTHS,
    "maskformer-swin": _FOUR,
    "chameleon": {"vocabulary_map": {"<image>": 310}}, "emu3": {"vocabulary_map": {"<image>": 310}},
    "blt": {"patch_in_forward": False, "encoder_hash_byte_group_vocab": 50,
            "vocab_size": 320},
    "efficientnet": {"width_coefficient": 0.1, "depth_coefficient": 0.1},
    "autoformer": {"prediction_length": 4, "context_length": 8},
    "informer": {"prediction_length": 4, "context_length": 8},
    "time_series_transformer": {"prediction_length": 4, "context_length": 8},
    "csm": {}, "mimi": {"hidden_size": 64, "num_filters": 8, "upsample_groups": 64},
}  # fmt: skip
"""What a type needs beyond the rules; of its parts under their names."""


def shrunk(name: str, value: int) -> int | None:
    """The small size of a field; None where it stays."""
    for pattern, size in RULES:
        if re.fullmatch(pattern, name):
            return None if size is None else min(size, value) if value > 0 else None
    return None
