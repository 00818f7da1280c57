"""What the view over a picture is drawn from: whole rows of weights, whatever the length of the sequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from viz_core.measures import rollout

ROOM_BYTES = 2_000_000
"""What the heads of a layer, or the means of all layers, may take."""
STACK = "encoder.self"
_PATTERN = re.compile(r"encoder\.(\d+)\.self\.pattern")


class Sight:
    """The patterns of heads, the mean of a layer's heads, and attention rolled out, as a trace is made.

    heads: those that are open, by layer; all of such a layer are kept, and the means of all `n_layers`, where
    they have room, so that the browser need not ask for them. Weights are sent in half precision: 0.05 % of
    each.
    """

    def __init__(self, heads: Mapping[int, list[int]], n_layers: int) -> None:
        self._heads = heads
        self._n_layers = n_layers
        self._means: list[np.ndarray] = []
        self._numbers: list[int] = []
        self._layers: list[dict[str, Any]] = []

    def beside(self, reduce: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
        """The same `reduce` of a trace, which shows this one each pattern."""

        def both(address: str, tensor: Any) -> Any:
            found = _PATTERN.fullmatch(address)
            if found:
                self._take(int(found[1]), tensor.numpy())
            return reduce(address, tensor)

        return both

    def _take(self, layer: int, pattern: np.ndarray) -> None:
        mean = pattern.mean(axis=0, dtype=np.float32)
        self._means.append(mean)
        self._numbers.append(layer)
        heads = self._heads.get(layer, [])
        if heads and 2 * pattern.size <= ROOM_BYTES:
            heads = list(range(len(pattern)))
        if heads or 2 * mean.size * self._n_layers <= ROOM_BYTES:
            weights = np.concatenate([mean[None], pattern[heads]]).astype(np.float16)
            self._layers.append({"layer": layer, "heads": heads, "weights": weights})

    def made(self) -> dict[str, Any]:
        """What the browser gets: of layers the mean and the heads, [., query, key]; and rolled out, where no
        layer between mixes positions without attention.
        """
        if self._numbers != list(range(len(self._numbers))):
            return {"layers": self._layers}
        rolled = rollout(np.stack(self._means)[:, None])[-1]
        return {"layers": self._layers, "rolled": rolled.astype(np.float16)}
