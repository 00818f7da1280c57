"""Turns text into word ids and back, and suggests known words for one that is not known."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

PRONOUNS = (*("it", "they", "he", "she", "it's", "they're", "he's", "she's"), *("il", "elle", "ils", "elles"))


# Which known words look like one that is not known.

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


# Text to word ids and back.

PAD, BOS, EOS, UNK, TO_FRENCH, TO_ENGLISH = range(6)
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>", "<2fr>", "<2en>")

_PUNCTUATION = r"!-/:-@\[-`{-~"
# didn't and it's stay whole, l' and qu' are words of their own, signs stand alone, a run of emoji is one word
_WORD = Regex(
    rf"<unk>|\w+n't|\w+'(?:m|s|re)\b|\w+(?:-\w+)*'|\w+(?:-\w+)*|[{_PUNCTUATION}]|[^\w\s{_PUNCTUATION}]+"
)
_MAX_SUGGESTED_FOR = 20


@dataclass(frozen=True)
class Unknown:
    """A word that the vocabulary lacks, where it stands in the text, and the nearest words that it has (at
    most 3).

    Only the first 20 different unknown words of a text get suggestions, so that a huge paste stays quick.
    where: "text" or the setting that holds the word. end is 0 where nobody has noted the place.
    """

    text: str
    start: int = 0
    end: int = 0
    suggestions: list[str] = field(default_factory=list)
    where: str = "text"


@dataclass(frozen=True)
class Encoded:
    """Word ids, the words as typed or known, and where each stands in the text: [start, end)."""

    ids: list[int]
    tokens: list[str]
    spans: list[tuple[int, int]]
    unknown: list[Unknown]


class WordTokenizer:
    """Whole lower-case words; `vocabulary` gives the ids by its order and starts with the special words.

    Raises ValueError where it does not, or has a word twice.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = list(vocabulary)
        if tuple(self.vocabulary[: len(SPECIALS)]) != SPECIALS:
            raise ValueError(
                f"a vocabulary that starts with {self.vocabulary[: len(SPECIALS)]} lacks the special words; "
                f"start it with {list(SPECIALS)}"
            )
        self._ids = {word: index for index, word in enumerate(self.vocabulary)}
        if len(self._ids) != len(self.vocabulary):
            twice = next(word for i, word in enumerate(self.vocabulary) if self._ids[word] != i)
            raise ValueError(f"the vocabulary has {twice!r} more than once; keep one of them")
        self._tokenizer = Tokenizer(models.WordLevel(self._ids, unk_token=SPECIALS[UNK]))
        self._tokenizer.normalizer = normalizers.Sequence(
            [normalizers.NFC(), normalizers.Lowercase(), normalizers.Replace("’", "'")]
        )
        self._tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(_WORD, "isolated")]
        )

    def library(self) -> Tokenizer:
        """A copy of its own, of the library."""
        return Tokenizer.from_str(self._tokenizer.to_str())

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def id(self, word: str) -> int:
        """The id of a word as the vocabulary writes it; <unk> where it is not there."""
        return self._ids.get(word, UNK)

    def encode(self, text: str, *, among: Sequence[str] | None = None) -> Encoded:
        """Text to words. Adds no special word: a typed "<eos>" is three words. Only "<unk>", which `decode`
        may write, is one, so that a translation can be read again.

        among: the known words that may be suggested for an unknown one, such as those of the text's language;
        by default all.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans = [(start, _past_marks(text, end)) for start, end in encoding.offsets]
        ids = list(encoding.ids)
        tokens = [
            text[start:end] if id_ == UNK else word
            for id_, word, (start, end) in zip(ids, encoding.tokens, spans, strict=True)
        ]
        known = self.vocabulary[len(SPECIALS) :] if among is None else among
        suggestions: dict[str, list[str]] = {}
        unknown = []
        for id_, token, (start, end) in zip(ids, tokens, spans, strict=True):
            if id_ != UNK or token == SPECIALS[UNK]:
                continue
            if token not in suggestions and len(suggestions) < _MAX_SUGGESTED_FOR:
                suggestions[token] = alike(token, known)
            unknown.append(Unknown(token, start, end, suggestions.get(token, [])))
        return Encoded(ids, tokens, spans, unknown)

    def decode(self, ids: Sequence[int], *, language: str = "en") -> str:
        """Words to text: l'animal, a comma at its word, and in French a no-break space before "?".

        Special words are dropped, except <unk>, which must not vanish silently.
        """
        text = ""
        for id_ in ids:
            if id_ < len(SPECIALS) and id_ != UNK:
                continue
            word = self.vocabulary[id_]
            if word == "?" and language == "fr":
                text += "\N{NO-BREAK SPACE}" * bool(text) + word
            elif not text or text.endswith("'") or word in (",", ".", "?"):
                text += word
            else:
                text += " " + word
        return text


def _past_marks(text: str, end: int) -> int:
    """An accent typed as a sign of its own belongs to the letter before it."""
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end
