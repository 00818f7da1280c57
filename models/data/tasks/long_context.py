"""Defines language models of long texts that look at chosen tokens, at equal cost."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...engine import masks
from .language_model import TextModel
from .task import option

_XL = "transformer-xl"
_SUMMARY = 8  # of a block of fixed attention, one token in so many is seen by all later ones


@dataclass(frozen=True, kw_only=True)
class LongContext(TextModel):
    """A language model of long texts. Whatever its attention, a token sees on average as many others as in
    windows of `window` tokens, each read by itself ("dense").

    "transformer-xl" sees its segment and one as long before it, by relative positions (Dai et al. 2019, 3.2).
    Its memory is a mask over the whole piece: the same numbers as segment after segment, but gradients flow
    into the memory. "fixed" and "strided" are the sparse transformer's (Child et al. 2019, 4.3). Cost is
    counted in pairs of query and key.
    """

    name = "long-context"
    title = "Long context"
    see = "Where the mask lets it, a head looks far back: into Transformer-XL's memory, or at earlier blocks."
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "activation": "gelu"}
    training = {"steps": 250, "batch_size": 8, "learning_rate": 4e-3}
    fixes = {"positions": "transformer-xl's for transformer-xl, otherwise rotary"}
    length: int = option(256, "tokens of a piece of text", low=32, high=1024)
    attention: str = option(_XL, "whom a token sees", choices=("dense", "transformer-xl", "fixed", "strided"))
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

    def required_sizes(self) -> dict[str, Any]:
        mask, argument = mask_of(self.attention, self.length, self.window)
        relative = self.attention == _XL
        return {
            **super().required_sizes(),
            "mask": mask,
            "mask_argument": argument,
            "positions": "transformer-xl" if relative else "rotary",
        }


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
