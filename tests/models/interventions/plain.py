"""Edits once more, as anybody would do them by hooks on a model's own modules."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from attention_lab.models.engine.transformer import Transformer


@contextmanager
def on_input(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within it, the module is given what `change` makes of its input."""
    handle = module.register_forward_pre_hook(lambda _, given: (change(given[0]), *given[1:]))
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def on_output(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within it, what the module gives is changed."""
    handle = module.register_forward_hook(lambda _, given, made: change(made))
    try:
        yield
    finally:
        handle.remove()


def z_of(head: int, d_head: int, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Changes one head's part of what the output projection reads, [batch, position, head * d_head]."""

    def changed(flat: Tensor) -> Tensor:
        made = flat.clone()
        mine = slice(head * d_head, (head + 1) * d_head)
        made[..., mine] = change(flat[..., mine])
        return made

    return changed


def kept(model: Transformer, module: nn.Module, *inputs: Tensor) -> Tensor:
    """What the module reads while the model reads these."""
    found: list[Tensor] = []

    def note(given: Tensor) -> Tensor:
        found.append(given)
        return given

    with on_input(module, note), torch.no_grad():
        model(*inputs)
    return found[0]
