"""The columns of a table of a visitor's own, as the menus offer them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from models.data.encodings import AUTO
from models.data.table_shape import columns_of
from pages.shared.training import uploads

BY_ITSELF = "by its name or place"
_READ = ("encoding", "separator", "header")
_kept: LRUCache[tuple[object, ...], tuple[str, ...]] = LRUCache(200)


def of(file: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the columns of an upload, or of a run's file, by its beginning; () where it is gone.

    values: settings, of which those count that say how the file is read.
    """
    try:
        path = Path(file) if Path(file).is_absolute() else uploads.path_of(file)
    except ValueError:
        return ()
    key = (str(path), *(values.get(name, AUTO) for name in _READ))
    if key not in _kept:
        _kept[key] = columns_of(path, *key[1:])
    return _kept[key]


def menu(names: Sequence[str], now: str) -> dict[str, Any]:
    """What a menu of these columns is drawn with; `now` stays on offer, also where no column has its name."""
    return {
        "options": ("", *dict.fromkeys(name for name in (*names, now) if name)),
        "format_func": lambda name: name or BY_ITSELF,
    }
