"""Loads a model of transformers from its folder: safetensors alone, never a program, within the memory."""

import gc
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from cachetools import LRUCache
from safetensors import safe_open
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.utils.generic import ContextManagers

from ...files import FileError
from ...limits import in_force
from ..model import Attention, sharing_weights
from . import layout
from .isolation import check_ordinary, first_line
from .model_folder import CONFIG, PASSED, WORKING, Folder, check_memory, check_memory_room
from .proof import Proof, answer_of, check_pattern, prove, tolerance_of
from .recorder import check_lengths, read_by

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()  # what it warns of, we refuse, or say on the page

MOST_A_BYTE = 8
"""Weights that a byte may hold: no number format has fewer bits."""
MOST_COMPUTED = 50_000_000
"""Numbers that no file holds beside so many that it does: poolers, masks, waves of positions."""
FEW_LACKING = 1.01
"""A model of at most so many times the weights of its files is loaded: then transformers tells by name which
are lacking, but for those that no harm comes of (a norm that is not used, a temperature).
"""
N_SOURCE, N_TARGET = 7, 5
"""The tokens of the pass that finds the layers; they differ, so that reading another stack shows."""
MISMATCHED = "ignore_mismatched_sizes"
"""What transformers' error speaks of where the shapes of weights differ from the config's."""
TOLERANCE = 1e-5
"""How much recorded answers may differ from the untouched model's, of their largest size."""


_PROVED: LRUCache[tuple[Path, int], Proof] = LRUCache(256)
"""What was proved of the models that were opened whole, by folder and stamp."""


class Loaded(NamedTuple):
    """A model that is ready to be traced. layout: None where only its patterns can be recorded.

    attentions: what each of its stacks, such as "encoder.self", attends with. note: what is missing, in
    sentences; "" if nothing is.
    """

    model: PreTrainedModel
    kind: str
    layout: layout.Layout | None
    attentions: dict[str, Attention]
    note: str = ""


def load(folder: Folder, net: PreTrainedModel | None = None) -> Loaded:
    """The model of a folder, on a GPU where there is one, in the number format of its file; or with `net`
    a copy of that which shares its weights, where it is.

    Raises FileError with a sentence where it cannot be loaded.
    """
    if net is None:
        check_memory(folder)
    read = partial(_read, folder) if net is None else lambda: sharing_weights(net, net).eval()
    try:
        try:
            return _whole(read(), folder)
        except _UnrecordedError as error:
            return _patterns(read(), folder, str(error))
    except FileError:
        raise
    except Exception as error:  # an architecture may fail in any way where it reads what it was not made for
        what = f"{type(error).__name__}, {first_line(error)}"
        raise FileError(f"{folder.title} cannot be shown: {what}; open another model") from error


class _UnrecordedError(Exception):
    """Why the attention of a model cannot be recorded whole."""


def _read(folder: Folder) -> PreTrainedModel:
    """The untouched model of a folder, with eager attention: the arithmetic that its authors wrote down."""
    try:
        kind = _class_of(folder)
        _check_weights(kind, folder)
        model, loading_info = kind.from_pretrained(
            folder.path, attn_implementation="eager", local_files_only=True, use_safetensors=True,
            trust_remote_code=False, dtype="auto", output_loading_info=True,
        )  # fmt: skip
    except FileError:
        raise
    except BaseException as error:  # transformers raises errors of every kind for what a damaged folder holds
        check_ordinary(error)
        gc.collect()
        why = "its config states other sizes" if MISMATCHED in str(error) else ""
        raise FileError(
            f"{folder.title} could not be loaded: {why or first_line(error)}; get its files again"
        ) from None
    _check_complete(folder, loading_info)
    model = model.eval().requires_grad_(False)
    return model.cuda() if in_force().hub_device == "auto" and torch.cuda.is_available() else model


def _check_weights(kind: Any, folder: Folder) -> None:
    """Raises FileError for a config of more weights than the files hold, before memory is taken for any.

    transformers makes at the config's sizes what it does not find, and tells of it afterwards. Tied weights
    are stored once; names change from file to model, but numbers of weights do not. Raises NoRoomError for a
    config whose number format takes more memory than there is.
    """
    eager = {"local_files_only": True, "attn_implementation": "eager"}
    with ContextManagers(kind.get_init_context(torch.float32, False, False, None)):  # made of shapes alone
        config = kind.config_class.from_pretrained(folder.path, **eager)
        model = kind(config)
    tied = model.all_tied_weights_keys
    weights = {name: each for name, each in model.named_parameters() if name not in tied}
    # Files may lack poolers, and what is computed: buffers, and tables of positions, which are not trained.
    learnt = {name for name, each in weights.items() if each.requires_grad and "pooler" not in name}
    stored = sum(weights[name].numel() for name in learnt)
    others = [each for name, each in weights.items() if name not in learnt]
    computed = sum(each.numel() for each in (*others, *model.buffers()))
    n_held = _n_held(folder)
    if stored > n_held * FEW_LACKING or computed > n_held + MOST_COMPUTED:
        raise FileError(
            f"{folder.title} lacks weights of a {type(model).__name__}: its {CONFIG} states "
            f"{stored + computed:,}, its files hold {n_held:,}; get them again"
        )
    check_memory_room(folder.title, round(WORKING * stored * getattr(config.dtype, "itemsize", 0)))


def _n_held(folder: Folder) -> int:
    """The numbers in the files of weights, as headers declare them; of packed ones the most there may be."""
    if "quantization_config" in folder.config:
        return MOST_A_BYTE * folder.n_bytes
    count = 0
    for path in folder.weights:
        with safe_open(path, "pt") as file:
            count += sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    return count


def _check_complete(folder: Folder, loading_info: dict[str, Any]) -> None:
    """Raises FileError where transformers would fill in random numbers for weights that are not there.

    A pooler is of no use to any trace, and is left out of many files.
    """
    absent = sorted(name for name in loading_info["missing_keys"] if "pooler" not in name)
    wrong = sorted(str(each) for each in loading_info.get("mismatched_keys", ()))
    if absent or wrong:
        raise FileError(
            f"{folder.title} lacks {len(absent) + len(wrong)} weights of a {folder.architecture[:60]}, such "
            f"as {(absent + wrong)[0][:80]}; get its files again"
        )


def _class_of(folder: Folder) -> Any:
    """The class of transformers that a config names; its own base class where it names none."""
    architecture = getattr(transformers, folder.architecture, None) if folder.architecture else None
    if isinstance(architecture, type) and issubclass(architecture, PreTrainedModel):
        return architecture
    if "auto_map" in folder.config or folder.architecture:
        raise FileError(
            f"{folder.title} is a {folder.architecture[:60] or 'model'}, which transformers "
            f"{transformers.__version__} does not have; choose another model"
        )
    config = transformers.AutoConfig.from_pretrained(folder.path, local_files_only=True)
    base = transformers.MODEL_MAPPING[type(config)]
    return base[0] if isinstance(base, tuple) else base


def stacks_of(model: PreTrainedModel, kind: str) -> dict[str, nn.Module]:
    """The module of each stack, by the name that its addresses begin with."""
    if kind == "encoder-decoder":
        return {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    base = model.base_model  # of some models without a head, that is a part inside
    reads = model.main_input_name in signature(base.forward).parameters
    return {kind.removesuffix("-only"): base if reads else model}


def example(model: PreTrainedModel, folder: Folder) -> dict[str, Tensor]:
    """A few tokens, or a grey picture, that the model can read."""
    if folder.reads_pictures:
        size = folder.config.get("image_size", 224)
        shape = (size, size) if isinstance(size, int) else tuple(size)
        pixels = torch.linspace(-1, 1, 3 * shape[0] * shape[1]).view(1, -1, *shape)
        return {"pixel_values": pixels.to(model.device, model.dtype)}
    if model.main_input_name != "input_ids":
        raise FileError(
            f"{folder.title} reads {model.main_input_name}; open a model of texts (input_ids) or of pictures "
            "in equal patches (pixel_values)"
        )
    words = read_by(model.get_input_embeddings)
    most = getattr(words, "num_embeddings", None) or folder.sizes.get("vocab_size", 3 + N_SOURCE)
    ids = (torch.arange(3, 3 + N_SOURCE, device=model.device) % most)[None]
    more = {"decoder_input_ids": ids[:, :N_TARGET]} if folder.kind == "encoder-decoder" else {}
    return {"input_ids": ids, **more}


def _given(model: PreTrainedModel, folder: Folder) -> dict[str, Any]:
    return example(model, folder) | ({} if folder.reads_pictures else {"use_cache": False})


@torch.no_grad()
def _whole(model: PreTrainedModel, folder: Folder) -> Loaded:
    """The model as it is recorded. Raises _UnrecordedError unless all holds that is recorded of it."""
    inputs = _given(model, folder)
    untouched = _untouched(model, inputs, folder)
    read = partial(model, **inputs)
    stated, key = folder.kind, (folder.path, folder.stamp)
    try:
        whole = layout.find_layout(model, stacks_of(model, stated), read)
        attentions = _attentions(model, whole)
        _check_lengths(whole, inputs)
        proof, recorded = (
            (_PROVED[key], answer_of(read())) if key in _PROVED else prove(model, whole, attentions, read)
        )
        _PROVED[key], whole = proof, proof.restrict(whole)
        kind = PASSED[key] = _kind(folder, proof.is_causal)
        if kind != stated:
            (module,), side = whole.stacks.values(), kind.removesuffix("-only")
            layers = [replace(layer, stack=side) for layer in whole.layers]
            whole = whole._replace(stacks={side: module}, layers=layers)
            attentions = {f"{side}.self": about for about in attentions.values()}
        differs = float((recorded - untouched).abs().max() / untouched.abs().max().clamp(min=1e-6))
        if differs > TOLERANCE:
            raise ValueError(f"recorded, its answers differ by {differs:.2g} of their size")
    except Exception as error:  # an architecture may fail in any way where it is heard
        raise _UnrecordedError(first_line(error)) from error
    n_modules = len({id(layer.module) for layer in whole.layers})
    again = "Its layers repeat and are numbered in the order of their calls."
    notes = (proof.note, again if 1 < n_modules < len(whole.layers) else "")
    return Loaded(model, kind, whole, attentions, " ".join(filter(None, notes)))


def _kind(folder: Folder, is_causal: bool) -> str:
    """The kind of its stacks: queries of a decoder weigh no later key, whatever its class is called."""
    if folder.kind == "encoder-decoder" or folder.reads_pictures:
        return folder.kind
    return "decoder-only" if is_causal else "encoder-only"


def _check_lengths(whole: layout.Layout, inputs: dict[str, Any]) -> None:
    """Raises ValueError where a text's attention is not between its tokens, one row and column for each."""
    if "input_ids" not in inputs:
        return
    n_read = inputs["input_ids"].shape[1]
    lengths = {"decoder": inputs.get("decoder_input_ids", inputs["input_ids"]).shape[1]}
    for layer in whole.layers:
        n = lengths.get(layer.stack, n_read)
        for kind, call in layer.calls.items():
            check_lengths(layer.path, call, n, n_read if kind == "cross" else n)


def _untouched(model: PreTrainedModel, inputs: dict[str, Any], folder: Folder) -> Tensor:
    """Asks the model for its own answer. Raises FileError if it reads neither texts nor pictures."""
    try:
        return answer_of(model(**inputs))
    except Exception as error:  # of any kind, where a model needs more than one kind of input
        raise FileError(
            f"{folder.title} cannot read {model.main_input_name} alone: {first_line(error)}; open a model "
            "of texts or of pictures"
        ) from None


def _attentions(model: PreTrainedModel, whole: layout.Layout) -> dict[str, Attention]:
    """What the layers of each stack have in common."""
    turns, attentions = any("Rotary" in type(module).__name__ for module in model.modules()), {}
    unturned = {at for at, own in enumerate(getattr(model.config, "no_rope_layers", None) or ()) if not own}
    for stack in whole.stacks:
        layers = whole.of(stack)
        for kind in layers[0].calls if layers else ():
            calls = [layer.calls[kind] for layer in layers]
            first, numbers = calls[0], tuple(layer.number for layer in layers)
            turned = [at for at in numbers if at not in unturned] if turns and kind == "self" else []
            attentions[f"{stack}.{kind}"] = Attention(
                n_layers=len(layers), n_heads=first.n_heads, d_head=first.d_head,
                n_key_heads=first.n_key_heads, scales=tuple(call.scale for call in calls), cap=first.cap,
                has_bias=first.has_bias, turned=tuple(turned),
                normalizer="learnt-sink" if first.has_sinks else "softmax", layers=numbers,
            )  # fmt: skip
    return attentions


@torch.no_grad()
def _patterns(model: PreTrainedModel, folder: Folder, why: str) -> Loaded:
    """The model with its patterns alone, as it gives them itself. Raises FileError where it gives none."""
    inputs = _given(model, folder)
    output = model(**inputs, output_attentions=True)
    lengths = [len(x[0]) if x.ndim == 2 else None for x in inputs.values() if isinstance(x, Tensor)]
    own = [each for each in getattr(output, "attentions", None) or () if isinstance(each, Tensor)]
    kind = _kind(folder, all(float(each.triu(1).abs().max()) == 0 for each in own))
    PASSED[folder.path, folder.stamp] = kind
    attentions = {}
    for stack, field in pattern_fields(kind).items():
        patterns = getattr(output, field, None) or ()
        if not patterns or any(not isinstance(each, Tensor) or each.ndim != 4 for each in patterns):
            raise FileError(
                f"the attention weights of {folder.title} cannot be recorded: {why}; open another model"
            )
        n_heads, n_queries = patterns[0].shape[1], lengths[-1 if stack.startswith("decoder") else 0]
        n_keys = lengths[0] if stack.endswith("cross") else n_queries
        try:
            _check_patterns(folder, patterns, (n_heads, n_queries, n_keys))
        except ValueError as error:
            raise FileError(
                f"the weights that {folder.title} reports, {error}, differ from those that it uses: "
                f"{why}; open another model"
            ) from None
        attentions[stack] = Attention(
            n_layers=len(patterns), n_heads=n_heads, d_head=0, n_key_heads=n_heads, scales=(), whole=False
        )
    note = f"{folder.title} shows only its attention weights: {why.rstrip('.')}."
    return Loaded(model, kind, None, attentions, note)


def _check_patterns(folder: Folder, patterns: Sequence[Tensor], shape: tuple[int, Any, Any]) -> None:
    """Raises ValueError unless a stack's patterns are weights of every layer, tokens by tokens."""
    n_layers = folder.sizes.get("n_layers", 0)
    if folder.kind != "encoder-decoder" and n_layers and len(patterns) != n_layers:
        raise ValueError(f"{len(patterns)} for {n_layers} layers, without saying of which")
    for pattern in patterns:
        known = shape if shape[1] else (shape[0], pattern.shape[2], pattern.shape[2])
        check_pattern(pattern[0].float(), known, tolerance_of(pattern.dtype))


def pattern_fields(kind: str) -> dict[str, str]:
    """The stacks of a kind of model, and where transformers' output has their patterns."""
    if kind != "encoder-decoder":
        return {f"{kind.removesuffix('-only')}.self": "attentions"}
    sides = {f"{side}.self": f"{side}_attentions" for side in ("encoder", "decoder")}
    return sides | {"decoder.cross": "cross_attentions"}
