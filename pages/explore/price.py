"""What a trace will cost in floating-point operations, before its model is made or its text is read."""

from __future__ import annotations

from dataclasses import fields
from math import ceil
from typing import TYPE_CHECKING, Any

from models.config import ModelConfig
from models.engine.size import trace_operations
from models.limits import in_force
from models.zoo.offers import DEFAULT, offer_of, offers
from pages.explore.state import Inputs

if TYPE_CHECKING:
    from models.interventions.edit import Edit

REFERENCES = 16
"""Texts that a model brings with it, about."""
PER_CELL = 1_500
"""Operations that take about as long as editing one cell of a pattern, which goes through memory often."""
NAMES = [spec.name for spec in fields(ModelConfig)]


def operations_of(inputs: Inputs) -> int:
    """The floating-point operations of `inputs`: too many where a tokenizer joins letters, 0 where they are
    impossible, nothing is read, or the model's sizes are not known.
    """
    offer, config = offer_of(inputs.model) or offers()[DEFAULT], config_of(inputs)
    if config is None:
        return 0

    def operations(text: str) -> int:
        return trace_operations(config, [tokens_of(inputs, config, text)] * len(config.stacks))

    passes = sum(count * operations(text) for text, count in texts_of(inputs, offer.text))
    patterns = [edit.place for edit in edits_of(inputs) if edit.place.kind == "pattern"]
    heads = sum(config.n_heads if place.heads is None else len(place.heads) for place in patterns)
    return passes + PER_CELL * heads * tokens_of(inputs, config, inputs.text) ** 2


def config_of(inputs: Inputs) -> ModelConfig | None:
    """What is known of the model's sizes; None where they are impossible, unknown, or nothing is read."""
    offer = offer_of(inputs.model) or offers()[DEFAULT]
    if offer.reads == "nothing":
        return None
    most = in_force().untrained_words
    untrained = {"kind": "encoder-only", "vocab_size": most + 1, "max_len": most + 3}
    given: dict[str, Any] = untrained | offer.sizes | inputs.settings
    given |= {"d_head": given.get("d_head") or None, "attention_scale": True}
    try:
        return ModelConfig(**{name: given[name] for name in NAMES if name in given})
    except (TypeError, ValueError):
        return None


def tokens_of(inputs: Inputs, config: ModelConfig, text: str) -> int:
    """The tokens of a text, at most: a trained model may read letters, and a picture's number says nothing
    of its size.
    """
    offer = offer_of(inputs.model) or offers()[DEFAULT]
    n_read = len(text) + 2 if offer.sizes else len(text.split())
    return config.max_len if "picture" in offer.reads else min(n_read, config.max_len)


def edits_of(inputs: Inputs) -> list[Edit]:
    """What is edited; nothing where it is no edit, which is refused before the pass."""
    if not inputs.edits.strip():
        return []
    from models.interventions.edit import read_edits  # torch is needed only now

    try:
        return read_edits(inputs.edits)
    except ValueError:
        return []


def texts_of(inputs: Inputs, reference: str = "") -> list[tuple[str, int]]:
    """The texts that are traced for a figure, and how often: with edits its own twice, and each that they
    name. reference: what stands for one of the model's own texts.
    """
    changes = [edit.change for edit in edits_of(inputs)]
    if not changes:
        return [(inputs.text, 1)]
    named = dict.fromkeys((text, change.aligned) for change in changes for text in change.texts)
    references = REFERENCES if any(change.of_reference for change in changes) else 0
    return [(inputs.text, 2), *((text, 1) for text, _ in named), (reference or inputs.text, references)]


def passes_of(inputs: Inputs) -> int:
    """As many traces of the inputs' own text as take about as long as all that a figure needs."""
    own = max(1, len(inputs.text))
    return sum(count * max(1, ceil(len(text) / own)) for text, count in texts_of(inputs))
