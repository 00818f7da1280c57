"""How long the gradient and the weights of each part of a model are."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.")


def part_of(weight: str) -> str:
    """The part that a weight's name belongs to: "encoder.0" for a layer, "embedding", "decoder.norm", ..."""
    layer = _LAYER.match(weight)
    if layer:
        return f"{layer[1]}.{layer[2]}"
    names = weight.split(".")
    return ".".join(names[:2]) if names[0] in ("encoder", "decoder") else names[0]


def lengths(tensors: Sequence[Tensor]) -> Tensor:
    """The Euclidean norm of each tensor, [tensor]; all are computed by few kernels."""
    return torch.stack(torch._foreach_norm(list(tensors)))


def total(norms: Tensor) -> Tensor:
    """The norm of all tensors together; the same bits as `torch.nn.utils.get_total_norm` of them."""
    return torch.linalg.vector_norm(norms)


def by_part(
    parts: Sequence[str], gradients: Sequence[float | None], weights: Sequence[float]
) -> dict[str, list[float]]:
    """[gradient norm, weight norm] of each part, in the model's order, with six digits.

    parts: that of each weight. gradients, weights: the norm of each weight's gradient, None for a weight
    without one, and of the weight. A part's norm is the root of the sum of its weights' squares.
    """
    squares: dict[str, list[float]] = {}
    for part, gradient, weight in zip(parts, gradients, weights, strict=True):
        found = squares.setdefault(part, [0.0, 0.0])
        found[0] += (gradient or 0.0) ** 2
        found[1] += weight**2
    return {part: [float(f"{square**0.5:.6g}") for square in both] for part, both in squares.items()}
