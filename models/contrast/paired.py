"""How the tokens of two sides are aligned: token by token, by characters, or by the words' order."""

from __future__ import annotations

from collections.abc import Sequence

from models.contrast.aligned import Aligned, Pairs, align, bare, by_place
from models.contrast.characters import align_by_characters, words_of
from models.contrast.side import Side
from models.data.tasks import Reading
from models.zoo.model import Model

Order = tuple[int, ...] | None


MATCHED = 0.5
"""The share of the shorter text's tokens that must be the other's for two vocabularies to be aligned."""


def paired(sides: tuple[Side, Side], readings: tuple[Reading, Reading]) -> tuple[dict[str, Aligned], str]:
    """The tokens of the encoder, and of the decoder, of those that both sides have; and a sentence on what
    is left out, where tokens of two vocabularies do not fit.

    Raises ValueError where nothing is left.
    """
    a, b = (reading.tokens for reading in readings)
    common = [name for name in a if name in b]
    if not common:
        raise ValueError(
            f"{sides[0].reader.name!r} reads this in its {next(iter(a))}, {sides[1].reader.name!r} in its "
            f"{next(iter(b))}, so no two attentions are of one kind; choose two models of one kind"
        )
    found, left_out = {}, []
    for name in common:
        try:
            found[name] = _aligned(sides, (a[name], b[name]), moved=name == common[0])
        except ValueError as error:
            left_out.append(f"The {name}'s tokens: {error}.")
    if not found:
        raise ValueError(left_out[0].removesuffix("."))
    return found, " ".join(left_out)


def _aligned(
    sides: tuple[Side, Side], tokens: tuple[Sequence[str], Sequence[str]], *, moved: bool
) -> Aligned:
    """The tokens of one stack; moved: it reads the text, whose words may stand in another order."""
    a, b = tokens
    orders, loose = (sides[0].order, sides[1].order), False
    if a == b:
        pairs: Pairs = [(at, at) for at in range(len(a))]
    elif moved and orders != (None, None):
        pairs = _by_order(tokens, (sides[0].text, sides[1].text), orders)
    elif one_vocabulary(sides[0].reader, sides[1].reader):
        pairs = align(a, b)
    else:
        pairs, loose = _of_two_vocabularies(a, b), True
    return Aligned(tuple(a), tuple(b), tuple(pairs), loose)


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
    keys = [_keyed(each, text, order) for each, text, order in zip(tokens, texts, orders, strict=True)]
    if keys[0] is None or keys[1] is None:
        keys = [_counted(each) for each in tokens]
    assert keys[0] is not None and keys[1] is not None
    where = {key: at for at, key in enumerate(keys[1])}
    return by_place([where.get(key) for key in keys[0]], len(tokens[1]))


def _keyed(tokens: Sequence[str], text: str, order: Order) -> list[object] | None:
    """What tells each token: the word as the text had it before its words were moved, and the part of it."""
    found = words_of(tokens, text)
    if found is None:
        return None
    keys: list[object] = []
    seen: dict[str, int] = {}
    for token, place in zip(tokens, found, strict=True):
        if place is None:
            seen[token] = seen.get(token, 0) + 1
            keys.append((token, seen[token]))
        else:
            word, part = place
            keys.append((word if order is None else order[word], part))
    return keys


def _counted(tokens: Sequence[str]) -> list[object]:
    seen: dict[str, int] = {}
    keys: list[object] = []
    for token in tokens:
        seen[token] = seen.get(token, 0) + 1
        keys.append((token, seen[token]))
    return keys
