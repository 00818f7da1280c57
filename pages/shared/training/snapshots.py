"""A run's snapshots and pictures as numpy arrays, read once and kept within the app's caches."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from pages.shared import cache
from pages.shared.training.runs import Run

Arrays = dict[str, np.ndarray]


def patterns(run: Run, step: int) -> Arrays:
    """The probe's patterns at a step, address -> [head, query, key]; {} where they cannot be read."""
    return _kept(("patterns", run.id, step), lambda: run.folder.snapshot(step))


def pictures(run: Run, step: int) -> Arrays:
    """ "originals" and "pictures" of a step, [picture, row, column]; {} where they cannot be read."""
    return _kept(("pictures", run.id, step), lambda: run.folder.pictures(step))


def _kept(key: tuple[str, str, int], read: Callable[[], dict[str, Any]]) -> Arrays:
    def make() -> tuple[Arrays, int]:
        arrays = {name: tensor.numpy() for name, tensor in read().items()}
        return arrays, 1_000 + sum(array.nbytes for array in arrays.values())

    try:
        return cast(Arrays, cache.cached(cache.payloads, key, make))
    except (ValueError, OSError):
        return {}
