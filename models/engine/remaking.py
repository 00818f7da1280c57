"""A network made anew around the same weights, so that one thing of it can be other."""

import copy
from collections import OrderedDict
from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

import torch
from torch import Tensor, nn

Parts = TypeVar("Parts")
_HOOKS = (
    "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
)  # fmt: skip


def sharing_weights(net: nn.Module, parts: Parts) -> Parts:
    """A copy of `parts`, modules and what refers to them, that shares the parameters and buffers of `net` and
    has none of its hooks: another thread may record a pass of it meanwhile.

    Whoever changes it puts other parameters in their place and changes none itself.
    """
    memo: dict[int, object] = {id(each): each for each in chain(net.parameters(), net.buffers())}
    for module in net.modules():
        for hooks in (getattr(module, name) for name in _HOOKS):
            memo[id(hooks)] = OrderedDict()
    return copy.deepcopy(parts, memo)


def format_of(net: nn.Module) -> torch.dtype:
    """The number format of a network's weights: of the first."""
    return next((each.dtype for each in net.parameters() if each.is_floating_point()), torch.float32)


def in_format_of(net: nn.Module, inputs: Iterable[Tensor]) -> list[Tensor]:
    """What a network reads, in the number format of its weights; ids stay whole numbers."""
    dtype = format_of(net)
    return [read.to(dtype) if read.is_floating_point() else read for read in inputs]
