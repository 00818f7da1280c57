"""What a trace will cost in floating-point operations, before its model is made or its text is read."""

from dataclasses import fields
from typing import Any

from models.config import ModelConfig
from models.engine.size import trace_operations
from models.limits import in_force
from models.zoo.offers import DEFAULT, offer_of, offers
from pages.explore.state import Inputs

NAMES = [spec.name for spec in fields(ModelConfig)]


def operations_of(inputs: Inputs) -> int:
    """The floating-point operations of `inputs`: too many where a tokenizer joins letters, 0 where they are
    impossible, nothing is read, or the model's sizes are not known.
    """
    offer = offer_of(inputs.model) or offers()[DEFAULT]
    if offer.reads == "nothing":
        return 0
    most = in_force().untrained_words
    untrained = {"kind": "encoder-only", "vocab_size": most + 1, "max_len": most + 3}
    given: dict[str, Any] = untrained | offer.sizes | inputs.settings
    given |= {"d_head": given.get("d_head") or None, "attention_scale": True}
    try:
        config = ModelConfig(**{name: given[name] for name in NAMES if name in given})
    except (TypeError, ValueError):
        return 0
    # A trained model may read letters, and a picture's number says nothing of its size.
    n_read = len(inputs.text.split()) if not offer.sizes else len(inputs.text) + 2
    n_tokens = int(given["max_len"]) if "picture" in offer.reads else min(n_read, int(given["max_len"]))
    return trace_operations(config, [n_tokens] * len(config.stacks))
