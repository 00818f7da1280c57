"""Loading a model of transformers from its folder: safetensors alone, never a program, within the memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import psutil
import torch
import transformers
from torch import Tensor, nn
from transformers import PreTrainedModel

from models.byte_units import readable
from models.engine.capture.attention import ROUNDING
from models.files import FileError
from models.limits import in_force
from models.zoo.hub import attention, layout, products
from models.zoo.hub.checking import answer_of, check_pattern, proved
from models.zoo.hub.folder import Folder, NoRoomError
from models.zoo.hub.recorder import read_by
from models.zoo.model import Attention

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()  # what it warns of, we refuse, or say on the page

WORKING = 1.3
"""Loading takes so many times the bytes of the weights for a moment."""
N_SOURCE, N_TARGET = 7, 5
"""The tokens of the pass that finds the layers; they differ, so that reading another stack shows."""
MISMATCHED = "ignore_mismatched_sizes"
"""What transformers' error speaks of where the shapes of weights differ from the config's."""
TOLERANCE = 1e-5
"""How much recorded answers may differ from the untouched model's, of their largest size."""


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


def load(folder: Folder) -> Loaded:
    """The model of a folder, on a GPU where there is one, in the number format of its file.

    Raises FileError with a sentence where it cannot be loaded.
    """
    check_memory(folder)
    try:
        try:
            return _whole(_read(folder), folder)
        except _UnheardError as error:
            return _patterns(_read(folder), folder, str(error))
    except FileError:
        raise
    except Exception as error:  # an architecture may fail in any way where it reads what it was not made for
        what = f"{type(error).__name__}, {_first_line(error)}"
        raise FileError(f"{folder.title} cannot be shown: {what}; open another model") from error


class _UnheardError(Exception):
    """Why an architecture's attention cannot be recorded whole."""


def _read(folder: Folder) -> PreTrainedModel:
    """The untouched model of a folder, with eager attention: the arithmetic that its authors wrote down."""
    kind = _class_of(folder)
    try:
        model, told = kind.from_pretrained(
            folder.path, attn_implementation="eager", local_files_only=True, use_safetensors=True,
            trust_remote_code=False, dtype="auto", output_loading_info=True,
        )  # fmt: skip
    except Exception as error:  # transformers raises errors of every kind for what a damaged folder holds
        gc.collect()
        raise FileError(f"{folder.title} could not be loaded: {_sentence(error)}") from None
    _check_complete(folder, told)
    model = model.eval().requires_grad_(False)
    return model.cuda() if torch.cuda.is_available() else model


def _check_complete(folder: Folder, told: dict[str, Any]) -> None:
    """Raises FileError where transformers would fill in random numbers for weights that are not there.

    A pooler is of no use to any trace, and is left out of many files.
    """
    absent = sorted(name for name in told["missing_keys"] if "pooler" not in name)
    wrong = sorted(str(each) for each in told.get("mismatched_keys", ()))
    if absent or wrong:
        raise FileError(
            f"{folder.title} lacks {len(absent) + len(wrong)} weights of a {folder.architecture[:60]}, such "
            f"as {(absent + wrong)[0][:80]}, and random ones would take their place; its files belong to "
            "another model: get them again"
        )


def check_memory(folder: Folder) -> None:
    """Raises NoRoomError for weights that take more than a model may take here."""
    check_room(folder.title, round(WORKING * folder.n_bytes))


def check_room(title: str, needed: int) -> None:
    """Raises NoRoomError where so many bytes are more than a model may take here."""
    most = in_force().hub_mb * 1_000_000 or psutil.virtual_memory().available // 2
    if needed > most:
        raise NoRoomError(
            f"{title} needs about {readable(needed)} of memory, but at most {readable(most)} may be "
            "taken here (half of what is free, unless hub_mb says otherwise); open a smaller model, or close "
            "other programs"
        )


def _class_of(folder: Folder) -> Any:
    """The class of transformers that a config names; its own base class where it names none."""
    found = getattr(transformers, folder.architecture, None) if folder.architecture else None
    if isinstance(found, type) and issubclass(found, PreTrainedModel):
        return found
    if "auto_map" in folder.config or folder.architecture:
        raise FileError(
            f"{folder.title} is a {folder.architecture[:60] or 'model'}, which transformers "
            f"{transformers.__version__} does not have, and no program from a model's folder is ever run; "
            "choose another model"
        )
    return transformers.AutoModel


def _sentence(error: Exception) -> str:
    """The first line of an error, as the end of a sentence."""
    said = "its config states other sizes than its weights have" if MISMATCHED in str(error) else ""
    return f"{said or _first_line(error)}; its files are damaged or belong to another model: get them again"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(". :")


def stacks_of(model: PreTrainedModel, kind: str) -> dict[str, nn.Module]:
    """The module of each stack, by the name that its addresses begin with."""
    if kind == "encoder-decoder":
        return {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    return {kind.removesuffix("-only"): model.base_model}


def example(model: PreTrainedModel, folder: Folder) -> dict[str, Tensor]:
    """A few tokens, or a grey picture, that the model can read."""
    if folder.reads_pictures:
        size = folder.config.get("image_size", 224)
        shape = (size, size) if isinstance(size, int) else tuple(size)
        pixels = torch.linspace(-1, 1, 3 * shape[0] * shape[1]).view(1, -1, *shape)
        return {"pixel_values": pixels.to(model.device, model.dtype)}
    if model.main_input_name != "input_ids":
        raise FileError(
            f"{folder.title} reads {model.main_input_name}, but only texts (input_ids) and pictures "
            "(pixel_values) can be given to a model here; open one that reads these"
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
    """The model under our attention. Raises _UnheardError unless its answers are then what they were."""
    given = _given(model, folder)
    untouched = _untouched(model, given, folder)

    def read() -> Any:
        return model(**given)

    kind = _kind(model, folder, given)
    try:
        found, note = _layout(model, stacks_of(model, kind), read)
        attentions = _attentions(model, found)
        found, more = proved(model, found, attentions, read)
        differs = _difference(answer_of(read()), untouched)
        if differs > TOLERANCE:
            raise ValueError(f"recorded, its answers differ by {differs:.2g} of their size")
    except Exception as error:  # an architecture may fail in any way where it is heard
        raise _UnheardError(_first_line(error)) from error
    return Loaded(model, kind, found, attentions, " ".join(filter(None, (note, more))))


def _kind(model: PreTrainedModel, folder: Folder, given: dict[str, Any]) -> str:
    """The kind of its stacks: a decoder where no position changes with what comes after it."""
    if folder.kind == "encoder-decoder" or folder.reads_pictures:
        return folder.kind
    ids = given["input_ids"].clone()
    ids[0, -1] = ids[0, 0]
    streams = [model.base_model(**given | {"input_ids": each})[0] for each in (given["input_ids"], ids)]
    if streams[0].ndim != 3 or streams[0].shape[1] != ids.shape[1]:
        return folder.kind
    before, after = (stream[0, : ids.shape[1] - 1] for stream in streams)
    return "decoder-only" if _difference(after, before) <= TOLERANCE else "encoder-only"


def _layout(
    model: PreTrainedModel, stacks: dict[str, nn.Module], read: Callable[[], Any]
) -> tuple[layout.Layout, str]:
    """The layout of a model, and a sentence on the attentions that are not heard; "" where all are.

    It is heard where it dispatches its attention, else, or where more attentions are computed than that
    tells, at the products and softmaxes that its modules call.
    """
    try:
        places = products.find(model, read)
    except ValueError:
        places = []
    found, why = _found(model, stacks, read, attention.NAME, [])
    n_heard = sum(len(layer.calls) for layer in found.layers) if found else 0
    if found is not None and n_heard >= len(places):
        return found, ""
    whole, why = _found(model, stacks, read, "eager", places) if places else (None, why)
    if whole is not None:
        return whole, ""
    if found is None:
        raise ValueError(why)
    model.set_attn_implementation(attention.NAME)
    return found, f"Only {n_heard} of its {len(places)} attentions can be heard: {why}."


def _found(
    model: PreTrainedModel, stacks: dict[str, nn.Module], read: Callable[[], Any], implementation: str,
    places: list[products.Place],
) -> tuple[layout.Layout | None, str]:  # fmt: skip
    """The layout under an implementation of attention; or None, and why."""
    try:
        model.set_attn_implementation(implementation)
        return layout.find(model, stacks, read, places), ""
    except Exception as error:  # an architecture may fail in any way where it is heard
        return None, _first_line(error)


def _untouched(model: PreTrainedModel, given: dict[str, Any], folder: Folder) -> Tensor:
    """What the model answers of its own. Raises FileError for one that reads neither texts nor pictures."""
    try:
        return answer_of(model(**given))
    except Exception as error:  # of any kind, where a model needs more than one kind of input
        raise FileError(
            f"{folder.title} cannot read {' and '.join(given)} alone: {_first_line(error)}; open a model of "
            "texts or of pictures"
        ) from None


def _attentions(model: PreTrainedModel, found: layout.Layout) -> dict[str, Attention]:
    """What the layers of each stack have in common."""
    turned = any("Rotary" in type(module).__name__ for module in model.modules())
    attentions = {}
    for stack in found.stacks:
        layers = found.of(stack)
        for kind in layers[0].calls if layers else ():
            calls = [layer.calls[kind] for layer in layers]
            first = calls[0]
            attentions[f"{stack}.{kind}"] = Attention(
                n_layers=len(layers), n_heads=first.n_heads, d_head=first.d_head,
                n_key_heads=first.n_key_heads, scales=tuple(call.scale for call in calls), cap=first.cap,
                has_bias=first.has_bias, turned=turned and kind == "self", sinks=first.has_sinks,
                layers=tuple(layer.number for layer in layers),
            )  # fmt: skip
    return attentions


@torch.no_grad()
def _patterns(model: PreTrainedModel, folder: Folder, why: str) -> Loaded:
    """The model with its patterns alone, as it gives them itself. Raises FileError where it gives none."""
    given = _given(model, folder)
    made = model(**given, output_attentions=True)
    lengths = [len(x[0]) if x.ndim == 2 else None for x in given.values() if isinstance(x, Tensor)]
    attentions, kind = {}, _kind(model, folder, given)
    for stack, field in pattern_fields(kind).items():
        patterns = getattr(made, field, None) or ()
        if not patterns or any(not isinstance(each, Tensor) or each.ndim != 4 for each in patterns):
            raise FileError(
                f"{folder.title} gives no attention weights of its own, and they cannot be recorded: {why}; "
                "open another model"
            )
        n_heads, n_queries = patterns[0].shape[1], lengths[-1 if stack.startswith("decoder") else 0]
        n_keys = lengths[0] if stack.endswith("cross") else n_queries
        try:
            _check_patterns(folder, patterns, (n_heads, n_queries, n_keys))
        except ValueError as error:
            raise FileError(
                f"{folder.title} gives other numbers as its attention weights, {error}, and they cannot be "
                f"recorded: {why}; open another model"
            ) from None
        attentions[stack] = Attention(
            n_layers=len(patterns), n_heads=n_heads, d_head=0, n_key_heads=n_heads, scales=(), whole=False
        )
    note = (
        f"Only the attention weights of {folder.title} can be shown, no queries, keys, values or scores: "
        f"{why.rstrip('.')}."
    )
    return Loaded(model, kind, None, attentions, note)


def _check_patterns(folder: Folder, patterns: Sequence[Tensor], shape: tuple[int, Any, Any]) -> None:
    """Raises ValueError unless a stack's patterns are weights of every layer, tokens by tokens."""
    n_layers = folder.sizes.get("n_layers", 0)
    if folder.kind != "encoder-decoder" and len(patterns) < n_layers:
        raise ValueError(f"for {len(patterns)} of its {n_layers} layers, without saying of which")
    for pattern in patterns:
        known = shape if shape[1] else (shape[0], pattern.shape[2], pattern.shape[2])
        check_pattern(pattern[0].float(), known, ROUNDING[pattern.dtype])


def pattern_fields(kind: str) -> dict[str, str]:
    """The stacks of a kind of model, and where transformers' output has their patterns."""
    if kind != "encoder-decoder":
        return {f"{kind.removesuffix('-only')}.self": "attentions"}
    return {
        "encoder.self": "encoder_attentions",
        "decoder.self": "decoder_attentions",
        "decoder.cross": "cross_attentions",
    }


def _difference(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max() / b.abs().max().clamp(min=1e-6))
