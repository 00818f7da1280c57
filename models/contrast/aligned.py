"""The tokens of two readings beside each other, with gaps where one has nothing to match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

_SPECIAL = re.compile(r"<[^<>\s]*>|\[[A-Z]+\d*\]")
"""Tokens that stand for no character, such as <eos> or [CLS], as every tokenizer here writes them."""
Pair = tuple[int | None, int | None]
Pairs = list[Pair]


@dataclass(frozen=True)
class Aligned:
    """Places in order, each a token of a, of b, or of both: every token of either stands at one place.

    a, b: the tokens. pairs: for each place, the position in a and in b; None is a gap. loose: two
    vocabularies, whose tokens are the same where they cover the same characters.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    pairs: tuple[Pair, ...]
    loose: bool = False

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def same(self) -> tuple[bool, ...]:
        """Whether both have the same token there; a gap and a replaced token are not the same."""
        read = bare if self.loose else str
        return tuple(
            i is not None and j is not None and read(self.a[i]) == read(self.b[j]) for i, j in self.pairs
        )

    @cached_property
    def both(self) -> tuple[int, ...]:
        """The places where both have a token, the same or another."""
        return tuple(at for at, (i, j) in enumerate(self.pairs) if i is not None and j is not None)

    @property
    def tokens_a(self) -> list[str]:
        """The token of a at each place; "" at its gaps."""
        return ["" if i is None else self.a[i] for i, _ in self.pairs]

    @property
    def tokens_b(self) -> list[str]:
        """The token of b at each place; "" at its gaps."""
        return ["" if j is None else self.b[j] for _, j in self.pairs]


def align(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """Token by token, in order: what both have, as `difflib` finds it; as many tokens in the place of as
    many others one to one; all else in gaps. align(b, a) is the same with the sides exchanged.
    """
    if (len(a), tuple(a)) > (len(b), tuple(b)):  # SequenceMatcher itself depends on the order of the sides
        return [(i, j) for j, i in align(b, a)]
    pairs: Pairs = []
    for word, i, i_end, j, j_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if word == "equal" or i_end - i == j_end - j:
            pairs += zip(range(i, i_end), range(j, j_end), strict=True)
        else:
            pairs += [(at, None) for at in range(i, i_end)]
            pairs += [(None, at) for at in range(j, j_end)]
    return pairs


def by_place(partner: Sequence[int | None], n: int) -> Pairs:
    """The pairs of a given partner in b for each position of a, in the order of a; the positions of b, of
    which there are n, that are nobody's partner stand behind the nearest before them that is one.
    """
    owner = {j: i for i, j in enumerate(partner) if j is not None}
    alone: dict[int | None, list[int]] = {}
    last: int | None = None
    for j in range(n):
        last = j if j in owner else last
        if j not in owner:
            alone.setdefault(last, []).append(j)
    pairs: Pairs = [(None, j) for j in alone.get(None, ())]
    for i, other in enumerate(partner):
        pairs.append((i, other))
        if other is not None:
            pairs += [(None, behind) for behind in alone.get(other, ())]
    return pairs


def bare(token: str) -> str:
    """The characters that a token covers: without blanks, without WordPiece's ##, in small letters; "" of a
    special one.
    """
    text = "".join(token.removeprefix("##").split()) if len(token) > 2 else "".join(token.split())
    return "" if _SPECIAL.fullmatch(text) else text.casefold()
