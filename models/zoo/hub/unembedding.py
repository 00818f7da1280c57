"""How a model of transformers makes logits of its last stream, found by what its modules do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

TOLERANCE = 1e-3
"""How far the logits may be from those that are made again, as a share of the largest."""


@dataclass(frozen=True)
class Unembedding:
    """A last norm, which may take the mean out, with its gain and bias; and the output layer after it."""

    centred: bool
    gain: Float[Tensor, " channel"]
    bias: Float[Tensor, " channel"]
    words: Float[Tensor, "channel output"]
    constant: Float[Tensor, " output"]

    def at(self, final: Float[Tensor, " channel"]) -> tuple[Tensor, Tensor]:
        """The matrix and the constant that make the logits of `final`, with the norm's scale frozen there."""
        scaled = self.words * (self.gain / _scale(final, self.centred))[:, None]
        return scaled - scaled.mean(dim=0) if self.centred else scaled, self.bias @ self.words + self.constant


@torch.no_grad()
def unembedding_of(net: Any, last: nn.Module, run: Callable[[], Any]) -> Unembedding | None:
    """That of a network whose last layer is `last`; None where more than a norm and a matrix follow it.

    run: makes a pass over any text.
    """
    head = net.get_output_embeddings()
    called: list[nn.Module] = []
    streams: list[Tensor] = []

    def finish(module: nn.Module, given: Any, made: Any) -> None:
        called.clear()
        streams.append(made[0] if isinstance(made, tuple) else made)

    def leaf(module: nn.Module, given: Any, made: Any) -> None:
        called.append(module)

    leaves = [
        m for m in net.modules() if not list(m.children()) and not isinstance(m, (nn.Dropout, nn.Identity))
    ]
    hooks = [last.register_forward_hook(finish), *(m.register_forward_hook(leaf) for m in leaves)]
    try:
        made = run()
    finally:
        for hook in hooks:
            hook.remove()
    if (
        not isinstance(head, nn.Linear)
        or not called
        or called[-1] is not head
        or len(called) > 2
        or not streams
    ):
        return None
    final, logits = streams[-1][0, -1].float().cpu(), made.logits[0, -1].float().cpu()
    found = _read(called[0] if len(called) == 2 else None, head, final)
    if found is None:
        return None
    matrix, constant = found.at(final)
    close = (final @ matrix + constant - logits).abs().max() <= TOLERANCE * logits.abs().max()
    return found if bool(close) else None


def _read(norm: nn.Module | None, head: nn.Linear, final: Tensor) -> Unembedding | None:
    """The norm by what it makes of vectors, `final` one of them; None where it is no layer or RMS norm."""
    words = head.weight.detach().float().cpu().T
    constant = torch.zeros(words.shape[1]) if head.bias is None else head.bias.detach().float().cpu()
    if norm is None:
        return None

    def normed(x: Tensor) -> Tensor:
        weight = next(norm.parameters())
        return norm(x.to(weight)[None, None])[0, 0].float().cpu()

    n = len(final)
    known = torch.linspace(1, 2, n) * (1 - 2 * (torch.arange(n) % 2))  # nowhere near its mean
    bias = normed(torch.zeros(n))
    for centred in (True, False):
        unit = [(x - x.mean() if centred else x) / _scale(x, centred) for x in (known, final)]
        gain = (normed(known) - bias) / unit[0]
        if torch.allclose(bias + gain * unit[1], normed(final), rtol=TOLERANCE, atol=TOLERANCE):
            return Unembedding(centred, gain, bias, words, constant)
    return None


def _scale(x: Tensor, centred: bool) -> Tensor:
    """The root of the mean square, of what is left of the mean where it is taken out."""
    return (x - x.mean() if centred else x).square().mean().sqrt()
