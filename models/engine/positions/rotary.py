"""Rotary positions: queries and keys turn with their position, so that their product knows the distance."""

import torch
from jaxtyping import Float, Real
from torch import Tensor

from ..position_scheme import Heads, PositionScheme, angles, register


def rotate(
    x: Float[Tensor, "*batch position d_head"],
    positions: Real[Tensor, " position"],
    base: int | float = 10_000.0,
) -> Float[Tensor, "*batch position d_head"]:
    """Turns channels 2i and 2i + 1, as a point in the plane, by position / base^(2i / d_head) radians.

    Su et al. 2021 (RoFormer), equation 34: neighbouring channels are a pair, as in GPT-J. (Llama pairs
    channel i with i + d_head / 2, which is the same after a permutation of the rows of W_Q and W_K.) Raises
    ValueError for an odd d_head.
    """
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError(f"d_head={d_head} is odd, but channels turn in pairs; try d_head={d_head + 1}")
    angle = angles(positions, d_head, base)  # [position, pair]
    cos, sin = (wave.to(x.dtype).to(x.device) for wave in (angle.cos(), angle.sin()))
    first, second = x[..., 0::2], x[..., 1::2]  # [..., position, pair]
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2)  # [..., position, pair * 2]


@register("rotary")
class Rotary(PositionScheme):
    """Turns queries and keys; see `rotate`."""

    pairs_channels = True

    def rotate(self, x: Heads, start: int = 0) -> Heads:
        """Turned by the angles of positions start, start + 1, ..."""
        return rotate(x, torch.arange(start, start + x.shape[2], device=x.device))
