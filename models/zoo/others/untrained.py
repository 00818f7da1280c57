"""Offers the untrained model: the translator's texts, and every size as a setting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...config import ModelConfig
from ..offers import DEFAULT, MAX_UNTRAINED_WORDS, SCALES, UNTRAINED, Offer, register, shipped

if TYPE_CHECKING:
    from ..engine_model import UntrainedModel


def load(
    *, seed: int = 0, d_head: int = 0, n_kv_heads: int = 0, attention_scale: str = "on", **sizes: Any
) -> UntrainedModel:
    """The model of a page's settings. d_head 0: d_model // n_heads. n_kv_heads 0: n_heads. attention_scale:
    one of `SCALES`.
    """
    from ..engine_model import UntrainedModel  # imports torch

    config = ModelConfig(
        kind="encoder-only", d_head=d_head or None, n_kv_heads=n_kv_heads or None,
        attention_scale=SCALES[attention_scale],
        vocab_size=MAX_UNTRAINED_WORDS + 1, max_len=MAX_UNTRAINED_WORDS + UntrainedModel.PADDING, **sizes,
    )  # fmt: skip
    return UntrainedModel(config, seed=seed)


LABEL = "Sentence: type your own. See which words each word looks at before training."
SUMMARY = "Has random weights"


def offer() -> Offer:
    """The translator's, without all that is said of what it learnt."""
    trained = shipped()[DEFAULT]
    return replace(
        trained, name="untrained", load=load, title="untrained", summary=SUMMARY, sizes={},
        settings=UNTRAINED, showcase={}, memory=DEFAULT, contrast={}, wider="", label=LABEL,
        taught="Its weights are random: looking means nothing yet.",
        examples=tuple({**example, "see": ""} for example in trained.examples),
    )  # fmt: skip


register(offer())
