"""What a training does otherwise where several processes train one model (`models.training.together`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from models.data.tasks import Batch
from models.engine.transformer import Transformer
from models.training import norms
from models.training.devices import Machine
from models.training.optimizers import restore
from models.training.randomness import Randomness

if TYPE_CHECKING:
    from typing import Any


class Alone:
    """One process that reads every batch whole and has nobody to agree with."""

    rank = 0
    model: Transformer
    _machine: Machine
    _optimizer: torch.optim.Optimizer
    _randomness: Randomness

    def agreed(self, *flags: bool) -> list[bool]:
        """What the process of rank 0 says, at every rank; all must ask at the same step."""
        return list(flags)

    def _placed(self, model: Transformer) -> Transformer:
        """The model where it trains."""
        return model.to(self._machine.device)

    def _load(self, weights: dict[str, Tensor], moments: dict[str, Tensor]) -> None:
        """Takes over weights and the optimiser's moments, both by the names of the weights."""
        self.model.load_state_dict(weights)
        restore(self._optimizer, self.model, moments)

    def _mine(self, batch: Batch) -> Batch:
        """The part of a batch that this process reads."""
        return batch

    def _drawing(self) -> AbstractContextManager[Any]:
        """Inside, dropout draws the run's own random numbers."""
        return self._randomness

    def _lengths(self, tensors: Sequence[Tensor]) -> Tensor:
        """The norm of each tensor."""
        return norms.lengths(tensors)
