"""The untrained model: the translator's texts, and every size as a setting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from models.zoo.offers import DEFAULT, UNTRAINED, Offer, register, shipped

if TYPE_CHECKING:
    from models.zoo.model import Model


def load(**sizes: Any) -> Model:
    from models.zoo.engine_model import UntrainedModel  # imports torch

    return UntrainedModel.of(**sizes)


LABEL = "Sentence: type your own. See which words each word looks at before anything is learnt."
SUMMARY = "A transformer with random weights, of the sizes that you choose"


def offer() -> Offer:
    """The translator's, without all that is said of what it learnt."""
    trained = shipped()[DEFAULT]
    return replace(
        trained, name="untrained", load=load, title="untrained", summary=SUMMARY, sizes={},
        settings=UNTRAINED, showcase={}, memory=DEFAULT, contrast={}, label=LABEL,
        taught="Taught nothing: its weights are random, so where a word looks means nothing yet.",
        examples=tuple({**example, "see": ""} for example in trained.examples),
    )  # fmt: skip


register(offer())
