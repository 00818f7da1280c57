"""Softpick: a rectified softmax whose weights may be 0 (Zuhri et al. 2025, arXiv 2504.20966, equation 3)."""

from ..normalizer import Mask, Normalizer, Scores, register

EPSILON = 1e-6


@register("softpick")
class Softpick(Normalizer):
    """relu(exp(s_i) - 1) / (sum of |exp(s_j) - 1| + epsilon): a score below 0 gets nothing, and counts."""

    note = "A key whose score is below 0 gets no weight, and rows add up to at most 1."

    def forward(self, scores: Scores, mask: Mask | None) -> Scores:
        peak = scores.detach().amax(dim=-1, keepdim=True).clamp(min=0.0)  # no exponential overflows
        above = (scores - peak).exp() - (-peak).exp()  # [batch, head, query, key]
        if mask is not None:
            above = above.masked_fill(~mask, 0.0)
        total = above.abs().sum(dim=-1, keepdim=True) + EPSILON * (-peak).exp()
        return above.relu() / total
