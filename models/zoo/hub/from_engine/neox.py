"""Decoder-only models with rotary positions as GPT-NeoX (Black et al. 2022), its residual not in parallel."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.config import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.engine.transformer import Transformer
from models.zoo.hub.from_engine.fitting import ACTIVATIONS, Weights, linear, load, query_scale

FAMILY = "GPT-NeoX"


def made(model: Transformer, special_ids: dict[str, Any]) -> Any:
    """A GPTNeoXForCausalLM."""
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    config, stack = model.config, model.decoder
    assert stack is not None
    ids = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": config.pad_id} | special_ids
    ids.pop("decoder_start_token_id", None)
    kind: Any = GPTNeoXConfig
    settings = kind(
        vocab_size=config.vocab_size, hidden_size=config.d_model, num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads, intermediate_size=config.ff_size,
        hidden_act=ACTIVATIONS[config.activation], max_position_embeddings=config.max_len,
        layer_norm_eps=config.norm_eps, attention_dropout=config.dropout, hidden_dropout=config.dropout,
        use_parallel_residual=False, tie_word_embeddings=False,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 1.0}, **ids,
    )  # fmt: skip
    output = model.embedding if model.output is None else model.output
    weights: Weights = {
        "gpt_neox.embed_in.weight": model.embedding.weight * config.d_model**0.5,  # as ours is read
        "lm_head.weight": output.weight,
        **linear("gpt_neox.final_layer_norm", stack.norm),
    }
    for at, layer in enumerate(stack.layers):
        weights |= _layer(f"gpt_neox.layers.{at}", layer, config)
    return load(GPTNeoXForCausalLM(settings), weights)


def _layer(name: str, layer: Any, config: ModelConfig) -> Weights:
    attention, network = layer.self_attention, layer.feed_forward
    return {
        **_joined(f"{name}.attention.query_key_value", attention, config),
        **linear(f"{name}.attention.dense", attention.out_proj),
        **linear(f"{name}.mlp.dense_h_to_4h", network.linear_in),
        **linear(f"{name}.mlp.dense_4h_to_h", network.linear_out),
        **linear(f"{name}.input_layernorm", layer.self_norm),
        **linear(f"{name}.post_attention_layernorm", layer.ff_norm),
    }


def _joined(name: str, attention: MultiHeadAttention, config: ModelConfig) -> Weights:
    """Each head's rows of q, k and v after one another; q and k in the order in which theirs turns them."""
    order = turning_order(config.head_size)
    parts = [linear("x", attention.q_proj, scale=query_scale(config))]
    parts += [linear("x", each) for each in (attention.k_proj, attention.v_proj)]
    joined: Weights = {}
    for key in ("weight", "bias"):
        heads = [part[f"x.{key}"].unflatten(0, (config.n_heads, config.head_size)) for part in parts]
        turned = [heads[0][:, order], heads[1][:, order], heads[2]]
        joined[f"{name}.{key}"] = torch.cat(turned, dim=1).flatten(0, 1)
    return joined


def turning_order(d_head: int) -> Tensor:
    """The channels of a head: theirs turns i with i + d_head / 2, ours neighbours (Su et al. 2021)."""
    return torch.cat([torch.arange(0, d_head, 2), torch.arange(1, d_head, 2)])
