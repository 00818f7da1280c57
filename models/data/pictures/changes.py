"""What training does to pictures so that a model must look harder: moving them, and hiding parts."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

BLANK = -1.0
"""Every channel of a part that is hidden, or that is no part of the picture: darker than any picture."""


def moved(
    pictures: Float[Tensor, "picture row column"], most: int, generator: torch.Generator
) -> Float[Tensor, "picture row column"]:
    """Each picture moved by up to `most` pixels up or down and left or right; black moves in."""
    n, n_rows, n_columns = pictures.shape
    down, right = torch.randint(0, 2 * most + 1, (2, n, 1), generator=generator)
    rows = torch.arange(n_rows) + down  # [picture, row] of the padded pictures
    columns = torch.arange(n_columns) + right
    framed = pad(pictures, (most, most, most, most))
    return framed[torch.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]


def hidden(
    parts: Float[Tensor, "picture position channel"], share: float, generator: torch.Generator
) -> Float[Tensor, "picture position channel"]:
    """Makes a share of the parts (rounded) blank, others in every picture (He et al. 2021, 3)."""
    n_hidden = round(share * parts.shape[1])
    order = torch.rand(parts.shape[:2], generator=generator).argsort(dim=1)
    return parts.masked_fill((order < n_hidden)[:, :, None], BLANK)
