"""PyTorch's global random numbers, which dropout draws, lent to one run at a time."""

from types import TracebackType

import torch
from torch import Tensor


class Randomness:
    """A run's own random numbers: inside `with`, PyTorch's global ones continue the run's sequence.

    Outside, they are as if the run did not exist, so that two runs in one process do not mix.
    """

    def __init__(self, device: torch.device, seed: int) -> None:
        self._device = device
        outer = self._read()
        torch.manual_seed(seed)  # the GPU's as well
        self._own = self._read()
        self._write(outer)
        self._outer = outer

    def state(self) -> dict[str, Tensor]:
        """Where the sequence stands, as bytes, by device."""
        return dict(self._own)

    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes on from a `state`; a device that the state does not name goes on from the seed."""
        self._own |= {kind: value.cpu() for kind, value in state.items() if kind in self._own}

    def __enter__(self) -> None:
        self._outer = self._read()
        self._write(self._own)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._own = self._read()
        self._write(self._outer)

    def _read(self) -> dict[str, Tensor]:
        states = {"cpu": torch.get_rng_state()}
        if self._device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(self._device)
        elif self._device.type == "mps":
            states["mps"] = torch.mps.get_rng_state()
        return states

    def _write(self, states: dict[str, Tensor]) -> None:
        torch.set_rng_state(states["cpu"])
        if "cuda" in states:
            torch.cuda.set_rng_state(states["cuda"], self._device)
        if "mps" in states:
            torch.mps.set_rng_state(states["mps"])
