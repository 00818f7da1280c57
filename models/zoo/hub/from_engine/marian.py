"""Encoder-decoders with sinusoids: Marian (Junczys-Dowmunt et al. 2018) with a norm after each sublayer, and
Pegasus (Zhang et al. 2020), the same with a norm before. T5 fits none of ours: its norms subtract no mean.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from models.config import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.engine.layers import Stack
from models.engine.transformer import Transformer
from models.zoo.hub.from_engine.fitting import (
    ACTIVATIONS,
    Weights,
    check_positions,
    linear,
    load,
    misfit,
    query_scale,
)

_FAMILIES = {"post": "Marian", "pre": "Pegasus"}
_INTO = ("q_proj", "k_proj", "v_proj", "fc1")
"""Linear maps that read the residual stream; all others write to it."""


def family_of(config: ModelConfig) -> str:
    """ "Marian" or "Pegasus". Raises Misfit."""
    if config.norm not in _FAMILIES:
        raise misfit(f"norm={config.norm!r}", "Marian has norm='post' and Pegasus norm='pre'")
    family = _FAMILIES[config.norm]
    check_positions(config, family, ("sinusoidal",))
    if config.target_vocab_size is not None:
        raise misfit(f"target_vocab_size={config.target_vocab_size}", f"{family} has one vocabulary")
    if config.embedding_norm or config.output_transform:
        raise misfit("embedding_norm or output_transform", f"{family} has neither")
    if config.norm_eps != nn.LayerNorm(1).eps:
        raise misfit(f"norm_eps={config.norm_eps:g}", f"{family} has {nn.LayerNorm(1).eps:g}")
    return family


def made(model: Transformer, special_ids: dict[str, Any]) -> Any:
    """A MarianMTModel or a PegasusForConditionalGeneration."""
    from transformers import MarianConfig, MarianMTModel, PegasusConfig, PegasusForConditionalGeneration

    config = model.config
    marian = config.norm == "post"
    ids = {"pad_token_id": config.pad_id, "forced_eos_token_id": None} | special_ids
    settings: Any = (MarianConfig if marian else PegasusConfig)(
        vocab_size=config.vocab_size, d_model=config.d_model, encoder_layers=config.n_layers,
        decoder_layers=config.n_layers, encoder_attention_heads=config.n_heads,
        decoder_attention_heads=config.n_heads, encoder_ffn_dim=config.ff_size,
        decoder_ffn_dim=config.ff_size, max_position_embeddings=config.max_len,
        activation_function=ACTIVATIONS[config.activation], dropout=config.dropout,
        attention_dropout=config.dropout, activation_dropout=0.0, scale_embedding=True,
        tie_word_embeddings=config.tied_embeddings, **ids,
    )  # fmt: skip
    net: Any = (MarianMTModel if marian else PegasusForConditionalGeneration)(settings)
    order = channel_order(config.d_model)
    words = model.embedding.weight[:, order]
    output = model.embedding if model.output is None else model.output
    weights: Weights = {
        "final_logits_bias": torch.zeros(1, config.vocab_size),
        "model.shared.weight": words,
        "lm_head.weight": output.weight[:, order],
    }
    for side, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        assert stack is not None
        name = f"model.{side}"
        weights[f"{name}.embed_tokens.weight"] = words
        weights[f"{name}.embed_positions.weight"] = net.state_dict()[f"{name}.embed_positions.weight"]
        weights |= _stack(name, stack, query_scale(config), order)
    return load(net, weights)


def channel_order(d_model: int) -> Tensor:
    """The channels of ours in their order: theirs has all sines first, then all cosines; ours alternates."""
    return torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])


def _stack(name: str, stack: Stack, scale: float, order: Tensor) -> Weights:
    weights: Weights = {}
    for at, layer in enumerate(stack.layers):
        weights |= _layer(f"{name}.layers.{at}", layer, scale)
    if isinstance(stack.norm, nn.LayerNorm):
        weights |= linear(f"{name}.layer_norm", stack.norm)
    return {key: _reordered(key, each, order) for key, each in weights.items()}


def _layer(name: str, layer: Any, scale: float) -> Weights:
    network = layer.feed_forward
    weights = _attention(f"{name}.self_attn", layer.self_attention, scale)
    weights |= linear(f"{name}.self_attn_layer_norm", layer.self_norm)
    if layer.cross_attention is not None:
        weights |= _attention(f"{name}.encoder_attn", layer.cross_attention, scale)
        weights |= linear(f"{name}.encoder_attn_layer_norm", layer.cross_norm)
    weights |= linear(f"{name}.fc1", network.linear_in) | linear(f"{name}.fc2", network.linear_out)
    return weights | linear(f"{name}.final_layer_norm", layer.ff_norm)


def _attention(name: str, attention: MultiHeadAttention, scale: float) -> Weights:
    return {
        **linear(f"{name}.q_proj", attention.q_proj, scale=scale),
        **linear(f"{name}.k_proj", attention.k_proj),
        **linear(f"{name}.v_proj", attention.v_proj),
        **linear(f"{name}.out_proj", attention.out_proj),
    }


def _reordered(name: str, weight: Tensor, order: Tensor) -> Tensor:
    """A weight whose channels of the residual stream stand in their order."""
    reads = name.split(".")[-2] in _INTO
    if not reads:
        return weight[order]  # rows of a map that writes, its bias, and norms
    return weight[:, order] if weight.dim() == 2 else weight
