"""A trained translator in use: translate, trace, ask what its pronouns mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from models.config import ModelConfig
from models.data.pronouns import PRONOUNS
from models.data.tokenizers import BOS, EOS, PAD, SPECIALS, TO_ENGLISH, TO_FRENCH, Encoded, WordTokenizer
from models.engine.beam import BeamTree, beam_search
from models.engine.decoding import greedy
from models.engine.trace import Trace
from models.engine.transformer import Transformer

_SLACK = 8  # words that a translation may have beyond twice its source


@dataclass(frozen=True)
class Translation:
    """Words without <bos> and <eos>; `log_prob` (natural) of them and the end; `tree`: the beam's, if any."""

    text: str
    tokens: list[str]
    ids: list[int]
    log_prob: float
    tree: BeamTree | None


class Named(NamedTuple):
    """What the encoder says a pronoun means; positions count the encoder's tokens, <2fr> or <2en> included.

    `antecedent` is where the named word stands; None if it is not in the sentence, or is the pronoun itself.
    """

    position: int
    word: str
    probability: float
    antecedent: int | None


class LoadedModel:
    """A translator with its weights, its words and its card, ready to be asked."""

    def __init__(self, name: str, model: Transformer, tokenizer: WordTokenizer, card: dict[str, Any]) -> None:
        self.name = name
        self.model = model.eval()
        self.config: ModelConfig = model.config
        self.tokenizer = tokenizer
        self.card = card

    @property
    def max_words(self) -> int:
        """The longest text that it reads or writes, in words."""
        return self.config.max_len - 2

    def encode_source(self, text: str, *, direction: str = "en-fr") -> Encoded:
        """What the encoder reads: <2fr> or <2en>, the words, <eos>; special words' spans are empty.

        Raises ValueError for an unknown direction, a text without words, and more than `max_words`.
        """
        first = self._first_token(direction)
        words = self.tokenizer.encode(text)
        if not words.ids:
            raise ValueError("the text is empty; give at least one word")
        return self._framed(words, first, EOS, len(text))

    def decoder_tokens(self, target: str) -> Encoded:
        """What the decoder reads to write `target`: <bos> and the words; its last row predicts <eos>.

        Raises ValueError for more than `max_words`.
        """
        return self._framed(self.tokenizer.encode(target), BOS, None, len(target))

    @torch.no_grad()
    def translate(self, text: str, *, beam_width: int = 1, direction: str = "en-fr") -> Translation:
        """The likeliest translation ("en-fr" or "fr-en"); width 1 is greedy.

        Raises ValueError as `encode_source` and `beam_search` do.
        """
        source = torch.tensor([self.encode_source(text, direction=direction).ids])
        prefix = torch.tensor([[BOS]])
        room = min(2 * source.shape[1] + _SLACK, self.config.max_len - 1)
        tree = None
        if beam_width == 1:
            rows = greedy(self.model, prefix, source=source, eos_id=EOS, max_new_tokens=room)
            written = rows[0, 1:].tolist()
        else:
            tree = beam_search(
                self.model, prefix, source=source, width=beam_width, eos_id=EOS, max_new_tokens=room
            )
            written = tree.tokens()
        log_prob = self._log_prob(source, written)
        ids = [id_ for id_ in written if id_ != EOS]
        language = "fr" if direction == "en-fr" else "en"
        tokens = [self.tokenizer.vocabulary[id_] for id_ in ids]
        return Translation(self.tokenizer.decode(ids, language=language), tokens, ids, log_prob, tree)

    @torch.no_grad()
    def trace(
        self,
        text: str,
        target: str | None = None,
        *,
        beam_width: int = 1,
        direction: str = "en-fr",
        padding: int = 0,
        reduce: Callable[[str, Tensor], Any | None] | None = None,
    ) -> Trace:
        """All that the model computes when it reads `text` and writes `target` (None: its own translation).

        The decoder's tokens start with <bos>, and row t of the logits predicts token t + 1. `padding` <pad>
        follow the source, hidden from everybody as they would be in a batch. `reduce` as in `Trace`. Raises
        ValueError as `translate` does, for a target of more than `max_words` and for padding without room.
        """
        source = self.encode_source(text, direction=direction)
        self._check_padding(padding, len(source.ids))
        if target is None:
            own = self.translate(text, beam_width=beam_width, direction=direction)
            ids, tokens = [BOS, *own.ids], [SPECIALS[BOS], *own.tokens]
        else:
            forced = self.decoder_tokens(target)
            ids, tokens = forced.ids, forced.tokens
        trace = Trace(reduce)
        trace.tokens = {"encoder": source.tokens + [SPECIALS[PAD]] * padding, "decoder": tokens}
        self.model(torch.tensor([source.ids + [PAD] * padding]), torch.tensor([ids]), trace=trace)
        return trace

    @torch.no_grad()
    def antecedents(self, trace: Trace) -> list[Named]:
        """For each third-person pronoun of the source, the noun that the encoder's output there names.

        Reads `encoder.norm` through the output layer; raises KeyError if a `reduce` did not keep it.
        """
        tokens = trace.tokens["encoder"]
        ids = [self.tokenizer.id(token) for token in tokens]
        named = []
        for position, token in enumerate(tokens):
            if token not in PRONOUNS:
                continue
            probabilities = self.model.unembed(trace["encoder.norm"][position]).softmax(dim=-1)
            best = int(probabilities.argmax())
            found = ids.index(best) if best in ids and best != ids[position] else None
            word = self.tokenizer.vocabulary[best] if found is None else tokens[found]
            named.append(Named(position, word, probabilities[best].item(), found))
        return named

    def _check_padding(self, padding: int, length: int) -> None:
        room = self.config.max_len - length
        if not 0 <= padding <= room:
            raise ValueError(
                f"padding={padding} does not fit the {length} tokens; give 0 to {room}, or fewer words"
            )

    def _framed(self, words: Encoded, first: int, last: int | None, length: int) -> Encoded:
        if len(words.ids) > self.max_words:
            raise ValueError(
                f"the text has {len(words.ids):,} words, but this model reads at most {self.max_words:,}; "
                f"remove {len(words.ids) - self.max_words:,}"
            )
        end = [] if last is None else [last]
        return Encoded(
            [first, *words.ids, *end],
            [SPECIALS[first], *words.tokens, *(SPECIALS[id_] for id_ in end)],
            [(0, 0), *words.spans, *((length, length) for _ in end)],
            words.unknown,
        )

    def _log_prob(self, source: Tensor, written: list[int]) -> float:
        logits = self.model(source, torch.tensor([[BOS, *written[:-1]]]))[0]
        chosen = torch.tensor(written)[:, None]
        return logits.log_softmax(dim=-1).gather(1, chosen).sum().item()

    @staticmethod
    def _first_token(direction: str) -> int:
        if direction not in ("en-fr", "fr-en"):
            raise ValueError(f"direction={direction!r} is unknown; choose 'en-fr' or 'fr-en'")
        return TO_FRENCH if direction == "en-fr" else TO_ENGLISH
