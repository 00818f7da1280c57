"""Boolean masks that say which token may attend to which: by name, in parts, and combined over layers.

True = may attend; each broadcasts to [batch, head, query, key].

Masks by name and argument, whole or in parts, and what influences what under them.
"""

from collections.abc import Callable
from functools import reduce
from operator import and_

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...mask_names import MASKS
from .core import KINDS, Mask, causal, check, combine, padding
from .kinds.edges import edges
from .kinds.fixed import fixed
from .kinds.memory import memory
from .kinds.packed import packed
from .kinds.painted import painted
from .kinds.prefix import prefix
from .kinds.strided import strided
from .kinds.window import sliding_window

# Masks by name and argument

MOST_WHOLE = 16_384
"""Tokens of a mask that is made whole: 256 MB. Longer texts ask for it in parts."""


def named(name: str, argument: str, n: int) -> Bool[Tensor, "1 1 n n"]:
    """The mask `name` of n tokens, such as named("window", "3", 8); "causal+window" hides later keys as well.

    An empty argument stands for the usual one. Raises ValueError for an unknown name, for an argument that
    does not fit the mask or the number of tokens, and for more than `MOST_WHOLE` tokens.
    """
    kind, filled = kind_of(name), argument_of(name, argument, n)
    if n > MOST_WHOLE:
        raise ValueError(
            f"mask {name!r} of {n:,} tokens is too large; "
            f"at most {MOST_WHOLE:,} tokens have a whole mask; give a shorter text"
        )
    allowed = KINDS[kind].make(n, filled)
    return (allowed if kind == name else allowed & causal(n, n)).expand(1, 1, n, n)


def argument_of(name: str, argument: str, n: int) -> str:
    """The argument, or the usual one in the place of an empty one. Raises ValueError where there is none."""
    kind = kind_of(name)
    if argument and not MASKS[kind].rule:
        raise ValueError(f"mask {name!r} takes no argument, but got {argument[:40]!r}; leave it out")
    return argument or usual(kind, n)


def usual(kind: str, n: int) -> str:
    """The argument that an empty one stands for, among n tokens."""
    own = KINDS[kind].usual
    return own(n) if own else MASKS[kind].example


def code_of(name: str) -> list[Callable[..., Mask]]:
    """The functions that make the masks of a name such as "causal+window", whose lines pages show."""
    return [code for kind in name.split("+") if kind in KINDS and (code := KINDS[kind].code)]


def kind_of(name: str) -> str:
    """The name without "causal+". Raises ValueError where no mask is called so."""
    kind = name.removeprefix("causal+")
    if kind not in MASKS:
        known = ", ".join(MASKS)
        raise ValueError(f"mask={name!r} is unknown; choose one of {known}, or causal+ one of them")
    return kind


def grows(name: str) -> bool:
    """Says whether the mask of a text is the corner of a longer text's mask."""
    kind = KINDS[kind_of(name)]
    return kind.part is not None and kind.usual is None and not kind.by_end


# Masks of long texts: no n x n booleans are ever in memory

Allowed = Callable[[slice, slice], Bool[Tensor, "_ _ key"]]
"""Which of some queries may attend to which of some keys: [head or 1, query or 1, key]."""


def in_parts(name: str, argument: str, n: int) -> Allowed:
    """The mask `named(name, argument, n)` in parts; one without a rule is made whole, which ends where whole
    masks do. Raises ValueError as `named` does.
    """
    kind = kind_of(name)
    part, filled = KINDS[kind].part, argument_of(name, argument, n)
    if part is None:
        return of_tensor(named(name, argument, n)[0])

    def allowed(rows: slice, keys: slice) -> Tensor:
        query, key = torch.arange(rows.start, rows.stop)[:, None], torch.arange(keys.start, keys.stop)
        open_ = part(query, key, n, filled)
        return (open_ if kind == name else open_ & (key <= query))[None]

    allowed(slice(0, 1), slice(0, 1))  # what is wrong with the argument is said at once
    return allowed


def check_fits(name: str, argument: str, max_len: int) -> None:
    """Raises ValueError, as `named` does, where no text of at most `max_len` tokens can have this mask."""
    kind = kind_of(name)
    needed = KINDS[kind].least
    least = needed(argument) if argument and needed else 1
    if least > max_len:
        raise ValueError(
            f"argument {argument[:40]!r} of mask {name!r} needs {least} tokens, but max_len={max_len}; "
            f"raise max_len, or give an argument for fewer tokens"
        )
    in_parts(name, argument, least)


def of_tensor(mask: Bool[Tensor, "_ _ key"]) -> Allowed:
    """Parts of a mask that is there as a whole, [head or 1, query or 1, key]."""
    return lambda rows, keys: (mask if mask.shape[1] == 1 else mask[:, rows])[:, :, keys]


def both(*parts: Allowed | None) -> Allowed | None:
    """Allowed where every one allows it; None allows everything."""
    rules = [part for part in parts if part is not None]
    if len(rules) < 2:
        return rules[0] if rules else None
    return lambda rows, keys: reduce(and_, (part(rows, keys) for part in rules))


# Influence through several layers


def reach(allowed: Bool[Tensor, "n n"], n_layers: int) -> Bool[Tensor, "layer n n"]:
    """[layer, query, key]: whether the query's vector after layer 1, 2, ... n_layers can depend on the key's.

    A layer hands a token what those it attends to have got, and by the residual connection what it had
    itself: a path of at most `layer` steps in the graph of the mask. Raises ValueError for n_layers below 1.
    """
    if n_layers < 1:
        raise ValueError(f"n_layers={n_layers} must be at least 1; try n_layers=2")
    step = (allowed | torch.eye(len(allowed), dtype=torch.bool)).float()  # the residual keeps one's own
    reached, layers = step, [step]
    for _ in range(n_layers - 1):
        reached = (step @ reached).clamp(max=1)
        layers.append(reached)
    return torch.stack(layers) > 0


def layers_needed(allowed: Bool[Tensor, "n n"]) -> Int[Tensor, "n n"]:
    """[query, key]: after how many layers the key can influence the query; 0 for itself, -1 for never.

    It takes at most n - 1 layers: a shortest path visits no token twice.
    """
    n = len(allowed)
    by_layer = reach(allowed, max(1, n - 1))  # [layer, query, key]
    needed = 1 + (~by_layer).sum(dim=0)
    needed[~by_layer[-1]] = -1
    return needed.fill_diagonal_(0)
