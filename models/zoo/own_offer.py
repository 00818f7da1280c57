"""Own attention as Explore names and shows it: "own:" and the hash of the file that was kept."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from models.files import FileError
from models.zoo.folders import uploads_root
from models.zoo.offers import Offer
from models.zoo.own_attention import ENDING, GONE, Kept, open_kept

if TYPE_CHECKING:
    from models.zoo.model import Model


def offer_of_own(name: str, hashed: str) -> Offer | None:
    """The offer of a kept file, whoever handed it in; pages ask first if the visitor did. None if gone."""
    try:
        kept = open_kept(_path(hashed))
    except FileError:
        return None
    n_key = len(kept.keys or kept.queries)
    sizes = f"{_counted(kept.n_layers, 'layer')}, {_counted(kept.n_heads, 'head')}"
    return Offer(
        name=name,
        load=lambda: _load(hashed),
        title=kept.title,
        summary=(
            f"Attention that you handed in: {sizes}, {len(kept.queries)} queries by {n_key} keys. "
            "Its link opens it in this browser alone."
        ),
        label="These weights were handed in with their tokens, so nothing is typed here.",
        reads="nothing",
        showcase={"stack": "encoder.self" if kept.keys is None else "decoder.cross"} | _first_view(kept),
        memory=name,
    )


def _first_view(kept: Kept) -> dict[str, str]:
    """A single head is worth seeing at once."""
    return {"view": "head"} if kept.n_layers * kept.n_heads == 1 else {}


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _path(hashed: str) -> Path:
    found = next(uploads_root().glob(f"*/{hashed}.{ENDING}"), None)
    if found is None:
        raise FileError(GONE)
    return found


def _load(hashed: str) -> Model:
    from models.zoo.own_model import of_kept

    path = _path(hashed)
    with suppress(OSError):
        os.utime(path)  # it expires so many days after it was last used
    return of_kept(open_kept(path), lambda: _path(hashed))
