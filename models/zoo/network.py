"""A model, as far as its network can be looked into and changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Change = Callable[[Any], object]
"""What is done to a network, a `torch.nn.Module`."""


class Network:
    """A model with a network; here, none that is known."""

    name: str

    def remade(self, change: Change) -> Any:
        """This model with another network, which `change` has changed: it starts as a copy that shares the
        weights, so that modules and parameters may be replaced in it, and none may be changed itself.

        Raises ValueError where the network is not known.
        """
        raise ValueError(f"{self.name!r} has no network that could be changed; open another model")

    @property
    def number_format(self) -> str:
        """The format of its weights, such as "float32"; "" where they are not known."""
        return ""
