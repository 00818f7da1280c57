"""Sigmoid attention: each key is weighed for itself (Ramapuram et al. 2024, arXiv 2409.04431)."""

from ..normalizer import Mask, Normalizer, Scores, open_keys, register


@register("sigmoid")
class Sigmoid(Normalizer):
    """1 / (1 + exp(log n - s)), n being the keys that the query sees; the paper takes the text's length."""

    note = "Each weight is the sigmoid of its own score minus ln n for n keys; a row may add up to anything."

    def forward(self, scores: Scores, mask: Mask | None) -> Scores:
        return (scores - open_keys(scores, mask).log()).sigmoid()
