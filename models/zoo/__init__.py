"""Opens trained models: those shipped here, and any that `python -m attention_lab.models.training` wrote."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ..files import FileError
from .families import FAMILIES
from .folders import BEST, CARD, CHECKPOINT, PACKED, SHIPPED, TASK, read_card, shipped_names
from .hub import isolation
from .hub.model_folder import CONFIG as HUB
from .hub.model_folder import PREFIX, Folder, InMemory, check_memory, open_folder, whole_name

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from .engine_model import TrainedModel
    from .hub.model import HubModel
    from .model import Model

MEMBERS = {name for family in FAMILIES.values() for name in family.members()}
"""The names of all members of families, such as "positions/rotary"."""
_NUMBERS = count(1)
"""Of models in memory: what was proved of one is not known of another."""


@overload
def load_model(source: Path) -> TrainedModel[Any]: ...
@overload
def load_model(source: str) -> Any: ...
@overload
def load_model(source: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> HubModel: ...
def load_model(source: Any, tokenizer: Any = None) -> Any:
    """Loads a model by the name of a shipped one, by its folder, its run's folder or its .safetensors file.

    "hf:" and a name in the local cache, or a folder, loads a model of transformers; so does a Path of one. A
    model of transformers that is in memory is given itself, with its tokenizer: its weights are shared, it is
    not changed, and what is recorded of it is proved as that of a folder is.

    Raises FileError (a ValueError) where there is none, or where its files are damaged, cut short, of another
    model or format, or too large.
    """
    if not isinstance(source, str | Path):
        return _in_memory(source, tokenizer)
    name, files = str(source), (HUB, TASK, CARD, CHECKPOINT)
    has, *ours = [os.path.isfile(os.path.join(source, file)) for file in files]
    if name.startswith(PREFIX) or (has and not any(ours)):
        return load_hub(whole_name(name if name.startswith(PREFIX) else f"{PREFIX}{Path(name).resolve()}"))
    from .engine_model import read_run, read_trained  # imports torch, and every task

    weights = _weights_of(source)
    if weights.name == CHECKPOINT:
        return read_run(weights.parent)
    if weights.name == BEST:
        return read_run(weights.parent, "best")
    return read_trained(weights, read_card(weights.parent / CARD))


def _in_memory(net: Any, tokenizer: Any) -> HubModel:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from .hub.model import HubModel

    if not isinstance(net, PreTrainedModel):
        raise FileError(
            f"{type(net).__name__} is neither a name nor a model of transformers; trace other torch modules "
            "by capture(module, inputs)"
        )
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise FileError(
            f"a {type(net).__name__} in memory is read with its tokenizer: load_model(model, tokenizer); "
            "save one of pictures to a folder first"
        )
    held = sum(each.nbytes for each in net.parameters())
    config = net.config.to_dict() | {"architectures": [type(net).__name__]}
    name = type(net).__name__
    return HubModel(InMemory(name, Path(name), config, next(_NUMBERS), held), net, tokenizer)


def _weights_of(source: str | Path) -> Path:
    shipped = shipped_names()
    path = SHIPPED / str(source) if str(source) in {*shipped, *MEMBERS} else Path(source)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_file = False
    if is_folder:
        if (path / CHECKPOINT).is_file():
            return path / CHECKPOINT
        files = sorted([*path.glob("*.safetensors"), *path.glob(f"*.safetensors{PACKED}")])
        if len(files) == 1:
            return files[0]
        raise FileError(
            f"{_short(path)} holds {len(files)} .safetensors files; name a folder with one, or the file"
        )
    if not is_file:
        raise FileError(
            f"{_short(source)} is no shipped model, no folder and no file; "
            f"shipped: {', '.join(shipped) or 'none'}"
        )
    if not path.name.endswith((".safetensors", f".safetensors{PACKED}")):
        raise FileError(f"{_short(path)} ends in {path.suffix!r}, but only .safetensors is read; convert it")
    return path


def _short(source: str | Path) -> str:
    text = repr(str(source))
    return text if len(text) <= 200 else f"{text[:200]}..."


def load_hub(name: str) -> Model:
    """The model of "hf:" and a name. Raises FileError where it cannot be opened.

    Where work is done elsewhere, the folder is first tried there: whatever its files do, they do it there.
    """
    folder = open_folder(name)
    if isolation.is_elsewhere():
        check_memory(folder)
        isolation.run(_try, name, folder.stamp, n_bytes=folder.n_bytes)
    return _opened(folder)


def _try(name: str, stamp: int) -> None:
    """Opens a folder as it is at this stamp, reads a word, and puts it into the chat template, if any."""
    from .hub.model import HubModel

    model = _opened(open_folder(name))
    if isinstance(model, HubModel):
        with suppress(ValueError):  # a template may refuse a word; it may not go on for ever
            model.tokenizer.ids("a")
            model.tokenizer.templated("a")


def _opened(folder: Folder) -> Model:
    from .hub.model import HubModel
    from .hub.pictures import PictureModel

    return (PictureModel if folder.reads_pictures else HubModel)(folder)
