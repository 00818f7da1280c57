"""Models of transformers (Hugging Face): found on this machine, loaded safely, traced under our addresses."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from models.zoo.hub import isolation
from models.zoo.hub.folder import Folder, open_folder

if TYPE_CHECKING:
    from models.zoo.model import Model


def load_hub(name: str) -> Model:
    """The model of "hf:" and a name. Raises FileError where it cannot be opened.

    Where work is done elsewhere, the folder is first tried there: whatever its files do, they do it there.
    """
    from models.zoo.hub.loading import check_memory

    folder = open_folder(name)
    if isolation.is_elsewhere():
        check_memory(folder)
        isolation.run(_try, name, folder.stamp, n_bytes=folder.n_bytes)
    return _opened(folder)


def _try(name: str, stamp: int) -> None:
    """Opens a folder as it is at this stamp, reads a word, and puts it into the chat template, if any."""
    from models.zoo.hub.model import HubModel

    model = _opened(open_folder(name))
    if isinstance(model, HubModel):
        with suppress(ValueError):  # a template may refuse a word; it may not go on for ever
            model.tokenizer.ids("a")
            model.tokenizer.templated("a")


def _opened(folder: Folder) -> Model:
    from models.zoo.hub.model import HubModel
    from models.zoo.hub.pictures import PictureModel

    return (PictureModel if folder.reads_pictures else HubModel)(folder)
