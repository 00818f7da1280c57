"""Which characters of a text each token covers, whatever the tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from models.contrast.aligned import Pairs, bare, by_place


def align_by_characters(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """Tokens of two tokenizers that begin at the same character of one text, in order; special tokens that
    stand before the same character one to one; all others in gaps. Exchanging the sides exchanges the pairs.

    Raises ValueError where the tokens do not cover the same characters.
    """
    if "".join(map(bare, a)) != "".join(map(bare, b)):
        raise ValueError(
            "the two models cut texts into different tokens, and these do not cover the same characters; "
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
    found: list[tuple[int, int] | None] = []
    word, inside = 0, 0
    for token in tokens:
        covers = bare(token)
        if not covers or word == len(words) or not words[word].startswith(covers, inside):
            found.append(None)
            continue
        found.append((word, inside))
        inside += len(covers)
        if inside == len(words[word]):
            word, inside = word + 1, 0
    return found if word == len(words) else None
