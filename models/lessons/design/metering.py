"""Measuring what a training step holds in memory, on any device, by watching every operation."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class Held(NamedTuple):
    """Bytes beyond those held before: kept from the forward pass to the backward pass, and at the peak."""

    kept: int
    peak: int


class Meter(TorchDispatchMode):
    """Counts the bytes of every storage that an operation makes, until nobody holds it any more.

    Views share a storage, which is counted once. Scratch space inside one operation is not seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.peak = 0
        self._known: set[int] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Otherwise the first use imports PyTorch's compiler, which takes seconds, and memory for good."""
        return False

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        made = operation(*args, **(kwargs or {}))
        new = [tensor for tensor in tensors(made) if id_of(tensor) not in self._known]
        if new:
            given = {id_of(tensor) for tensor in tensors((*args, *(kwargs or {}).values()))}
            for tensor in new:
                if id_of(tensor) not in given | self._known:  # two results may share a storage
                    self._count(tensor)
        return made

    def _count(self, tensor: Tensor) -> None:
        storage, key = tensor.untyped_storage(), id_of(tensor)
        self._known.add(key)
        self.now += storage.nbytes()
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, key, storage.nbytes())

    def _forget(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.now -= size


def tensors(values: object) -> Iterator[Tensor]:
    """All tensors among an operation's arguments or results; much faster than PyTorch's own search."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, list | tuple):
        for value in values:
            yield from tensors(value)


def id_of(tensor: Tensor) -> int:
    """The same for all views of one storage."""
    return tensor.untyped_storage()._cdata


def held(pieces: Sequence[Callable[[], Tensor]]) -> Held:
    """What forward passes keep for their backward passes, and the most that is held at any time.

    Each piece returns a loss, and is over, with its backward pass, before the next begins. Gradients of
    weights count unless they are there before.
    """
    kept = 0
    with Meter() as meter:
        for forward in pieces:
            loss = forward()
            kept = max(kept, meter.now - loss.untyped_storage().nbytes())
            loss.backward()
            del loss
    return Held(kept, meter.peak)
