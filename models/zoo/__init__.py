"""Trained models: those shipped here, and any that `python -m models.training` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from models.zoo.cards import CARD, SHIPPED, ModelCard, ModelFileError, list_models, read_card

if TYPE_CHECKING:
    from models.zoo.loaded import LoadedModel

__all__ = ["ModelCard", "ModelFileError", "list_models", "load_model"]


def load_model(source: str | Path) -> LoadedModel:
    """A model by the name of a shipped one, by its folder, or by its .safetensors file.

    Raises ModelFileError (a ValueError) where there is none, or where its files are damaged, cut short, of
    another model or format, or too large.
    """
    from models.zoo.files import read_model  # these two import torch
    from models.zoo.loaded import LoadedModel

    weights = _weights_of(source)
    card = read_card(weights.parent / CARD)
    model, tokenizer = read_model(weights, card)
    return LoadedModel(weights.stem, model, tokenizer, card)


def _weights_of(source: str | Path) -> Path:
    shipped = {path.parent.name: path.parent for path in SHIPPED.glob(f"*/{CARD}")}
    path = shipped.get(str(source), Path(source))
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_file = False
    if is_folder:
        found = sorted(path.glob("*.safetensors"))
        if len(found) == 1:
            return found[0]
        raise ModelFileError(
            f"{_short(path)} holds {len(found)} .safetensors files; name a folder with one, or the file"
        )
    if not is_file:
        raise ModelFileError(
            f"{_short(source)} is no shipped model, no folder and no file; "
            f"shipped: {', '.join(shipped) or 'none'}"
        )
    if path.suffix != ".safetensors":
        raise ModelFileError(
            f"{_short(path)} ends in {path.suffix!r}, but only .safetensors is ever read; convert it to that"
        )
    return path


def _short(source: str | Path) -> str:
    text = repr(str(source))
    return text if len(text) <= 200 else f"{text[:200]}..."
