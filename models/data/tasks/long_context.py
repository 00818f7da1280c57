"""Long texts at equal cost: what a model gains by choosing whom to look at, for the same number of looks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from ...engine import masks
from ...engine.transformer import Transformer, in_segments
from .batch import Batch
from .language_model import TextModel
from .task import option

_XL = "transformer-xl"
_SUMMARY = 8  # of a block of fixed attention, one token in so many is seen by all later ones


@dataclass(frozen=True, kw_only=True)
class LongContext(TextModel):
    """A language model on long pieces of text. Whatever its attention, a token sees as many others on average
    as where the text is cut into windows of `window` tokens, each read by itself (that is "dense").

    "transformer-xl" sees its segment and one as long before it, by relative positions (Dai et al. 2019, 3.2).
    Its memory is "recurrent" as in the paper, segment after segment, and no gradient flows into what is kept
    of earlier ones; or it is a "mask" over the whole piece: the same numbers, but gradients flow into the
    memory. "fixed" and "strided" are the sparse transformer's (Child et al. 2019, 4.3). Cost is counted in
    pairs of query and key.
    """

    name = "long-context"
    title = "Long context"
    see = (
        "Where the mask lets it, a head looks far back: into the memory of Transformer-XL, or to the last "
        "tokens of earlier blocks, which gather what the block said."
    )
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "activation": "gelu"}
    training = {"steps": 250, "batch_size": 8, "learning_rate": 4e-3}
    fixes = {"positions": "transformer-xl's for transformer-xl, otherwise rotary"}
    length: int = option(256, "tokens of a piece of text", low=32, high=1024)
    attention: str = option(_XL, "whom a token sees", choices=("dense", "transformer-xl", "fixed", "strided"))
    memory: str = option(
        "mask",
        "how transformer-xl is trained to remember: a piece at once under a mask, with gradients into the "
        "memory, or recurrent, as in the paper: segment after segment, without them",
        choices=("mask", "recurrent"),
    )
    evaluation_memory: int = option(
        0,
        "tokens before a segment that transformer-xl still sees when it is scored; 0: as in training",
        low=0,
        high=1024,
    )
    window: int = option(
        64, "tokens that dense attention reads at once; sets the cost of all", low=8, high=512
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window > self.length // 2:
            raise ValueError(
                f"window={self.window} leaves nothing to gain in length={self.length}; "
                f"try window={max(8, self.length // 4)}"
            )
        if self.attention != _XL and (self.memory != "mask" or self.evaluation_memory):
            raise ValueError(
                f"attention={self.attention!r} has no memory; "
                f"try attention={_XL!r}, or memory='mask' and evaluation_memory=0"
            )
        if self.evaluation_memory > self.length:
            raise ValueError(
                f"evaluation_memory={self.evaluation_memory} is longer than a piece of length={self.length}; "
                f"try evaluation_memory={self.length}"
            )

    def dictates(self) -> dict[str, Any]:
        mask, argument = mask_of(self.attention, self.length, self.window)
        relative = self.attention == _XL
        return {
            **super().dictates(),
            "mask": mask,
            "mask_argument": argument,
            "positions": "transformer-xl" if relative else "rotary",
        }

    def answers(self, model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
        if self._by_the_mask():
            return super().answers(model, batch)
        return self.logits(model, batch).flatten(0, 1), batch.targets.flatten()

    def logits(self, model: Transformer, batch: Batch) -> Tensor:
        """By one pass under the mask; where that would not do, segment after segment with a memory."""
        if self._by_the_mask():
            return super().logits(model, batch)
        segment, memory = map(int, mask_of(self.attention, self.length, self.window)[1].split("."))
        if not torch.is_grad_enabled() and self.evaluation_memory:
            memory = self.evaluation_memory
        return in_segments(model, batch.inputs[0], segment, memory)

    def _by_the_mask(self) -> bool:
        """Whether the mask gives what is asked for: gradients into the memory, or its usual length."""
        return self.memory == "mask" if torch.is_grad_enabled() else not self.evaluation_memory


@lru_cache(maxsize=32)
def mask_of(attention: str, length: int, window: int) -> tuple[str, str]:
    """A mask of `masks.named` and its argument, the one whose cost is nearest to that of dense attention."""
    dense = ("memory", f"{window}.0")
    if attention == "dense":
        return dense
    cost = pairs_per_token(*dense, length)
    mask, argument = _PATTERNS[attention]
    sizes = range(2, window + 1)
    best = min(sizes, key=lambda size: abs(pairs_per_token(mask, argument(size), length) - cost))
    return mask, argument(best)


@lru_cache(maxsize=4096)
def pairs_per_token(mask: str, argument: str, length: int) -> float:
    """How many keys a query sees, on average over a text of `length` tokens."""
    return int(masks.named(mask, argument, length).sum()) / length


_PATTERNS: dict[str, tuple[str, Callable[[int], str]]] = {
    "transformer-xl": ("memory", lambda size: f"{size}.{size}"),
    "fixed": ("fixed", lambda size: f"{size}.{max(1, size // _SUMMARY)}"),
    "strided": ("strided", lambda size: str(size)),
}
