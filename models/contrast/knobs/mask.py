"""The mask of self-attention: who may look at whom."""

from dataclasses import replace

import torch
from torch import Tensor

from ...engine import masks
from ...engine.transformer import Transformer
from ...fields import shortened
from ..knob import Knob, is_ours, unheard, with_editing, with_model, words_of
from ..side import Side

OWN = "own"
OFFERED = ("none", "causal", "window:2", "window:4", "causal+window:2", "causal+window:4", "causal+window:8")


def _read(value: str) -> str:
    name, _, argument = value.partition(":")
    if name != OWN:
        masks.kind_of(name)  # knows the name, or says which there are
        if argument and masks.kind_of(name) in ("none", "causal"):
            raise ValueError(
                f"mask={shortened(value)!r} has an argument that {name!r} does not take; leave it out"
            )
    return value


def _turned(side: Side, value: str) -> Side:
    if is_ours(side.model):
        side = with_model(side, side.model.remade(_open))
    elif value == "none":
        raise ValueError(
            f"mask='none' would let {side.model.name!r} look where it never looks; "
            "choose a mask that hides more, or one of our models"
        )
    name, _, argument = value.partition(":")

    def hiding(address: str, scores: Tensor) -> Tensor:
        if not address.endswith(".self.scores") or name == "none":
            return scores
        allowed = masks.named(name, argument, scores.shape[-1])[0].to(scores.device)
        hidden = scores.masked_fill(~allowed, -torch.inf)
        if not is_ours(side.model) and bool(hidden.isneginf().all(dim=-1).any()):
            raise ValueError(f"mask={value!r} hides all keys from a query; choose one that leaves each a key")
        return hidden

    return with_editing(side, hiding)


def _open(net: Transformer) -> None:
    """Takes the network's own mask away, and that of its decoder; padding stays hidden."""
    net.config = replace(net.config, mask="none", mask_argument="")
    for stack in (net.encoder, net.decoder):
        if stack is not None:
            stack.causal = False


KNOB = Knob(
    **words_of("mask"),
    own=lambda model: OWN,
    values=lambda model: (OWN, *(each for each in OFFERED if is_ours(model) or each != "none")),
    read=_read,
    why_not=unheard,
    turned=_turned,
)
