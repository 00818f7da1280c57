"""Brings GPT-2, Pythia, BERT and models like Llama into our engine: a `Transformer` with their weights."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from ...config import ModelConfig
from ...engine.size import FLOAT_BYTES
from ...engine.transformer import Transformer
from .from_engine import BERT_NAMES, GPT2_NAMES, NEOX_NAMES, Weights, linear
from .model_folder import check_memory_room

ACTIVATIONS = {
    **{"relu": "relu", "silu": "silu", "quick_gelu": "gelu-quick"},
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


def into_engine(net: PreTrainedModel) -> Transformer:
    """A model of our engine that computes what `net` does: a GPT-2, a Pythia, a BERT, or a model of today
    that is built as Llama is (`_MADE` lists them).

    It owns its weights, in float32, on the device of `net`, without dropout. Our engine multiplies embeddings
    and learned positions by sqrt(d_model), so these are divided by it, and the output layer has weights of
    its own. Channels that rotary positions turn stand in pairs here, and in halves there. A BertModel has no
    output layer: ask `encode`, since the logits of its engine are those of tied embeddings, which mean
    nothing. Raises ValueError, with a sentence, for any other model, for a config that our engine does not
    compute, and where memory is short.
    """
    name = type(net).__name__
    if name not in _MADE:
        raise ValueError(f"{name} has no counterpart in our engine; give one of {', '.join(_MADE)}")
    fields, weights = _MADE[name](net)
    own: dict[str, Any] = {"bias": True, "positions": "learned", "pad_id": None, "dropout": 0.0}
    config = ModelConfig(**own | fields)
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
        **linear("decoder.norm", inner.ln_f),
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
        **linear("encoder.embedding_norm", embeddings.LayerNorm),
    }
    for i, layer in enumerate(net.base_model.encoder.layer):
        for ours, theirs in BERT_NAMES.items():
            weights |= linear(f"encoder.layers.{i}.{ours}", layer.get_submodule(theirs))
    return fields, weights


def _bert_with_head(net: Any) -> tuple[dict[str, Any], Weights]:
    fields, weights = _bert(net)
    head = net.cls.predictions
    weights |= linear("transform.linear", head.transform.dense)
    weights |= linear("transform.norm", head.transform.LayerNorm)
    weights |= linear("output", head.decoder)
    return fields | {"output_transform": True, "tied_embeddings": False}, weights


def _neox(net: Any) -> tuple[dict[str, Any], Weights]:
    """Pythia's. Of a head's channels the first share turns, in halves; q, k and v of a head lie together."""
    config, inner = net.config, net.gpt_neox
    turning = _turning(config, whole=False)
    n_heads, d_head = config.num_attention_heads, config.hidden_size // config.num_attention_heads
    n_turned = int(turning["rotary_share"] * d_head)
    pairs = torch.arange(n_turned).view(2, -1).mT.flatten()  # the place in theirs of each channel of ours
    order = torch.cat([pairs, torch.arange(n_turned, d_head)])
    fields = _sizes(net, "hidden_act", "layer_norm_eps") | {
        "kind": "decoder-only", "norm": "pre", "d_ff": config.intermediate_size, "tied_embeddings": False,
        "positions": "rotary", "parallel": bool(config.use_parallel_residual), **turning,
    }  # fmt: skip
    weights = {
        "embedding.weight": inner.embed_in.weight,
        **linear("decoder.norm", inner.final_layer_norm),
        "output.weight": net.get_output_embeddings().weight,
    }
    for i, layer in enumerate(inner.layers):
        at, own = f"decoder.layers.{i}", layer.attention
        for name, part in linear("", own.query_key_value).items():
            of_heads = part.unflatten(0, (n_heads, 3, d_head)).unbind(1)  # [head, channel, ...] each
            for letter, rows in zip("qkv", of_heads, strict=True):
                turned = rows if letter == "v" else rows[:, order]
                weights[f"{at}.self_attention.{letter}_proj{name}"] = turned.flatten(0, 1)
        for ours, theirs in NEOX_NAMES.items():
            weights |= linear(f"{at}.{ours}", layer.get_submodule(theirs))
    return fields, weights


# Llama and the models that are built as it is

_NORMS = {
    "both": {
        "self_norm": "input_layernorm", "self_out_norm": "post_attention_layernorm",
        "ff_norm": "pre_feedforward_layernorm", "ff_out_norm": "post_feedforward_layernorm",
    },
    "pre": {"self_norm": "input_layernorm", "ff_norm": "post_attention_layernorm"},
    "after": {"self_norm": "post_attention_layernorm", "ff_norm": "post_feedforward_layernorm"},
}  # fmt: skip
"""The norms of a layer by our names, for each place where a model has them."""
_MAPS = {
    "self_attention.q_proj": "self_attn.q_proj", "self_attention.k_proj": "self_attn.k_proj",
    "self_attention.v_proj": "self_attn.v_proj", "self_attention.out_proj": "self_attn.o_proj",
    "feed_forward.linear_in": "mlp.gate_proj", "feed_forward.linear_gated": "mlp.up_proj",
    "feed_forward.linear_out": "mlp.down_proj",
}  # fmt: skip


def _llama(net: Any) -> tuple[dict[str, Any], Weights]:
    config, inner, is_gemma = net.config, net.model, "Gemma" in type(net).__name__
    first, n_heads = inner.layers[0], config.num_attention_heads
    d_head = getattr(config, "head_dim", None) or config.hidden_size // n_heads
    norm = next(place for place, names in _NORMS.items() if all(hasattr(first, n) for n in names.values()))
    fields = _sizes(net, "hidden_activation" if is_gemma else "hidden_act", "rms_norm_eps") | {
        "kind": "decoder-only", "norm": norm, "norm_type": "rms", "gated": True, "positions": "rotary",
        "d_head": d_head, "d_ff": config.intermediate_size, "tied_embeddings": False,
        "n_kv_heads": config.num_key_value_heads,
        "score_cap": getattr(config, "attn_logit_softcapping", None),
        "logit_cap": getattr(config, "final_logit_softcapping", None),
        "bias": any(each.bias is not None for each in first.modules() if isinstance(each, nn.Linear)),
        **_turning(config), **_windows(config),
    }  # fmt: skip
    if hasattr(first.mlp, "experts"):
        fields |= _experts(config, first.mlp)
    if hasattr(first.self_attn, "lambda_q1"):
        fields["differential"] = True
    if hasattr(first.self_attn, "sinks"):
        fields["normalizer"] = "learnt-sink"
    if is_gemma:
        fields["attention_scale"] = config.query_pre_attn_scalar**-0.5
    if normed := hasattr(first.self_attn, "q_norm"):
        fields["qk_norm"] = "head" if first.self_attn.q_norm.weight.numel() == d_head else "all"

    def gain(module: Any) -> Tensor:
        weight: Tensor = module.weight
        return weight + 1 if is_gemma else weight

    def paired(rows: Tensor) -> Tensor:
        """Rows in pairs, which stand in halves of each head."""
        return rows.unflatten(0, (-1, 2, d_head // 2)).transpose(1, 2).flatten(0, 2)

    weights = {
        # our engine multiplies embeddings by sqrt(d_model), and so does Gemma
        "embedding.weight": inner.embed_tokens.weight * (config.hidden_size**0.5 if is_gemma else 1),
        "decoder.norm.weight": gain(inner.norm),
        "output.weight": net.lm_head.weight,
    }
    for i, layer in enumerate(inner.layers):
        at = f"decoder.layers.{i}"
        weights |= {f"{at}.{ours}.weight": gain(getattr(layer, n)) for ours, n in _NORMS[norm].items()}
        for name in ("q_norm", "k_norm") if normed else ():
            weights[f"{at}.self_attention.{name}.weight"] = paired(gain(getattr(layer.self_attn, name)))
        if "n_experts" in fields:
            weights |= {f"{at}.feed_forward.{name}": part for name, part in _mixture(layer.mlp).items()}
        for name in ("q1", "k1", "q2", "k2") if "differential" in fields else ():
            weights[f"{at}.self_attention.difference.{name}"] = getattr(layer.self_attn, f"lambda_{name}")
        if "normalizer" in fields:
            weights[f"{at}.self_attention.normalizer.scores"] = layer.self_attn.sinks
        for ours, theirs in _MAPS.items():
            if "n_experts" in fields and theirs.startswith("mlp."):
                continue
            module, turns = layer.get_submodule(theirs), ours.endswith(("q_proj", "k_proj"))
            parts = linear("", module) if fields["bias"] else {".weight": module.weight}
            weights |= {f"{at}.{ours}{n}": paired(part) if turns else part for n, part in parts.items()}
    return fields, weights


def _experts(config: Any, mlp: Any) -> dict[str, Any]:
    """How tokens take experts, in the fields of our config. Raises ValueError."""
    if not getattr(config, "norm_topk_prob", True) or getattr(config, "mlp_only_layers", None):
        raise ValueError(
            "our engine's experts are in every layer, and their shares add up to 1; use load_model"
        )
    is_gpt_oss = hasattr(mlp, "router")
    if is_gpt_oss and mlp.experts.alpha != 1.702:
        raise ValueError(f"swiglu_alpha={mlp.experts.alpha} is not our engine's 1.702; use load_model")
    clamped = {"ff_limit": mlp.experts.limit, "activation": "gelu-quick"} if is_gpt_oss else {}
    down = mlp.experts.down_proj
    return {
        "n_experts": len(down), "d_ff": down.shape[1 if is_gpt_oss else 2],
        "n_active": config.num_experts_per_tok, **clamped,
    }  # fmt: skip


def _mixture(mlp: Any) -> Weights:
    """The feed-forward network of a layer whose experts stand side by side. gpt-oss keeps its matrices
    [in, out], what is activated and what gates it taking turns; others [out, in], one after the other.
    """
    experts = mlp.experts
    if not hasattr(mlp, "router"):
        gate, up = experts.gate_up_proj.chunk(2, dim=1)  # [expert, d_ff, d_model] each
        down = experts.down_proj.movedim(0, 1).flatten(1)
        maps = {"linear_in": gate.flatten(0, 1), "linear_gated": up.flatten(0, 1), "linear_out": down}
        return {f"{name}.weight": part for name, part in {**maps, "router": mlp.gate.weight}.items()}
    made: Weights = {}
    for at, name in enumerate(("linear_in", "linear_gated")):
        made[f"{name}.weight"] = experts.gate_up_proj[..., at::2].mT.flatten(0, 1)
        made[f"{name}.bias"] = experts.gate_up_proj_bias[:, at::2].flatten()
    return made | linear("router", mlp.router) | {
        "linear_out.weight": experts.down_proj.flatten(0, 1).mT,
        "biases.weight": experts.down_proj_bias.mT,
    }  # fmt: skip


def _turning(config: Any, *, whole: bool = True) -> dict[str, Any]:
    """How positions turn queries and keys, in the fields of our config. whole: all channels must turn."""
    rope = config.rope_parameters
    local, rope = rope.get("sliding_attention"), rope.get("full_attention", rope)
    kind, known = (
        rope.get("rope_type", "default"),
        {"default": "none", "linear": "linear", "llama3": "llama3", "yarn": "yarn"},
    )
    if kind == "yarn" and not rope.get("truncate", True):
        known["yarn"] = "yarn-between"
    share = rope.get("partial_rotary_factor", 1.0)
    if kind not in known or (whole and share != 1):
        raise ValueError(
            f"rope_type={kind!r:.60} on a share of {share} is not taken over, "
            f"only {', '.join(known)} of all channels; use load_model"
        )
    fields = {"rotary_base": rope["rope_theta"], "rotary_stretch": known[kind], "rotary_share": share}
    if kind != "default":
        trained = rope.get("original_max_position_embeddings")
        fields |= {"rotary_factor": rope["factor"], "rotary_trained": trained}
    return fields if local is None else fields | {"local_rotary_base": local["rope_theta"]}


def _windows(config: Any) -> dict[str, Any]:
    """Which layers see near tokens alone, and which have no positions, in the fields of our config."""
    n_layers, window = config.num_hidden_layers, getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    near = [kind == "sliding_attention" for kind in kinds] if kinds else [window is not None] * n_layers
    turned = [bool(each) for each in getattr(config, "no_rope_layers", None) or [True] * n_layers]
    every, placeless = (None if all(flags) else flags.index(False) + 1 for flags in (near, turned))
    for step, flags in ((every, near), (placeless, turned)):
        if any(flags) and flags != [step is None or (at + 1) % step != 0 for at in range(n_layers)]:
            raise ValueError(
                "layers with and without a window, or positions, take turns in a way that our engine has no "
                "name for; use load_model"
            )
    near_ones = {"local_window": window, "global_every": every} if any(near) else {}
    return {**near_ones, "positionless_every": placeless}


_LIKE_LLAMA = (
    "Llama", "Mistral", "Mixtral", "Qwen2", "Qwen3", "Qwen3Moe", "Gemma2", "Gemma3", "Olmo2", "SmolLM3",
    "GptOss", "DiffLlama",
)  # fmt: skip
_MADE = {
    **{"GPT2LMHeadModel": _gpt2, "GPTNeoXForCausalLM": _neox},
    **{"BertForMaskedLM": _bert_with_head, "BertModel": _bert},
    **{f"{name}ForCausalLM": _llama for name in _LIKE_LLAMA},
}
