"""How the tokens of two readings are aligned: token by token, by characters, or by the words' order."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..data.alignment import Pair, Pairs, align
from ..data.tasks import Reading
from ..zoo.model import Model
from .side import Side

_SPECIAL = re.compile(r"<[^<>\s]*>|\[[A-Z]+\d*\]")
"""Tokens that stand for no character, such as <eos> or [CLS], as every tokenizer here writes them."""


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


def align_by_characters(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """Tokens of two tokenizers that begin at the same character of one text, in order; special tokens that
    stand before the same character one to one; all others in gaps. Exchanging the sides exchanges the pairs.

    Raises ValueError where the tokens do not cover the same characters.
    """
    if "".join(map(bare, a)) != "".join(map(bare, b)):
        raise ValueError(
            "the two models cut texts into tokens of different characters; "
            "give a text that both read as it stands, or choose two models with one vocabulary"
        )
    if (len(a), tuple(a)) > (len(b), tuple(b)):
        return [(i, j) for j, i in align_by_characters(b, a)]
    begins = {place: j for j, place in enumerate(_places(b))}
    return by_place([begins.get(place) for place in _places(a)], len(b))


def _places(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """The character at which each token begins, and 0; of a special one its number there, from 1."""
    places: list[tuple[int, int]] = []
    at, n_special = 0, 0
    for token in tokens:
        covered = len(bare(token))
        n_special = 0 if covered else n_special + 1
        places.append((at, n_special))
        at += covered
    return places


def words_of(tokens: Sequence[str], text: str) -> list[tuple[int, int] | None] | None:
    """For each token the word of the text that it belongs to, and where in the word it begins; None for one
    of no word. None at all where the tokens cannot be found in the text.
    """
    words = ["".join(word.split()).casefold() for word in text.split()]
    places: list[tuple[int, int] | None] = []
    word, inside = 0, 0
    for token in tokens:
        covers = bare(token)
        if not covers or word == len(words) or not words[word].startswith(covers, inside):
            places.append(None)
            continue
        places.append((word, inside))
        inside += len(covers)
        if inside == len(words[word]):
            word, inside = word + 1, 0
    return places if word == len(words) else None


Order = tuple[int, ...] | None
MATCHED = 0.5
"""The share of the shorter text's tokens that must be the other's for two vocabularies to be aligned."""


def align_sides(
    sides: tuple[Side, Side], readings: tuple[Reading, Reading]
) -> tuple[dict[str, Aligned], str]:
    """The tokens of the encoder, and of the decoder, of those that both sides have; and a sentence on what
    is left out, where tokens of two vocabularies do not fit.

    Raises ValueError where nothing is left.
    """
    a, b = (reading.tokens for reading in readings)
    common = [name for name in a if name in b]
    if not common:
        raise ValueError(
            f"{sides[0].reader.name!r} reads this in its {next(iter(a))}, {sides[1].reader.name!r} in its "
            f"{next(iter(b))}; choose two models of one kind"
        )
    aligned, left_out, orders = dict[str, Aligned](), [], (sides[0].order, sides[1].order)
    for name in common:
        words, others, loose = a[name], b[name], False
        if words == others:
            pairs: Pairs = [(at, at) for at in range(len(words))]
        elif name == common[0] and orders != (None, None):  # it reads the text, whose words were moved
            pairs = _by_order((words, others), (sides[0].text, sides[1].text), orders)
        elif one_vocabulary(sides[0].reader, sides[1].reader):
            pairs = align(words, others)
        else:
            try:
                pairs, loose = _of_two_vocabularies(words, others), True
            except ValueError as error:
                left_out.append(f"The {name}'s tokens: {error}.")
                continue
        aligned[name] = Aligned(tuple(words), tuple(others), tuple(pairs), loose)
    if not aligned:
        raise ValueError(left_out[0].removesuffix("."))
    return aligned, " ".join(left_out)


def one_vocabulary(a: Model, b: Model) -> bool:
    """Whether two models have the same tokens; those of pictures and of handed-in tensors have no others."""
    if a is b:
        return True
    alphabets = (a.made_of(), b.made_of())
    if alphabets[0] is None or alphabets[1] is None:
        return alphabets[0] is alphabets[1]
    return list(alphabets[0].names) == list(alphabets[1].names)


def _of_two_vocabularies(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """By the characters of one text; of two texts by tokens that say the same, if enough of them do."""
    try:
        return align_by_characters(a, b)
    except ValueError:
        pairs = align(words := list(map(bare, a)), others := list(map(bare, b)))
        same = sum(i is not None and j is not None and words[i] == others[j] != "" for i, j in pairs)
        if same < MATCHED * min(len(a), len(b)):
            raise
        return pairs


def _by_order(
    tokens: tuple[Sequence[str], Sequence[str]], texts: tuple[str, str], orders: tuple[Order, Order]
) -> Pairs:
    """Each token beside the same part of the same word, wherever the word stands by now; special tokens in
    their order. Where the tokens cannot be found in the words, the n-th of a label is beside the n-th.
    """
    words = [words_of(each, text) for each, text in zip(tokens, texts, strict=True)]
    places = [each for each in words if each is not None]
    if len(places) < 2:
        places = [[None] * len(each) for each in tokens]
    keys = [_keyed(*each) for each in zip(tokens, places, orders, strict=True)]
    where = {key: at for at, key in enumerate(keys[1])}
    return by_place([where.get(key) for key in keys[0]], len(tokens[1]))


def _keyed(
    tokens: Sequence[str], places: Sequence[tuple[int, int] | None], order: Order
) -> list[tuple[str | int, int]]:
    """What tells each token: the word as the text had it before its words were moved, and the part of it; of
    one of no word its label, and how many such there are up to it.
    """
    keys, counts = list[tuple[str | int, int]](), Counter[str]()
    for token, place in zip(tokens, places, strict=True):
        if place is None:
            counts[token] += 1
            keys.append((token, counts[token]))
        else:
            word, part = place
            keys.append((word if order is None else order[word], part))
    return keys
