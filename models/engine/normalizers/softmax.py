"""The softmax (Vaswani et al. 2017, equation 1), and the base of those that add a score of no key."""

import torch
from torch import Tensor

from ..normalizer import Mask, Normalizer, Scores, register


@register("softmax")
class Softmax(Normalizer):
    """exp(s_i) / sum of exp(s_j); with `sinks`, one more score counts in the sum."""

    fused = True

    def forward(self, scores: Scores, mask: Mask | None) -> Scores:
        sinks = self.sinks()
        if sinks is not None:
            extra = sinks[None, :, None, None].expand(*scores.shape[:3], 1).to(scores.dtype)
            return torch.cat([scores, extra], dim=-1).softmax(dim=-1)[..., :-1]
        if mask is None:
            return scores.softmax(dim=-1)
        some: Tensor = mask.any(dim=-1, keepdim=True)
        # A graph decides nothing by one input, and a GPU is not waited for.
        if some.device.type == "cpu" and not torch.compiler.is_exporting() and bool(some.all()):
            return scores.softmax(dim=-1)
        return scores.masked_fill(~some, 0.0).softmax(dim=-1) * some  # zeros, not NaN
