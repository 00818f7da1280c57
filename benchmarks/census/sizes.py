"""The sizes of small models: what a field of a config is shrunk to, and the types that need their own."""

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

OWN: dict[str, dict[str, Any]] = {
    "reformer": {"axial_pos_shape": [16, 8], "axial_pos_embds_dim": [16, 16], "is_decoder": True},
    "funnel": {"block_sizes": [1, 1], "d_head": 8},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "num_layers": 2, "window_size": 4},
}
"""What a type needs beyond the rules."""


def shrunk(name: str, value: int) -> int | None:
    """The small size of a field; None where it stays."""
    for pattern, size in RULES:
        if re.fullmatch(pattern, name):
            return None if size is None else min(size, value) if value > 0 else None
    return None
