"""Brings GPT-2 and BERT into our engine: a `Transformer` with the weights of a loaded model."""

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from ...config import ModelConfig
from ...engine.size import FLOAT_BYTES
from ...engine.transformer import Transformer
from .from_engine import BERT_NAMES, GPT2_NAMES
from .model_folder import check_memory_room

ACTIVATIONS = {
    "relu": "relu",
    **dict.fromkeys(("gelu", "gelu_python"), "gelu"),
    **dict.fromkeys(("gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python_tanh"), "gelu-tanh"),
}
"""The activations of transformers that our engine has, by our names."""
NEEDED = {
    "is_decoder": False,
    "add_cross_attention": False,
    "scale_attn_by_inverse_layer_idx": False,
    "position_embedding_type": "absolute",
}
"""What a config must say where it says anything: our engine computes nothing else."""
Weights = dict[str, Tensor]


def into_engine(net: PreTrainedModel) -> Transformer:
    """A model of our engine that computes what `net` does: a GPT2LMHeadModel, BertForMaskedLM or BertModel.

    It owns its weights, in float32, on the device of `net`, without dropout. Our engine multiplies embeddings
    and learned positions by sqrt(d_model), so these are divided by it, and the output layer has weights of
    its own. A BertModel has no output layer: ask `encode`, since the logits of its engine are those of tied
    embeddings, which mean nothing. Raises ValueError, with a sentence, for any other model, for a config that
    our engine does not compute, and where memory is short.
    """
    name = type(net).__name__
    if name not in _MADE:
        raise ValueError(f"{name} has no counterpart in our engine; give one of {', '.join(_MADE)}")
    fields, weights = _MADE[name](net)
    config = ModelConfig(bias=True, positions="learned", pad_id=None, dropout=0.0, **fields)
    check_memory_room(f"{name} in our engine", FLOAT_BYTES * sum(each.numel() for each in weights.values()))
    with torch.device("meta"):  # no weights are drawn only to be replaced
        model = Transformer(config)
    floats = ((key, each.detach().to(torch.float32, copy=True)) for key, each in weights.items())
    owned = {key: each.contiguous() for key, each in floats}
    stack = config.stacks[0]
    for key in ("embedding.weight", *(f"{stack}.{part}.embedding.weight" for part in ("positions", "types"))):
        if key in owned:  # our engine multiplies it by sqrt(d_model) as it reads it
            owned[key] /= config.d_model**0.5
    model.load_state_dict(owned, assign=True)
    return model.eval().requires_grad_(False)


def _sizes(net: PreTrainedModel, activation: str, epsilon: str) -> dict[str, Any]:
    """What both families' configs have in common, by the names of ours; the last two are names in theirs."""
    config = net.config
    for field, needed in NEEDED.items():
        value = getattr(config, field, needed)
        if value != needed:
            raise ValueError(
                f"our engine computes only {needed!r}, not {field}={value!r:.60}; use load_model"
            )
    function = getattr(config, activation)
    if function not in ACTIVATIONS:
        raise ValueError(
            f"{activation}={function!r:.60} is no activation of our engine, which has "
            f"{', '.join(ACTIVATIONS)}; use load_model"
        )
    return {
        "n_layers": config.num_hidden_layers,
        "n_heads": config.num_attention_heads,
        "d_model": config.hidden_size,
        "max_len": config.max_position_embeddings,
        "vocab_size": config.vocab_size,
        "activation": ACTIVATIONS[function],
        "norm_eps": getattr(config, epsilon),
    }


def _gpt2(net: Any) -> tuple[dict[str, Any], Weights]:
    config, inner = net.config, net.transformer
    fields = _sizes(net, "activation_function", "layer_norm_epsilon") | {
        "kind": "decoder-only", "norm": "pre", "d_ff": config.n_inner,
        "attention_scale": bool(config.scale_attn_weights), "tied_embeddings": False,
    }  # fmt: skip
    weights = {
        "embedding.weight": inner.wte.weight,
        "decoder.positions.embedding.weight": inner.wpe.weight,
        **_as("decoder.norm", inner.ln_f),
        "output.weight": net.lm_head.weight,
    }
    for i, block in enumerate(inner.h):
        at = f"decoder.layers.{i}"
        parts = block.attn.c_attn.weight.mT.chunk(3), block.attn.c_attn.bias.chunk(3)
        for letter, weight, bias in zip("qkv", *parts, strict=True):
            weights[f"{at}.self_attention.{letter}_proj.weight"] = weight
            weights[f"{at}.self_attention.{letter}_proj.bias"] = bias
        for ours, theirs in GPT2_NAMES.items():
            module = block.get_submodule(theirs)
            weight = module.weight.mT if module.weight.dim() == 2 else module.weight  # kept [in, out]
            weights |= {f"{at}.{ours}.weight": weight, f"{at}.{ours}.bias": module.bias}
    return fields, weights


def _bert(net: Any) -> tuple[dict[str, Any], Weights]:
    config, embeddings = net.config, net.base_model.embeddings
    fields = _sizes(net, "hidden_act", "layer_norm_eps") | {
        "kind": "encoder-only", "norm": "post", "d_ff": config.intermediate_size,
        "embedding_norm": True, "token_types": config.type_vocab_size,
    }  # fmt: skip
    weights = {
        "embedding.weight": embeddings.word_embeddings.weight,
        "encoder.positions.embedding.weight": embeddings.position_embeddings.weight,
        "encoder.types.embedding.weight": embeddings.token_type_embeddings.weight,
        **_as("encoder.embedding_norm", embeddings.LayerNorm),
    }
    for i, layer in enumerate(net.base_model.encoder.layer):
        for ours, theirs in BERT_NAMES.items():
            weights |= _as(f"encoder.layers.{i}.{ours}", layer.get_submodule(theirs))
    return fields, weights


def _bert_with_head(net: Any) -> tuple[dict[str, Any], Weights]:
    fields, weights = _bert(net)
    head = net.cls.predictions
    weights |= _as("transform.linear", head.transform.dense) | _as("transform.norm", head.transform.LayerNorm)
    weights |= _as("output", head.decoder)
    return fields | {"output_transform": True, "tied_embeddings": False}, weights


def _as(name: str, module: Any) -> Weights:
    return {f"{name}.weight": module.weight, f"{name}.bias": module.bias}


_MADE = {"GPT2LMHeadModel": _gpt2, "BertForMaskedLM": _bert_with_head, "BertModel": _bert}
