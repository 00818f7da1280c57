"""A mask of one's own, as somebody would put it into the folder of masks: one file."""

import torch

from attention_lab.models.engine.masks.core import Square, register
from attention_lab.models.mask_names import MaskName, numbers

ABOUT = MaskName(
    title="checkered",
    rule="a step in tokens",
    example="2",
    meaning="a token sees every 2nd one, counted from itself",
    causal_too=True,
)


def checkered(n: int, step: int) -> Square:
    position = torch.arange(n)
    return ((position - position[:, None]) % step == 0)[None, None]


register("checkered", lambda n, argument: checkered(n, *numbers("checkered", argument, 1)))
