"""Masks by name and argument, as a link or a page asks for them."""

from jaxtyping import Bool
from torch import Tensor

from models.engine.masks import kinds  # noqa: F401 (every kind registers itself)
from models.engine.masks.core import causal
from models.engine.masks.kind import KINDS
from models.mask_names import MASKS

MOST_WHOLE = 16_384
"""Tokens of a mask that is made whole: 256 MB. Longer texts ask for it in parts."""


def named(name: str, argument: str, n: int) -> Bool[Tensor, "1 1 n n"]:
    """The mask `name` of n tokens, such as named("window", "3", 8); "causal+window" hides later keys as well.

    An empty argument stands for the usual one. Raises ValueError for an unknown name, for an argument that
    does not fit the mask or the number of tokens, and for more than `MOST_WHOLE` tokens.
    """
    kind, given = kind_of(name), argument_of(name, argument, n)
    if n > MOST_WHOLE:
        raise ValueError(
            f"mask {name!r} of {n:,} tokens would hold {n**2:,} yes or no; "
            f"at most {MOST_WHOLE:,} tokens have a whole mask; give a shorter text"
        )
    allowed = KINDS[kind].make(n, given)
    return (allowed if kind == name else allowed & causal(n, n)).expand(1, 1, n, n)


def argument_of(name: str, argument: str, n: int) -> str:
    """The argument, or the usual one in the place of an empty one. Raises ValueError where there is none."""
    kind = kind_of(name)
    if argument and not MASKS[kind].rule:
        raise ValueError(f"mask {name!r} takes no argument, but got {argument[:40]!r}; leave it out")
    return argument or usual(kind, n)


def usual(kind: str, n: int) -> str:
    """The argument that an empty one stands for, among n tokens."""
    found = KINDS[kind].usual
    return found(n) if found else MASKS[kind].example


def kind_of(name: str) -> str:
    """The name without "causal+". Raises ValueError where no mask is called so."""
    kind = name.removeprefix("causal+")
    if kind not in MASKS:
        known = ", ".join(MASKS)
        raise ValueError(f"mask={name!r} is unknown; choose one of {known}, or causal+ one of them")
    return kind
