"""Offers the untrained model: the translator's texts, and every size as a setting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...config import ModelConfig
from ..catalogue import (
    DEFAULT,
    MAX_UNTRAINED_WORDS,
    SCALES,
    UNTRAINED,
    ZERO_IS_NONE,
    Offer,
    register,
    shipped,
)

if TYPE_CHECKING:
    from ..engine_model import UntrainedModel


def load(*, seed: int = 0, attention_scale: str = "on", **sizes: Any) -> UntrainedModel:
    """The model of a page's settings. attention_scale: one of `SCALES`."""
    from ..engine_model import UntrainedModel  # imports torch

    config = ModelConfig(
        kind="encoder-only", attention_scale=SCALES[attention_scale], vocab_size=MAX_UNTRAINED_WORDS + 1,
        max_len=MAX_UNTRAINED_WORDS + UntrainedModel.PADDING,
        **sizes | {name: sizes.get(name) or None for name in ZERO_IS_NONE},
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
