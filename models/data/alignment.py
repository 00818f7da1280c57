"""Aligns the tokens of two texts of one vocabulary."""

from collections.abc import Sequence
from difflib import SequenceMatcher

Pair = tuple[int | None, int | None]
Pairs = list[Pair]


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
