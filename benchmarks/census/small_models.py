"""A small model with random weights of any type of transformers, saved as a folder."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from benchmarks.census.sizes import (
    HEAD,
    HEADS,
    HYBRID,
    KEY_HEADS,
    LISTS,
    N_WORDS,
    OWN,
    SIDE,
    SPECIAL,
    VOCABULARY,
    shrunk,
)  # fmt: skip
from tests.models.zoo.hub.families import PREPARED, tokenizer_of

MOST_WEIGHTS = 80_000_000
KINDS = (
    "SPEECH_SEQ_2_SEQ", "SEQ_TO_SEQ_CAUSAL_LM", "MASKED_LM", "CAUSAL_LM", "IMAGE_CLASSIFICATION",
    "IMAGE_TEXT_TO_TEXT",
)  # fmt: skip
"""What a researcher would open, first choice first; then the base model."""


CLASSES = {
    "musicgen": "MusicgenForConditionalGeneration",
    "musicgen_melody": "MusicgenMelodyForConditionalGeneration",
}  # fmt: skip
"""Those whose mapped class takes only a part of the config."""


class GapError(Exception):
    """Why the census could not build a model."""


def class_of(model_type: str) -> type[PreTrainedModel]:
    """The class that a researcher would open of a type. Raises GapError where transformers has none."""
    config = CONFIG_MAPPING[model_type]
    if model_type in CLASSES:
        return _class(CLASSES[model_type])
    for kind in KINDS:
        name = getattr(modeling_auto, f"MODEL_FOR_{kind}_MAPPING_NAMES").get(model_type)
        # A class that sees may be one part of a model of texts and pictures, whose base model says more.
        if name is None or (kind == "IMAGE_CLASSIFICATION" and config.sub_configs):
            continue
        found = _class(name)
        if issubclass(config, found.config_class or ()):
            return found
    name = modeling_auto.MODEL_MAPPING_NAMES.get(model_type)
    if name is not None:
        return _class(name)
    try:
        module = importlib.import_module(config.__module__.replace("configuration_", "modeling_"))
    except ModuleNotFoundError:
        raise GapError("transformers has no model of this config alone") from None
    own = [
        each for each in vars(module).values() if inspect.isclass(each) and issubclass(each, PreTrainedModel)
    ]
    known = [each for each in own if each.__module__ == module.__name__ and each.config_class is config]
    known = [each for each in known if not each.__name__.endswith("PreTrainedModel")]
    if not known:
        raise GapError("transformers has no model of this config alone")
    return known[0]


def _class(name: Any) -> type[PreTrainedModel]:
    """A class by its name, or the first of several names. Raises GapError where it is not given out."""
    first = name if isinstance(name, str) else name[0]
    found: type[PreTrainedModel] | None = getattr(transformers, first, None)
    if found is None:
        raise GapError(f"transformers names {first}, but does not give it out")
    return found


def config_of(model_type: str) -> Any:
    return small_config(CONFIG_MAPPING[model_type])


def small_config(kind: Any, **more: Any) -> Any:
    """A config of this class with every known size small, and those of its parts alike."""
    own = OWN.get(kind.model_type, {}) | more
    if kind.model_type in COMPOSED:
        return COMPOSED[kind.model_type](kind)
    whole = kind()
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    sizes: dict[str, Any] = {}
    is_hybrid = len(set(_kinds(whole))) > 1
    for name, default in defaults.items():
        value = vars(whole).get(name, default)
        value = None if value is dataclasses.MISSING else value
        if name == "head_dim" and value is None:
            sizes[name] = HEAD
        elif name in kind.sub_configs:
            if value is not None and not isinstance(value, dict):
                sizes[name] = small_config(type(value), **own.get(name, {})).to_dict()
        elif name.endswith(("_token_id", "_token_index")) or name in SPECIAL:
            if isinstance(value, int) or (name in SPECIAL and value is not None):
                sizes[name] = SPECIAL.get(name, _beyond(sizes))
        elif isinstance(value, bool):
            continue
        elif isinstance(value, int):
            size = shrunk(name, value)
            if size is None:
                continue
            if (size == KEY_HEADS and "key_value" in name) or "kv_heads" in name:
                whole_heads = vars(whole).get("num_attention_heads")
                size = 1 if value == 1 else HEADS if value == whole_heads else KEY_HEADS
            if is_hybrid and name in ("num_hidden_layers", "n_layer", "num_layers"):
                size = HYBRID
            sizes[name] = size
        elif isinstance(value, (list, tuple)) and name in LISTS and len(value) == 2:
            sizes[name] = LISTS[name]
    sizes |= {name: value for name, value in own.items() if name not in kind.sub_configs}
    if "layer_types" in defaults and defaults["layer_types"] not in (None, dataclasses.MISSING):
        sizes.setdefault("layer_types", _short(_kinds(whole), HYBRID if is_hybrid else 2))
    rotated = _rotated(whole, sizes)
    return kind(**sizes, **rotated)


def _rotated(whole: Any, sizes: dict[str, Any]) -> dict[str, Any]:
    """Rotary sections of several axes, which share the half of a small head."""
    known = getattr(whole, "ignore_keys_at_rope_validation", ()) or ()
    rope = vars(whole).get("rope_parameters") or {}
    if "rope_parameters" in sizes or "mrope_section" not in {*known, *rope}:
        return {}
    head = sizes.get("head_dim") or sizes["hidden_size"] // sizes["num_attention_heads"]
    half = int(head * rope.get("partial_rotary_factor", 1)) // 2
    section = [half - 2 * (half // 4), half // 4, half // 4]
    return {"rope_parameters": rope | {"mrope_section": section}}


def _kinds(config: Any) -> list[str]:
    found = vars(config).get("layer_types") or vars(config).get("layers_block_type") or []
    return [str(each) for each in found] if isinstance(found, (list, tuple)) else []


def _short(kinds: list[str], n: int) -> list[str]:
    """n layers with every kind among them, in the order of the whole."""
    chosen = [kinds.index(kind) for kind in dict.fromkeys(kinds)][:n]
    rest = [at for at in range(len(kinds)) if at not in chosen]
    return [kinds[at] for at in sorted([*chosen, *rest[: n - len(chosen)]])]


def _beyond(sizes: dict[str, Any]) -> int:
    """The next id that no word has."""
    used = [value for value in sizes.values() if isinstance(value, int) and N_WORDS <= value < VOCABULARY]
    return max(used, default=N_WORDS - 1) + 1


def _two(kind: Any) -> Any:
    encoder, decoder = CONFIG_MAPPING["bert"], CONFIG_MAPPING["bert"]
    return kind.from_encoder_decoder_configs(
        small_config(encoder), small_config(decoder), decoder_start_token_id=2, pad_token_id=0
    )


def _seeing(kind: Any) -> Any:
    return kind.from_encoder_decoder_configs(
        config_of("vit"), config_of("gpt2"), decoder_start_token_id=2, pad_token_id=0
    )


def _assistant(kind: Any) -> Any:
    text = {
        "hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0, "num_kv_shared_layers": 4
    }  # fmt: skip
    return kind(
        text_config=small_config(CONFIG_MAPPING["gemma4_text"], **text).to_dict(), backbone_hidden_size=32
    )


def _retrieving(kind: Any) -> Any:
    return kind.from_question_encoder_generator_configs(config_of("dpr"), config_of("bart"))


COMPOSED = {
    "encoder-decoder": _two, "vision-encoder-decoder": _seeing, "gemma4_assistant": _assistant,
    "rag": _retrieving,
}  # fmt: skip


def random_model(model_type: str, seed: int = 0) -> PreTrainedModel:
    """A model with seeded weights, larger than at the start of training, so that heads differ."""
    kind = class_of(model_type)
    try:
        config = config_of(model_type)
    except Exception as error:
        raise GapError(f"config: {first_line(error)}") from error
    try:
        with torch.device("meta"):
            n_weights = sum(parameter.numel() for parameter in kind(config).parameters())
        if n_weights > MOST_WEIGHTS:
            raise GapError(f"too large: {n_weights:,} weights")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = kind(config)
            for parameter in model.parameters():
                if parameter.is_floating_point():
                    odd = ~parameter.data.isfinite() | (parameter.data.abs() > 1e3)
                    parameter.data.masked_fill_(odd, 0)
                    parameter.data += 0.1 * torch.randn_like(parameter)
    except GapError:
        raise
    except Exception as error:
        raise GapError(f"{kind.__name__}: {first_line(error)}") from error
    return model.eval()


def save(model_type: str, folder: Path) -> type[PreTrainedModel]:
    """Saves a small model with what prepares its inputs; returns its class. Raises GapError."""
    model = random_model(model_type)
    generation = getattr(model, "generation_config", None)
    if generation is not None and model.config.is_encoder_decoder:
        generation.decoder_start_token_id = 2
        generation.pad_token_id, generation.bos_token_id, generation.eos_token_id = 0, 2, 3
        generation.forced_bos_token_id = generation.forced_eos_token_id = None
    try:
        model.save_pretrained(folder)
    except Exception as error:
        raise GapError(f"saving: {first_line(error)}") from error
    given = inspect.signature(type(model).forward).parameters
    stated, main = model.config.to_dict(), model.main_input_name
    if {"pixel_values"} & {main, *given} or ("patch_size" in stated and "input_ids" not in given):
        side = vars(model.config).get("image_size", SIDE)
        side = side if isinstance(side, int) else SIDE
        prepared = PREPARED | {"size": {"height": side, "width": side}}
        (folder / "preprocessor_config.json").write_text(json.dumps(prepared))
    if main != "pixel_values" or {"input_ids", "text_config"} & {*given, *stated}:
        is_filling = type(model).__name__.endswith("ForMaskedLM")
        tokenizer_of("word-piece" if is_filling else "byte-level").save_pretrained(folder)
    return type(model)


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and "validator" in lines[0]:
        lines = [lines[0][:80] + " " + lines[1]]
    return f"{type(error).__name__}: {(lines or [''])[0][:300]}"
