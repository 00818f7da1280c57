"""Masks by name and argument, as a link or a page asks for them."""

from jaxtyping import Bool
from torch import Tensor

from models.engine.masks import kinds  # noqa: F401 (every kind registers itself)
from models.engine.masks.core import causal
from models.engine.masks.kind import KINDS
from models.mask_names import MASKS


def named(name: str, argument: str, n: int) -> Bool[Tensor, "1 1 n n"]:
    """The mask `name` of n tokens, such as named("window", "3", 8); "causal+window" hides later keys as well.

    An empty argument stands for the usual one. Raises ValueError for an unknown name, and for an argument
    that does not fit the mask or the number of tokens.
    """
    kind = kind_of(name)
    if argument and not MASKS[kind].rule:
        raise ValueError(f"mask {name!r} takes no argument, but got {argument[:40]!r}; leave it out")
    allowed = KINDS[kind].make(n, argument or usual(kind, n))
    return (allowed if kind == name else allowed & causal(n, n)).expand(1, 1, n, n)


def usual(kind: str, n: int) -> str:
    """The argument that an empty one stands for, among n tokens."""
    found = KINDS[kind].usual
    return found(n) if found else MASKS[kind].example


def check_fits(name: str, argument: str, max_len: int) -> None:
    """Raises ValueError, as `named` does, where no text of at most `max_len` tokens can have this mask."""
    kind = kind_of(name)
    needed = KINDS[kind].least
    least = needed(argument) if argument and needed else 1
    if least > max_len:
        raise ValueError(
            f"argument {argument[:40]!r} of mask {name!r} needs {least} tokens, but max_len={max_len}; "
            f"try max_len={least}, or an argument for fewer tokens"
        )
    named(name, argument, least)


def kind_of(name: str) -> str:
    """The name without "causal+". Raises ValueError where no mask is called so."""
    kind = name.removeprefix("causal+")
    if kind not in MASKS:
        known = ", ".join(MASKS)
        raise ValueError(f"mask={name!r} is unknown; choose one of {known}, or causal+ one of them")
    return kind
