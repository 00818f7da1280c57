"""The order of the words that are read."""

import random
import re
from dataclasses import replace

from ..knob import Knob, words_of
from ..side import Side

TYPED = "as typed"
_KNOWN = re.compile(r"as typed|reversed|sorted|shuffled \d{1,6}")


def _read(value: str) -> str:
    value = "shuffled 0" if value == "shuffled" else value
    if not _KNOWN.fullmatch(value):
        raise ValueError(
            f"order={value[:40]!r} is unknown; choose as typed, reversed, sorted, or shuffled with a seed, "
            "as in shuffled 3"
        )
    return value


def ordered(words: list[str], value: str) -> list[int]:
    """Of each place of the new text, where its word stands in the old one."""
    places = list(range(len(words)))
    if value == "reversed":
        return places[::-1]
    if value == "sorted":
        return sorted(places, key=lambda at: words[at].casefold())
    random.Random(int(value.split()[1])).shuffle(places)
    return places


def _why_not(side: Side) -> str:
    if side.model.made_of() is None:
        return f"{side.model.name!r} reads no words to reorder; open a model of texts"
    if side.model.by_first_use:
        return (
            f"{side.model.name!r} makes vectors from the order of words, so another order would change them; "
            "open a trained model"
        )
    if len(side.text.split()) < 2:
        return f"the text {side.text[:40]!r} has no two words to change places; give a longer one"
    return ""


def _turned(side: Side, value: str) -> Side:
    words = side.text.split()
    order = ordered(words, value)
    return replace(side, text=" ".join(words[at] for at in order), order=tuple(order))


KNOB = Knob(
    **words_of("order"),
    own=lambda model: TYPED,
    values=lambda model: (TYPED, "reversed", "sorted", "shuffled 0", "shuffled 1", "shuffled 2"),
    read=_read,
    why_not=_why_not,
    turned=_turned,
)
