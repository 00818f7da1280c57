"""Which known words look like one that is not known."""

from collections.abc import Iterable

_LONGEST = 40
_FEW = 3  # suggestions, and letters that may differ in a long word


def alike(word: str, known: Iterable[str]) -> list[str]:
    """At most three of the known words that are a typing slip away from the given one, the nearest first.

    One letter in three may differ, at least one and at most three; of words equally near, those with the
    longest ending in common come first, then those of the same length.
    """
    word = word.lower()
    if len(word) > _LONGEST:
        return []
    most = min(_FEW, max(1, len(word) // 3))
    ranked = [
        (steps, -_same_ending(word, other), abs(len(word) - len(other)), other)
        for other in known
        if abs(len(word) - len(other)) <= most and 0 < (steps := distance(word, other)) <= most
    ]
    return [other for steps, _, _, other in sorted(ranked) if steps < len(other)][:_FEW]


def distance(one: str, other: str) -> int:
    """The letters to put in, take out, replace, or swap with their neighbour, to make one word the other
    (Damerau 1964, no letter touched twice).
    """
    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, a in enumerate(one):
        row = [i + 1]
        for j, b in enumerate(other):
            steps = min(above[j + 1] + 1, row[j] + 1, above[j] + (a != b))
            if i and j and a == other[j - 1] and b == one[i - 1]:
                steps = min(steps, before[j - 1] + 1)
            row.append(steps)
        before, above = above, row
    return above[-1]


def _same_ending(one: str, other: str) -> int:
    """How many letters both words end with alike."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
