"""One training over several processes: each reads its share of every batch, and all make the same step.

Data-parallel training (Li et al. 2020, PyTorch Distributed), and fully sharded (Zhao et al. 2023, FSDP).
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor

from ..data.tasks import Batch
from ..engine.transformer import Transformer
from . import PeerLost
from .config import RunConfig
from .loop import Training

_METHODS = ("encode", "decode")  # what tasks call besides `model(...)`, at every rank alike
_SIGNS = ("gloo", "nccl", "connection", "peer", "socket", "timed out", "process group")


class TogetherTraining(Training):
    """The training of one process of an initialised `torch.distributed` group; rank 0 validates and records.

    Rank r of n reads the r-th of n nearly equal parts of each batch. Its loss is weighted by the part's share
    of the batch's targets and the gradients are summed, so that each step is that of one process with the
    whole batch, but for the order in which floating-point numbers are added. Dropout draws other numbers: of
    the seed, the step and the rank, so that a run that goes on from a checkpoint repeats them.

    With `sharding` "ddp" each process has the whole model, and one sum over all gradients, in one buffer,
    follows the backward pass. With "fsdp" each holds a part of every layer's weights, gradients and moments,
    and gathers a layer's weights while it computes with them; then every process validates, too.

    Raises PeerLost where another process ended, and what `Training` raises.
    """

    def __init__(self, config: RunConfig) -> None:
        self.rank, self.n = dist.get_rank(), dist.get_world_size()
        self._sharded = config.training.sharding == "fsdp"
        super().__init__(config)
        how = "each holds a part of the model" if self._sharded else "each holds the whole model"
        self.chosen = f"{self.chosen}, in {self.n} processes that share each batch; {how}"

    def agreed(self, *flags: bool) -> list[bool]:
        """What rank 0 says, at every rank."""
        # By gloo, which sees at once that one is gone.
        answers = torch.tensor([float(each) for each in flags])
        with _heeding_the_others():
            dist.broadcast(answers, src=0)
        return [bool(flag) for flag in answers.tolist()]

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """The state of the whole training, the same as that of one process; every rank must ask for it."""
        tensors, values = super().state()
        with _heeding_the_others():
            return {name: _whole(value) for name, value in tensors.items()}, values

    def weights(self) -> dict[str, Tensor]:
        with _heeding_the_others():
            return {name: _whole(value) for name, value in super().weights().items()}

    def _placed(self, model: Transformer) -> Transformer:
        if not self._sharded:
            return super()._placed(model)
        mesh = dist.device_mesh.init_device_mesh(self._machine.device.type, (self.n,))
        for stack in (model.encoder, model.decoder):
            for layer in stack.layers if stack else ():
                fully_shard(layer, mesh=mesh)
        # What lies outside the layers stays gathered until its gradient is there: whether a task asks for
        # `unembed` may depend on the batch, and so differ between ranks.
        fully_shard(model, mesh=mesh, reshard_after_forward=False)
        for part in model.modules():
            if isinstance(part, FSDPModule):
                part.set_gradient_divide_factor(1.0)  # the shares of the loss make the mean: gradients add up
                part.set_force_sum_reduction_for_comms(True)  # gloo has no other sum
        for name in _METHODS:
            register_fsdp_forward_method(model, name)
        return model

    def _load(self, weights: dict[str, Tensor], moments: dict[str, Tensor]) -> None:
        if not self._sharded:
            return super()._load(weights, moments)
        owners = dict(self.model.named_parameters())
        parts = {name: _like(value, owners.get(name)) for name, value in weights.items()}
        moved = {name: _like(value, owners.get(name.partition("|")[0])) for name, value in moments.items()}
        super()._load(parts, moved)

    def _mine(self, batch: Batch) -> Batch:
        return batch.split(self.n)[self.rank]

    @contextmanager
    def _drawing(self) -> Iterator[None]:
        with self._randomness:
            torch.manual_seed((self.config.training.seed * 1_000_003 + self.step) * 65_537 + self.rank)
            yield

    def _update(self, batch: Batch, rate: float) -> tuple[dict[str, Tensor], Tensor, Tensor | None]:
        with _heeding_the_others():
            return super()._update(batch, rate)

    def _backward(self, batch: Batch) -> dict[str, Tensor]:
        means = super()._backward(batch)
        names = sorted(means)
        values = torch.stack([means[name].float() for name in names])
        dist.all_reduce(values)
        if not self._sharded:
            _add_up(self._weights)
        return dict(zip(names, values, strict=True))

    def _norm(self, tensors: Iterable[Tensor | None]) -> Tensor:
        return _whole(super()._norm(tensors))

    def _looks(self) -> dict[str, Any]:
        if self.rank and not self._sharded:
            return {}  # the model is the same at every rank: the first looks for all
        with _heeding_the_others():
            return super()._looks()


def _add_up(weights: Sequence[Tensor]) -> None:
    """Replaces each gradient by its sum over all ranks; a weight without one at some rank counts as 0 there.

    Whether any rank has one is asked first, so that weights that nobody used keep none, as in one process.
    """
    used = torch.tensor([float(each.grad is not None) for each in weights], device=weights[0].device)
    dist.all_reduce(used)
    shared = [each for each, n in zip(weights, used.tolist(), strict=True) if n]
    for each in shared:
        if each.grad is None:
            each.grad = torch.zeros_like(each)
    flat = torch.cat([each.grad.flatten() for each in shared if each.grad is not None])
    dist.all_reduce(flat)
    at = 0
    for each in shared:
        assert each.grad is not None
        each.grad.copy_(flat[at : at + each.numel()].view_as(each))
        at += each.numel()


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def _like(value: Tensor, owner: Tensor | None) -> Tensor:
    """The value spread over the ranks as a weight is, where it has the weight's shape."""
    if not isinstance(owner, DTensor) or value.shape != owner.shape:
        return value
    return distribute_tensor(value.to(owner.device), owner.device_mesh, owner.placements)


@contextmanager
def _heeding_the_others() -> Iterator[None]:
    """Inside, a message that another process has gone is a PeerLost."""
    try:
        yield
    except (dist.DistError, RuntimeError) as error:
        if isinstance(error, dist.DistError) or any(sign in str(error).lower() for sign in _SIGNS):
            raise PeerLost(f"a process of this run ended: {str(error).splitlines()[0][:200]}") from error
        raise
