"""Decoder-only models as GPT-2 (Radford et al. 2019): positions in a table (or, as
GPT-NeoX, rotary), a norm before each sublayer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.config import ModelConfig
from models.engine.transformer import Transformer
from models.zoo.hub.from_engine import neox
from models.zoo.hub.from_engine.fitting import (
    ACTIVATIONS,
    ADDED,
    Weights,
    check_norm,
    check_positions,
    linear,
    load,
    misfit,
    position_table,
    query_scale,
)

FAMILY = "GPT-2"


def family_of(config: ModelConfig) -> str:
    """ "GPT-2", or "GPT-NeoX", which is the same with rotary positions. Raises Misfit."""
    check_norm(config, "pre", FAMILY)
    check_positions(config, FAMILY, (*ADDED, "rotary"))
    if config.embedding_norm or config.output_transform:
        raise misfit("embedding_norm or output_transform", f"{FAMILY} has neither")
    return neox.FAMILY if config.positions == "rotary" else FAMILY


def made(model: Transformer, special_ids: dict[str, Any]) -> Any:
    """A GPT2LMHeadModel or a GPTNeoXForCausalLM."""
    if model.config.positions == "rotary":
        return neox.made(model, special_ids)
    from transformers import GPT2Config, GPT2LMHeadModel

    config, stack = model.config, model.decoder
    assert stack is not None
    ids = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": config.pad_id} | special_ids
    ids.pop("decoder_start_token_id", None)
    drop = config.dropout
    net = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size, n_positions=config.max_len, n_embd=config.d_model,
            n_layer=config.n_layers, n_head=config.n_heads, n_inner=config.ff_size,
            activation_function=ACTIVATIONS[config.activation], layer_norm_epsilon=config.norm_eps,
            tie_word_embeddings=False, resid_pdrop=drop, embd_pdrop=drop, attn_pdrop=drop, **ids,
        )
    )  # fmt: skip
    output = model.embedding if model.output is None else model.output
    weights: Weights = {
        # ours are multiplied by sqrt(d_model) where they are read
        "transformer.wte.weight": model.embedding.weight * config.d_model**0.5,
        "transformer.wpe.weight": position_table(stack, config),
        "lm_head.weight": output.weight,
        **linear("transformer.ln_f", stack.norm),
    }
    for at, layer in enumerate(stack.layers):
        weights |= _layer(f"transformer.h.{at}", layer, query_scale(config))
    return load(net, weights)


def _layer(name: str, layer: Any, scale: float) -> Weights:
    attention, network = layer.self_attention, layer.feed_forward
    q, k, v = (linear("x", each) for each in (attention.q_proj, attention.k_proj, attention.v_proj))
    parts = [{key: value * scale for key, value in q.items()}, k, v]
    return {
        f"{name}.attn.c_attn.weight": torch.cat([part["x.weight"] for part in parts]).mT,
        f"{name}.attn.c_attn.bias": torch.cat([part["x.bias"] for part in parts]),
        **_turned(linear(f"{name}.attn.c_proj", attention.out_proj)),
        **_turned(linear(f"{name}.mlp.c_fc", network.linear_in)),
        **_turned(linear(f"{name}.mlp.c_proj", network.linear_out)),
        **linear(f"{name}.ln_1", layer.self_norm),
        **linear(f"{name}.ln_2", layer.ff_norm),
    }


def _turned(weights: Weights) -> dict[str, Tensor]:
    """Linear maps as GPT-2 keeps them, [in, out]."""
    return {name: each.mT if each.dim() == 2 else each for name, each in weights.items()}
