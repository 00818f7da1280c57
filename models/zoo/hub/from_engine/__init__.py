"""A model of our engine as one of transformers (GPT-2, NeoX, BERT, Marian, Pegasus) with the same logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.config import ModelConfig
from models.engine.transformer import Transformer
from models.zoo.hub.from_engine import bert, gpt2, marian
from models.zoo.hub.from_engine.fitting import Misfit, check_common

__all__ = ["Misfit", "family_of", "from_engine"]

_FAMILIES: dict[str, tuple[Callable[[ModelConfig], str], Callable[[Transformer, dict[str, Any]], Any]]] = {
    "decoder-only": (gpt2.family_of, gpt2.made),
    "encoder-only": (bert.family_of, bert.made),
    "encoder-decoder": (marian.family_of, marian.made),
}


def family_of(config: ModelConfig) -> str:
    """The architecture of transformers that computes what a model of this config does, such as "GPT-2".

    Raises Misfit, a ValueError that says what none of theirs computes, and that ONNX takes it.
    """
    check_common(config)
    return _FAMILIES[config.kind][0](config)


def from_engine(model: Transformer, *, special_ids: dict[str, Any] | None = None) -> Any:
    """A `PreTrainedModel` with the logits of `model`, in float32, ready to be asked and to be saved.

    special_ids: fields of theirs, such as eos_token_id and decoder_start_token_id. Their models take an
    attention mask where ours finds padding by its id. Raises Misfit as `family_of` does.
    """
    family_of(model.config)
    return _FAMILIES[model.config.kind][1](model, special_ids or {}).eval()
