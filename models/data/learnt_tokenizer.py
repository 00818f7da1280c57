"""Learns a tokenizer from a text (characters, byte pairs or word pieces), and keeps it as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Int
from pydantic import TypeAdapter, ValidationError
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from torch import Tensor

# Bytes as letters, so that byte pairs are texts, too (Radford et al. 2019, 2.2).


def _bytes_as_characters() -> dict[int, str]:
    """GPT-2's table: printable bytes are themselves, the others the code points from 256 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + at) for at, b in enumerate(others)}


BYTES = _bytes_as_characters()
"""The letter that stands for each byte."""
BYTE_OF = {character: byte for byte, character in BYTES.items()}


def bytes_of(token: str) -> bytes:
    """The bytes that a token of such letters stands for."""
    return bytes(BYTE_OF[character] for character in token)


def label_of(token: str) -> str:
    """A token as a person reads it: its text, or where it is a part of a letter, its bytes."""
    try:
        return bytes_of(token).decode()
    except UnicodeDecodeError:
        return re.sub("..", r"⟨\g<0>⟩", bytes_of(token).hex().upper())


Kind = Literal["characters", "bpe", "wordpiece"]
MAX_VOCABULARY = 50_000
"""Of a file, and of what is learnt: each token is a row of the model's weights."""
_MAX_TOKEN = 400  # characters; merging stops long before
_MAX_ALPHABET = 2_000  # different characters that word pieces begin with
_PIECE = 1 << 17  # characters tokenized at once
MAX_LEARNT_FROM = 5_000_000
"""Characters of a text from which pieces are learnt: that takes seconds, whatever the text is."""
_LONGEST_WORD = 100  # characters; learning from longer ones takes minutes, and WordPiece reads none of them
_LONG = re.compile(rf"\S{{{_LONGEST_WORD}}}(?=\S)")
INSIDE = "##"  # in front of a piece that does not begin a word (Devlin et al. 2019)


class _Kept(NamedTuple):
    kind: Kind
    vocabulary: list[str]
    n_specials: int
    unknown_id: int | None
    merges: list[tuple[str, str]]


class LearntTokenizer:
    """Text to ids and back; `vocabulary` gives the ids by its order, and its first `n_specials` stand for no
    text.

    Characters and word pieces read what they do not know as `unknown_id`; byte pairs know everything. Byte
    pairs write their bytes as GPT-2 does (Radford et al. 2019, 2.2), word pieces mark those inside a word.
    Raises ValueError for an impossible vocabulary.
    """

    def __init__(
        self,
        kind: Kind,
        vocabulary: Sequence[str],
        *,
        n_specials: int,
        unknown_id: int | None = None,
        merges: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.kind, self.vocabulary, self.merges = kind, tuple(vocabulary), tuple(merges)
        self.n_specials, self.unknown_id = n_specials, unknown_id
        self._check()
        self._ids = {token: id_ for id_, token in enumerate(self.vocabulary)}
        if len(self._ids) != len(self.vocabulary):
            twice = next(token for id_, token in enumerate(self.vocabulary) if self._ids[token] != id_)
            raise ValueError(f"the vocabulary has {twice[:40]!r} more than once; keep one of them")
        self._library = None if kind == "characters" else self.library(specials=False)

    @classmethod
    def characters(cls, *texts: str, specials: Sequence[str] = ("<unk>",)) -> LearntTokenizer:
        """All characters of texts, by their code points. The last special reads unknown ones."""
        # piece by piece: other threads come to their turn between two
        letters: set[str] = set()
        for text in texts:
            for start in range(0, len(text), _PIECE):
                letters.update(text[start : start + _PIECE])
        vocabulary = [*specials, *sorted(letters)]
        return cls("characters", vocabulary, n_specials=len(specials), unknown_id=len(specials) - 1)

    @classmethod
    def bpe(cls, texts: Iterable[str], size: int, *, specials: Sequence[str] = ()) -> LearntTokenizer:
        """At most `size` tokens: all bytes, and the pairs that are merged (Sennrich et al. 2016).

        They are counted in the first `MAX_LEARNT_FROM` characters.
        """
        least = 256 + len(specials)
        most = MAX_VOCABULARY
        if not least <= size <= most:
            raise ValueError(f"{size} byte pairs make no vocabulary; give {least} (all bytes) to {most:,}")
        library = Tokenizer(models.BPE())
        library.pre_tokenizer = byte_rules()
        trainer = trainers.BpeTrainer(
            vocab_size=size - len(specials),
            initial_alphabet=sorted(BYTES.values()),
            max_token_length=_LONGEST_WORD,
            show_progress=False,
        )
        library.train_from_iterator(_first(texts), trainer)
        merged = library.get_vocab()
        vocabulary = [*specials, *sorted(merged, key=merged.__getitem__)]
        return cls("bpe", vocabulary, n_specials=len(specials), merges=_merges_of(library))

    @classmethod
    def wordpiece(
        cls, texts: Iterable[str], size: int, *, specials: Sequence[str], unknown_id: int
    ) -> LearntTokenizer:
        """At most `size` lower-case words and parts of words; `unknown_id` is one of the specials.

        They are counted in the first `MAX_LEARNT_FROM` characters.
        """
        most = MAX_VOCABULARY
        if not len(specials) < size <= most:
            raise ValueError(f"{size} word pieces make no vocabulary; give {len(specials) + 1} to {most:,}")
        library = Tokenizer(models.WordPiece(unk_token=specials[unknown_id]))
        library.normalizer, library.pre_tokenizer = word_rules()
        texts = list(_first(texts))
        counts = Counter(chain.from_iterable(library.normalizer.normalize_str(text) for text in texts))
        letters = sorted(c for c, _ in counts.most_common(_MAX_ALPHABET) if not c.isspace())
        # given in order, their ids and which of two equal pairs is merged are always the same
        first = [*letters, *(INSIDE + letter for letter in letters)]
        trainer = trainers.WordPieceTrainer(
            vocab_size=max(size - len(specials), len(first)), special_tokens=first, show_progress=False
        )
        library.train_from_iterator((_LONG.sub(r"\g<0> ", text) for text in texts), trainer)
        pieces = library.get_vocab()
        vocabulary = [*specials, *sorted(pieces, key=pieces.__getitem__)]
        return cls("wordpiece", vocabulary, n_specials=len(specials), unknown_id=unknown_id)

    @classmethod
    def from_json(cls, values: Any, specials: Sequence[str] = ()) -> LearntTokenizer:
        """The tokenizer that `to_json` wrote, whose vocabulary begins with `specials`. Raises ValueError for
        anything else.
        """
        try:
            tokenizer = cls(**TypeAdapter(_Kept).validate_python(values)._asdict())
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"][:1])) or "entries"
            raise ValueError(f"the tokenizer has no valid {where!r}; give what to_json returned") from None
        if tokenizer.vocabulary[: len(specials)] != tuple(specials):
            raise ValueError(f"the tokenizer begins without {specials[0]}; give what learnt returned")
        return tokenizer

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "vocabulary": list(self.vocabulary),
            "n_specials": self.n_specials,
            "unknown_id": self.unknown_id,
            "merges": [list(pair) for pair in self.merges],
        }

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """Text to ids, never those of special tokens but the unknown one's."""
        if self._library is None:
            unknown = cast(int, self.unknown_id)
            ids = (self._ids.get(character, unknown) for character in text)
            return [id_ if id_ >= self.n_specials else unknown for id_ in ids]
        return list(self._library.encode(text, add_special_tokens=False).ids)

    def tensor(self, text: str) -> Int[Tensor, "token"]:
        """The ids of a long text, piece by piece; pieces end where a line does."""
        if self.kind == "characters":
            return torch.from_numpy(self._characters(text))
        ids = [torch.tensor(self.encode(piece), dtype=torch.int32) for piece in _pieces(text)]
        return torch.cat([torch.zeros(0, dtype=torch.int32), *ids])

    def decode(self, ids: Iterable[int]) -> str:
        """Ids to text, without special tokens but the unknown one's; bytes that are no text become U+FFFD."""
        tokens = [self.vocabulary[i] for i in ids if i >= self.n_specials or i == self.unknown_id]
        if self.kind == "characters":
            return "".join(tokens)
        if self.kind == "bpe":
            return bytes_of("".join(tokens)).decode(errors="replace")
        return "".join(t.removeprefix(INSIDE) if _is_inside(t) else " " + t for t in tokens).removeprefix(" ")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What a person reads for each id: a byte pair's text, or its bytes where they are no whole text."""
        if self.kind != "bpe":
            return self.vocabulary
        names = [label_of(token) for token in self.vocabulary[self.n_specials :]]
        return (*self.vocabulary[: self.n_specials], *names)

    @cached_property
    def n_characters(self) -> Int[Tensor, "vocabulary"]:
        """How many characters begin in each token: summed over a text, all its characters."""
        # All bytes but UTF-8's continuations.
        return self._counted(lambda raw: sum(byte & 0xC0 != 0x80 for byte in raw))

    @cached_property
    def n_bytes(self) -> Int[Tensor, "vocabulary"]:
        """How many bytes of UTF-8 each token stands for; 1 for an unknown one."""
        return self._counted(len)

    def _counted(self, count: Callable[[bytes], int]) -> Tensor:
        own = self.vocabulary[self.n_specials :]
        bpe = self.kind == "bpe"
        raws = (bytes_of(t) if bpe else t.removeprefix(INSIDE).encode("utf-8", "surrogatepass") for t in own)
        counts = [0] * self.n_specials + list(map(count, raws))
        if self.unknown_id is not None:
            counts[self.unknown_id] = 1
        return torch.tensor(counts)

    def _characters(self, text: str) -> np.ndarray:
        known = {ord(token): id_ for token, id_ in self._ids.items() if id_ >= self.n_specials}
        table = np.full(max(known, default=0) + 2, self.unknown_id, dtype=np.int32)
        table[list(known)] = list(known.values())
        ids = np.empty(len(text), dtype=np.int32)
        for start in range(0, len(text), _PIECE):
            points = np.frombuffer(text[start : start + _PIECE].encode("utf-32-le"), dtype=np.uint32)
            ids[start : start + _PIECE] = table[np.minimum(points, len(table) - 1)]
        return ids

    def _check(self) -> None:
        n, rest = len(self.vocabulary), self.vocabulary[self.n_specials :]
        if not 1 <= n <= MAX_VOCABULARY or not 0 <= self.n_specials <= n:
            raise ValueError(
                f"{n:,} tokens, {self.n_specials} of them special, make no vocabulary; "
                f"give 1 to {MAX_VOCABULARY:,}, or choose bpe, which needs fewer"
            )
        if not all(0 < len(token) <= _MAX_TOKEN for token in self.vocabulary):
            raise ValueError(
                f"a vocabulary's tokens are texts of 1 to {_MAX_TOKEN} characters; train it again"
            )
        if self.kind != "bpe" and (self.unknown_id is None or not 0 <= self.unknown_id < self.n_specials):
            raise ValueError(
                f"unknown_id={self.unknown_id!r} is no special token; give 0 to {self.n_specials - 1}"
            )
        if self.kind == "characters" and any(len(token) != 1 for token in rest):
            raise ValueError("a vocabulary of characters has longer tokens; choose bpe for those")
        if self.kind == "bpe" and not set("".join(rest)) <= BYTE_OF.keys():
            raise ValueError("a vocabulary of byte pairs has other signs than bytes; train it again")

    def library(self, *, specials: bool) -> Tokenizer:
        """The library's tokenizer: built from parts, so that nothing else of a file is ever read.

        specials: a special token that is typed counts as one, and is no text. Raises ValueError for tokens
        that make none.
        """
        ids = {token: id_ for token, id_ in self._ids.items() if specials or id_ >= self.n_specials}
        unknown = "" if self.unknown_id is None else self.vocabulary[self.unknown_id]
        try:
            if self.kind == "characters":
                library = Tokenizer(models.WordLevel(ids, unk_token=unknown))
                library.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
                library.decoder = decoders.Fuse()
            elif self.kind == "bpe":
                library = Tokenizer(models.BPE(vocab=ids, merges=list(self.merges)))
                library.pre_tokenizer, library.decoder = byte_rules(), decoders.ByteLevel()
            else:
                ids[unknown] = cast(int, self.unknown_id)
                library = Tokenizer(models.WordPiece(vocab=ids, unk_token=unknown))
                library.normalizer, library.pre_tokenizer = word_rules()
                library.decoder = decoders.WordPiece(prefix=INSIDE, cleanup=False)
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(
                f"a tokenizer of kind {self.kind!r} cannot be built: {error}; train it again"
            ) from None
        if specials:
            library.add_special_tokens(list(self.vocabulary[: self.n_specials]))
        return library


def byte_rules() -> pre_tokenizers.PreTokenizer:
    """Words as bytes; longer ones are cut, because the time that merging takes grows with their square."""
    rules = [pre_tokenizers.ByteLevel(add_prefix_space=False), pre_tokenizers.FixedLength(_LONGEST_WORD)]
    return pre_tokenizers.Sequence(rules)


def word_rules() -> tuple[normalizers.Normalizer, pre_tokenizers.PreTokenizer]:
    """Lower case, and each sign a word of its own (a typed apostrophe is a straight one)."""
    rules = [normalizers.NFC(), normalizers.Lowercase(), normalizers.Replace("’", "'")]
    return normalizers.Sequence(rules), pre_tokenizers.BertPreTokenizer()


def _merges_of(library: Tokenizer) -> list[tuple[str, str]]:
    return [(first, second) for first, second in json.loads(library.to_str())["model"]["merges"]]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + _PIECE) + 1 or start + _PIECE
        yield text[start:end]
        start = end


def lines_of(text: str) -> Iterator[str]:
    """The lines of a long text with their ends, as they are asked for."""
    return chain.from_iterable(piece.splitlines(keepends=True) for piece in _pieces(text))


def _first(texts: Iterable[str]) -> Iterator[str]:
    """As many of the texts as there is time to learn from; the last of them is cut."""
    room = MAX_LEARNT_FROM
    for text in texts:
        yield text[:room]
        room -= len(text)
        if room <= 0:
            return


def _is_inside(token: str) -> bool:
    return token.startswith(INSIDE) and len(token) > len(INSIDE)
