"""No mask: every query sees every key."""

import torch

from ....mask_names import MaskName
from ..core import register

ABOUT = MaskName(order=0, title="none")

register(
    "none",
    lambda n, argument: torch.ones(1, 1, n, n, dtype=torch.bool),
    part=lambda query, key, n, argument: torch.ones(len(query), len(key), dtype=torch.bool),
)
