"""The sizes of a model that is made anew: d_model = n_heads × d_head (Vaswani et al. 2017, 3.2.2).

Whoever turns one of them keeps the one that is marked as fixed, and the third follows. Each value to which
one can be turned makes a model.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from attention_lab.models.zoo.catalogue import Setting

LINKED = ("n_heads", "d_model", "d_head")
FIXED = "d_head"
"""The one that is fixed at first."""
MOST_HEADS, MOST_HEAD, MOST_WIDTH = 16, 128, 512
IN_PAIRS = "rotary"
"""The positions that turn channels in pairs, so that d_head is even."""


class Sizes(NamedTuple):
    """Heads, the width of the residual stream, and the width of a head."""

    n_heads: int
    d_model: int
    d_head: int


def sizes_of(values: Mapping[str, Any]) -> Sizes:
    """The sizes that settings say; d_head = 0 stands for d_model / n_heads."""
    heads, width = values["n_heads"], values["d_model"]
    return Sizes(heads, width, values["d_head"] or max(1, width // heads))


def linked(settings: Iterable[Setting]) -> tuple[str, ...]:
    """Those of these settings that are linked: all three sizes of an untrained model, or none."""
    free = {each.name for each in settings if not each.trained}
    return LINKED if {*LINKED} <= free else ()


def reachable(values: Mapping[str, Any], name: str, keeps: str) -> list[Sizes]:
    """The sizes to which turning one leads, from small to large, with another one kept as it is. Where the
    one that is turned is itself the fixed one, the heads stay. What no such model has, such as a link's
    d_head of more than `MOST_HEAD`, is kept as nearly as can be.
    """
    keeps = keeps if keeps != name else "n_heads" if name != "n_heads" else "d_head"
    return list(_reachable(sizes_of(values), name, keeps, 2 if values["positions"] == IN_PAIRS else 1))


@lru_cache(maxsize=4_096)
def _reachable(now: Sizes, name: str, keeps: str, step: int) -> tuple[Sizes, ...]:
    each = range(step, MOST_HEAD + 1, step)
    all_sizes = [Sizes(h, h * d, d) for h in range(1, MOST_HEADS + 1) for d in each if h * d <= MOST_WIDTH]
    kept = LINKED.index(keeps)
    value = min((size[kept] for size in all_sizes), key=lambda other: abs(other - now[kept]))
    found = {size[LINKED.index(name)]: size for size in all_sizes if size[kept] == value}
    return tuple(found[value] for value in sorted(found))


def turned(values: Mapping[str, Any], name: str, value: int, keeps: str) -> tuple[dict[str, Any], str]:
    """The settings with one size turned to a value, or to the nearest that makes a model, and in half a line
    which of the others followed it.
    """
    now, at = sizes_of(values), LINKED.index(name)
    size = min(reachable(values, name, keeps), key=lambda each: abs(each[at] - value))
    said = [f"{n} = {size[i]}" for i, n in enumerate(LINKED) if n != name and size[i] != now[i]]
    return {**values, "n_heads": size.n_heads, "d_model": size.d_model, "d_head": 0}, ", ".join(said)
