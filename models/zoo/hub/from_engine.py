"""Exports a model of our engine to transformers (GPT-2, NeoX, BERT, Marian, Pegasus), same logits."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor, nn

from ...config import ModelConfig
from ...data.learnt_tokenizer import LearntTokenizer
from ...data.tasks import Task
from ...data.tasks.everyday import TYPED, Everyday
from ...data.tasks.translation import Translation
from ...data.word_tokenizer import SPECIALS
from ...engine.transformer import Stack, Transformer

# What all architectures of transformers ask of a config, and what their weights are made of.

ADDED = ("sinusoidal", "learned", "none")
"""Position schemes that add one vector to each token: a table can hold them."""
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu-tanh": "gelu_new", "gelu-quick": "quick_gelu"}
AT_DEFAULT = {
    *("normalizer", "mask", "residual", "norm_type", "gated", "n_kv_heads", "d_latent", "qk_norm"),
    *("score_cap", "logit_cap", "parallel", "rotary_base", "rotary_share", "rotary_stretch", "local_window"),
    *("positionless_every", "head_gate", "value_residual", "exclusive", "differential", "n_experts"),
    *("ff_limit", "depth_attention"),
}
"""Fields of a config that none of the architectures has."""
Weights = dict[str, Tensor]


class Misfit(ValueError):  # noqa: N818 (it is an answer, not a fault)
    """A config that no architecture of transformers computes; the text says why."""


def misfit(value: str, rule: str) -> Misfit:
    return Misfit(f"{value}, but {rule}; export it as ONNX")


def check_common(config: ModelConfig) -> None:
    """Raises Misfit for what none of the families computes."""
    if config.n_heads * config.head_size != config.d_model:
        raise misfit(
            f"d_head={config.d_head}",
            f"the {config.n_heads} heads of theirs share d_model={config.d_model} channels",
        )
    for field in fields(config):
        value = getattr(config, field.name)
        if field.name in AT_DEFAULT and value != field.default:
            raise misfit(f"{field.name}={value!r}", f"theirs have {field.default!r}")
    if config.activation not in ACTIVATIONS:
        raise misfit(f"activation={config.activation!r}", f"theirs are {', '.join(ACTIVATIONS)}")
    if not config.feed_forward:
        raise misfit("feed_forward=False", "every layer of theirs has a feed-forward network")
    if config.input_channels is not None:
        raise misfit(f"input_channels={config.input_channels}", "theirs read tokens")


def check_norm(config: ModelConfig, needed: str, family: str) -> None:
    if config.norm != needed:
        raise misfit(f"norm={config.norm!r}", f"{family} has norm={needed!r}")


def check_positions(config: ModelConfig, family: str, among: tuple[str, ...] = ADDED) -> None:
    if config.positions not in among:
        raise misfit(f"positions={config.positions!r}", f"{family} has {' or '.join(map(repr, among))}")


def alternating(n: int) -> Tensor:
    """The even ones of n channels, then the odd ones: what stands in pairs with us stands in halves there."""
    return torch.cat([torch.arange(0, n, 2), torch.arange(1, n, 2)])


def output_of(model: Transformer) -> Any:
    """The layer whose weight makes logits."""
    return model.embedding if model.output is None else model.output


@torch.no_grad()
def position_table(stack: Stack, config: ModelConfig) -> Tensor:
    """What the stack's positions add [position, channel]."""
    weight = next(stack.parameters())
    return stack.positions(torch.zeros(1, config.max_len, config.d_model, device=weight.device))[0]


def linear(name: str, module: Any) -> Weights:
    """A linear map or norm under a name; what has no bias gets one of zeros."""
    weight = module.weight
    bias = module.bias if module.bias is not None else weight.new_zeros(len(weight))
    return {f"{name}.weight": weight, f"{name}.bias": bias}


def query_scale(config: ModelConfig) -> float:
    """What the queries are multiplied by, since theirs always divide by sqrt(d_head)."""
    return config.scale * config.head_size**0.5


def layer_weights(name: str, layer: Any, names: dict[str, str], scale: float) -> Weights:
    """What a layer of ours has of these names, under theirs; queries are scaled."""
    weights: Weights = {}
    for ours, theirs in names.items():
        if ours.startswith("cross_") and layer.cross_attention is None:
            continue
        own = linear(f"{name}.{theirs}", layer.get_submodule(ours))
        weights |= {key: each * scale for key, each in own.items()} if ours.endswith("q_proj") else own
    return weights


def queries_keys_values(attention: Any, scale: float) -> dict[str, list[Tensor]]:
    """The "weight" and the "bias" of the maps to q, k and v; queries are scaled."""
    q, k, v = (linear("of", each) for each in (attention.q_proj, attention.k_proj, attention.v_proj))
    return {kind: [q[f"of.{kind}"] * scale, k[f"of.{kind}"], v[f"of.{kind}"]] for kind in ("weight", "bias")}


def ids_of(config: ModelConfig, special_ids: dict[str, Any]) -> dict[str, Any]:
    """The special tokens of a decoder-only model, by their names in a config of theirs."""
    ids = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": config.pad_id} | special_ids
    return {name: id_ for name, id_ in ids.items() if name != "decoder_start_token_id"}


def load(net: Any, weights: Weights) -> Any:
    """Gives a model of transformers these weights, on the CPU and in float32; it must need no others."""
    owned = {name: each.detach().to("cpu", torch.float32, copy=True) for name, each in weights.items()}
    net.load_state_dict({name: each.contiguous() for name, each in owned.items()})
    return net


# Decoder-only models with rotary positions as GPT-NeoX (Black et al. 2022), its residual not in parallel.

NEOX = "GPT-NeoX"
NEOX_NAMES = {
    "self_attention.out_proj": "attention.dense",
    "feed_forward.linear_in": "mlp.dense_h_to_4h",
    "feed_forward.linear_out": "mlp.dense_4h_to_h",
    "self_norm": "input_layernorm",
    "ff_norm": "post_attention_layernorm",
}
"""The parts of a layer of ours by the names of theirs; q, k and v of theirs are one map."""


def neox_net(model: Transformer, special_ids: dict[str, Any]) -> Any:
    """A GPTNeoXForCausalLM."""
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    config, stack = model.config, model.decoder
    assert stack is not None
    kind: Any = GPTNeoXConfig
    settings = kind(
        vocab_size=config.vocab_size, hidden_size=config.d_model, num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads, intermediate_size=config.ff_size,
        hidden_act=ACTIVATIONS[config.activation], max_position_embeddings=config.max_len,
        layer_norm_eps=config.norm_eps, attention_dropout=config.dropout, hidden_dropout=config.dropout,
        use_parallel_residual=False, tie_word_embeddings=False,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 1.0},
        **ids_of(config, special_ids),
    )  # fmt: skip
    weights: Weights = {
        "gpt_neox.embed_in.weight": model.embedding.weight * config.d_model**0.5,  # as ours is read
        "lm_head.weight": output_of(model).weight,
        **linear("gpt_neox.final_layer_norm", stack.norm),
    }
    for at, layer in enumerate(stack.layers):
        name = f"gpt_neox.layers.{at}"
        weights |= layer_weights(name, layer, NEOX_NAMES, 1.0)
        weights |= _joined(f"{name}.attention.query_key_value", layer.self_attention, config)
    return load(GPTNeoXForCausalLM(settings), weights)


def _joined(name: str, attention: Any, config: ModelConfig) -> Weights:
    """Each head's rows of q, k and v after one another; q and k in the order in which theirs turns them: i
    with i + d_head / 2, where ours turns neighbours (Su et al. 2021).
    """
    order = alternating(config.head_size)
    joined: Weights = {}
    for kind, parts in queries_keys_values(attention, query_scale(config)).items():
        q, k, v = (part.unflatten(0, (config.n_heads, config.head_size)) for part in parts)
        joined[f"{name}.{kind}"] = torch.cat([q[:, order], k[:, order], v], dim=1).flatten(0, 1)
    return joined


# Decoder-only models as GPT-2 (Radford et al. 2019): positions in a table (or, as GPT-NeoX, rotary), a
# norm before each sublayer.

GPT2 = "GPT-2"
GPT2_NAMES = {
    "self_attention.out_proj": "attn.c_proj",
    "feed_forward.linear_in": "mlp.c_fc",
    "feed_forward.linear_out": "mlp.c_proj",
    "self_norm": "ln_1",
    "ff_norm": "ln_2",
}
"""As of GPT-NeoX; linear maps are kept [in, out]."""


def gpt2_family(config: ModelConfig) -> str:
    """ "GPT-2", or "GPT-NeoX", which is the same with rotary positions. Raises Misfit."""
    check_norm(config, "pre", GPT2)
    check_positions(config, GPT2, (*ADDED, "rotary"))
    if config.embedding_norm or config.output_transform:
        raise misfit("embedding_norm or output_transform", f"{GPT2} has neither")
    return NEOX if config.positions == "rotary" else GPT2


def gpt2_net(model: Transformer, special_ids: dict[str, Any]) -> Any:
    """A GPT2LMHeadModel or a GPTNeoXForCausalLM."""
    if model.config.positions == "rotary":
        return neox_net(model, special_ids)
    from transformers import GPT2Config, GPT2LMHeadModel

    config, stack = model.config, model.decoder
    assert stack is not None
    drop = config.dropout
    net = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size, n_positions=config.max_len, n_embd=config.d_model,
            n_layer=config.n_layers, n_head=config.n_heads, n_inner=config.ff_size,
            activation_function=ACTIVATIONS[config.activation], layer_norm_epsilon=config.norm_eps,
            tie_word_embeddings=False, resid_pdrop=drop, embd_pdrop=drop, attn_pdrop=drop,
            **ids_of(config, special_ids),
        )
    )  # fmt: skip
    weights: Weights = {
        # ours are multiplied by sqrt(d_model) where they are read
        "transformer.wte.weight": model.embedding.weight * config.d_model**0.5,
        "transformer.wpe.weight": position_table(stack, config),
        "lm_head.weight": output_of(model).weight,
        **linear("transformer.ln_f", stack.norm),
    }
    for at, layer in enumerate(stack.layers):
        name = f"transformer.h.{at}"
        own = layer_weights(name, layer, GPT2_NAMES, 1.0)
        for kind, parts in queries_keys_values(layer.self_attention, query_scale(config)).items():
            own[f"{name}.attn.c_attn.{kind}"] = torch.cat(parts)
        weights |= {key: each.mT if each.dim() == 2 else each for key, each in own.items()}
    return load(net, weights)


# Encoder-only models as BERT (Devlin et al. 2019): a norm after each sublayer and after the embeddings.

BERT = "BERT"
BERT_NAMES = {
    "self_attention.q_proj": "attention.self.query",
    "self_attention.k_proj": "attention.self.key",
    "self_attention.v_proj": "attention.self.value",
    "self_attention.out_proj": "attention.output.dense",
    "self_norm": "attention.output.LayerNorm",
    "feed_forward.linear_in": "intermediate.dense",
    "feed_forward.linear_out": "output.dense",
    "ff_norm": "output.LayerNorm",
}


def bert_family(config: ModelConfig) -> str:
    """ "BERT". Raises Misfit."""
    check_norm(config, "post", BERT)
    check_positions(config, BERT)
    if not config.embedding_norm:
        raise misfit("embedding_norm=False", f"{BERT} normalises what enters its first layer")
    if config.pooling != "none":
        raise misfit(f"pooling={config.pooling!r}", f"{BERT}'s pooled answers pass one more layer, a tanh")
    if config.output_transform and config.output_vocab_size != config.vocab_size:
        raise misfit(f"n_outputs={config.n_outputs}", f"{BERT}'s head answers in its vocabulary")
    return BERT


def bert_net(model: Transformer, special_ids: dict[str, Any]) -> Any:
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
    output = output_of(model)
    width = model.embedding.weight.shape[1] ** 0.5  # ours are multiplied by it where they are read
    types = model.embedding.weight.new_zeros(1, config.d_model)
    if stack.types is not None:
        types = stack.types.embedding.weight * width
    weights: Weights = {
        "bert.embeddings.word_embeddings.weight": model.embedding.weight * width,
        "bert.embeddings.position_embeddings.weight": position_table(stack, config),
        "bert.embeddings.token_type_embeddings.weight": types,
        **linear("bert.embeddings.LayerNorm", stack.embedding_norm),
    }
    for at, layer in enumerate(stack.layers):
        weights |= layer_weights(f"bert.encoder.layer.{at}", layer, BERT_NAMES, query_scale(config))
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


# Encoder-decoders with sinusoids: Marian (Junczys-Dowmunt et al. 2018) with a norm after each sublayer,
# and Pegasus (Zhang et al. 2020), the same with a norm before. T5 fits none of ours: its norms subtract no
# mean.

_FAMILIES = {"post": "Marian", "pre": "Pegasus"}
MARIAN_NAMES = {
    f"{kind}_attention.{part}": f"{theirs}.{part}"
    for kind, theirs in (("self", "self_attn"), ("cross", "encoder_attn"))
    for part in ("q_proj", "k_proj", "v_proj", "out_proj")
} | {
    "self_norm": "self_attn_layer_norm",
    "cross_norm": "encoder_attn_layer_norm",
    "feed_forward.linear_in": "fc1",
    "feed_forward.linear_out": "fc2",
    "ff_norm": "final_layer_norm",
}
_INTO = ("q_proj", "k_proj", "v_proj", "fc1")
"""Linear maps that read the residual stream; all others write to it."""


def marian_family(config: ModelConfig) -> str:
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


def marian_net(model: Transformer, special_ids: dict[str, Any]) -> Any:
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
    order = alternating(config.d_model)  # theirs has all sines first, then all cosines
    words = model.embedding.weight[:, order]
    weights: Weights = {
        "final_logits_bias": torch.zeros(1, config.vocab_size),
        "model.shared.weight": words,
        "lm_head.weight": output_of(model).weight[:, order],
    }
    for side, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        assert stack is not None
        name = f"model.{side}"
        weights[f"{name}.embed_tokens.weight"] = words
        weights[f"{name}.embed_positions.weight"] = net.state_dict()[f"{name}.embed_positions.weight"]
        weights |= _stack(name, stack, query_scale(config), order)
    return load(net, weights)


def _stack(name: str, stack: Stack, scale: float, order: Tensor) -> Weights:
    weights: Weights = {}
    for at, layer in enumerate(stack.layers):
        weights |= layer_weights(f"{name}.layers.{at}", layer, MARIAN_NAMES, scale)
    if isinstance(stack.norm, nn.LayerNorm):
        weights |= linear(f"{name}.layer_norm", stack.norm)
    for key, weight in weights.items():  # channels of the residual stream stand in their order
        if key.split(".")[-2] not in _INTO:
            weights[key] = weight[order]  # rows of a map that writes, its bias, and norms
        elif weight.dim() == 2:
            weights[key] = weight[:, order]
    return weights


# What a task reads texts with, as a tokenizer of transformers.

_ROLES = {
    "<pad>": "pad_token", "[PAD]": "pad_token", "<unk>": "unk_token", "[UNK]": "unk_token",
    "<bos>": "bos_token", "<eos>": "eos_token", "[CLS]": "cls_token", "[SEP]": "sep_token",
    "[MASK]": "mask_token",
}  # fmt: skip


def tokenizer_of(task: Task) -> Any:
    """A `PreTrainedTokenizerFast` that gives a text the ids that the task gives it, of a translator those of
    English; None for a task that reads no texts (pictures), or in a way that no such tokenizer has.
    """
    from transformers import PreTrainedTokenizerFast

    alphabet, text = task.made_of(), task.probe().text
    if alphabet is None:
        return None
    names, description = list(alphabet.names), task.learnt().get("tokenizer")
    if description is not None:
        library = LearntTokenizer.from_json(description).library(specials=True)
        if isinstance(task, Everyday):
            signs = (normalizers.Replace(chr(sign), typed) for sign, typed in TYPED.items())
            library.normalizer = normalizers.Sequence([*signs, normalizers.Strip(), normalizers.Prepend(" ")])
    elif isinstance(task, Translation):
        library = task.words.library()
    else:
        library = Tokenizer(models.WordLevel({name: id_ for id_, name in enumerate(names)}))
        letters = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        library.pre_tokenizer = letters if max(map(len, names)) == 1 else pre_tokenizers.WhitespaceSplit()
    side = next(iter(alphabet.before))
    around = [[names[id_] for id_ in each.get(side, ())] for each in (alphabet.before, alphabet.after)]
    if used := [*around[0], *around[1]]:
        library.add_special_tokens(used)
        library.post_processor = processors.TemplateProcessing(
            single=" ".join([*around[0], "$A", *around[1]]),
            special_tokens=[(word, names.index(word)) for word in used],
        )
    if library.encode(text).ids != task.read(text).inputs[0][0].tolist():
        return None
    roles = {_ROLES[word]: word for word in names if word in _ROLES}
    return PreTrainedTokenizerFast(tokenizer_object=library, **roles)


def special_ids(task: Task) -> dict[str, int]:
    """The ids that an architecture of transformers asks for, of a task that writes a text after another."""
    if task.kind != "encoder-decoder" or tuple(task.outputs()[: len(SPECIALS)]) != SPECIALS:
        return {}
    bos, eos = SPECIALS.index("<bos>"), SPECIALS.index("<eos>")
    return {"bos_token_id": bos, "eos_token_id": eos, "decoder_start_token_id": bos}


_FAMILIES_FROM_ENGINE: dict[
    str, tuple[Callable[[ModelConfig], str], Callable[[Transformer, dict[str, Any]], Any]]
] = {
    "decoder-only": (gpt2_family, gpt2_net),
    "encoder-only": (bert_family, bert_net),
    "encoder-decoder": (marian_family, marian_net),
}


def family_of(config: ModelConfig) -> str:
    """The architecture of transformers that computes what a model of this config does, such as "GPT-2".

    Raises Misfit, a ValueError that says what none of theirs computes, and that ONNX takes it.
    """
    check_common(config)
    return _FAMILIES_FROM_ENGINE[config.kind][0](config)


def from_engine(model: Transformer, *, special_ids: dict[str, Any] | None = None) -> Any:
    """A `PreTrainedModel` with the logits of `model`, in float32, ready to be asked and to be saved.

    special_ids: fields of theirs, such as eos_token_id and decoder_start_token_id. Their models take an
    attention mask where ours finds padding by its id. Raises Misfit as `family_of` does.
    """
    family_of(model.config)
    return _FAMILIES_FROM_ENGINE[model.config.kind][1](model, special_ids or {}).eval()
