"""Encoder-only models as BERT (Devlin et al. 2019): a norm after each sublayer and after the embeddings."""

from __future__ import annotations

from typing import Any

from models.config import ModelConfig
from models.engine.transformer import Transformer
from models.zoo.hub.from_engine.fitting import (
    ACTIVATIONS,
    Weights,
    check_norm,
    check_positions,
    linear,
    load,
    misfit,
    position_table,
    query_scale,
)

FAMILY = "BERT"


def family_of(config: ModelConfig) -> str:
    """ "BERT". Raises Misfit."""
    check_norm(config, "post", FAMILY)
    check_positions(config, FAMILY)
    if not config.embedding_norm:
        raise misfit("embedding_norm=False", f"{FAMILY} normalises what enters its first layer")
    if config.pooling != "none":
        raise misfit(f"pooling={config.pooling!r}", f"{FAMILY}'s pooled answers pass one more layer, a tanh")
    if config.output_transform and config.output_vocab_size != config.vocab_size:
        raise misfit(f"n_outputs={config.n_outputs}", f"{FAMILY}'s head answers in its vocabulary")
    return FAMILY


def made(model: Transformer, special_ids: dict[str, Any]) -> Any:
    """A BertForMaskedLM, or a BertForTokenClassification where no transform stands before the outputs."""
    from transformers import BertConfig, BertForMaskedLM, BertForTokenClassification

    config, stack = model.config, model.encoder
    assert stack is not None
    kind: Any = BertConfig
    settings = kind(
        vocab_size=config.vocab_size, hidden_size=config.d_model, num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads, intermediate_size=config.ff_size,
        hidden_act=ACTIVATIONS[config.activation], hidden_dropout_prob=config.dropout,
        attention_probs_dropout_prob=config.dropout, max_position_embeddings=config.max_len,
        type_vocab_size=config.token_types or 1, layer_norm_eps=config.norm_eps,
        pad_token_id=special_ids.get("pad_token_id", config.pad_id), tie_word_embeddings=False,
        num_labels=config.output_vocab_size, classifier_dropout=0.0,
    )  # fmt: skip
    output = model.embedding if model.output is None else model.output
    weights: Weights = _embeddings(model)
    for at, layer in enumerate(stack.layers):
        weights |= _layer(f"bert.encoder.layer.{at}", layer, query_scale(config))
    transform: Any = model.transform
    if transform is None:
        biased = linear("classifier", output)
        biased["classifier.bias"] = output.weight.new_zeros(config.output_vocab_size)
        return load(BertForTokenClassification(settings), weights | biased)
    head = "cls.predictions"
    weights |= linear(f"{head}.transform.dense", transform.linear)
    weights |= linear(f"{head}.transform.LayerNorm", transform.norm)
    weights |= linear(f"{head}.decoder", output)
    return load(BertForMaskedLM(settings), weights | {f"{head}.bias": weights[f"{head}.decoder.bias"]})


def _embeddings(model: Transformer) -> Weights:
    config, stack = model.config, model.encoder
    assert stack is not None
    width = model.embedding.weight.shape[1] ** 0.5  # ours are multiplied by it where they are read
    types = model.embedding.weight.new_zeros(1, config.d_model)
    if stack.types is not None:
        types = stack.types.embedding.weight * width
    return {
        "bert.embeddings.word_embeddings.weight": model.embedding.weight * width,
        "bert.embeddings.position_embeddings.weight": position_table(stack, config),
        "bert.embeddings.token_type_embeddings.weight": types,
        **linear("bert.embeddings.LayerNorm", stack.embedding_norm),
    }


def _layer(name: str, layer: Any, scale: float) -> Weights:
    attention, network = layer.self_attention, layer.feed_forward
    return {
        **linear(f"{name}.attention.self.query", attention.q_proj, scale=scale),
        **linear(f"{name}.attention.self.key", attention.k_proj),
        **linear(f"{name}.attention.self.value", attention.v_proj),
        **linear(f"{name}.attention.output.dense", attention.out_proj),
        **linear(f"{name}.attention.output.LayerNorm", layer.self_norm),
        **linear(f"{name}.intermediate.dense", network.linear_in),
        **linear(f"{name}.output.dense", network.linear_out),
        **linear(f"{name}.output.LayerNorm", layer.ff_norm),
    }
