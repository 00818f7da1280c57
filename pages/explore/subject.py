"""What a trace will cost in floating-point operations, before its model is made or its text is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, cast

from attention_lab.models.config import ModelConfig
from attention_lab.models.data.grammar.annotations import nouns_of
from attention_lab.models.data.tasks import Reading
from attention_lab.models.data.word_tokenizer import PRONOUNS, SPECIALS, UNK, Unknown
from attention_lab.models.engine.address import attention_at, sides_of
from attention_lab.models.engine.size import trace_operations
from attention_lab.models.interventions.edit import named_numbers
from attention_lab.models.zoo.catalogue import DEFAULT, MAX_UNTRAINED_WORDS, ZERO_IS_NONE, offer_of, offers
from attention_lab.models.zoo.model import Attention, Model
from attention_lab.models.zoo.own_attention import SHOWN_TOKENS
from attention_lab.pages.explore.state import Inputs, settings_of
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.work import check_price
from attention_lab.viz_core.labels import visible

if TYPE_CHECKING:
    from attention_lab.models.interventions.edit import Edit

REFERENCES = 16
"""Texts that a model brings with it, about."""
PER_CELL = 1_500
"""Operations that take about as long as editing one cell of a pattern, which goes through memory often."""
NAMES = [spec.name for spec in fields(ModelConfig)]


def operations_of(inputs: Inputs) -> int:
    """The floating-point operations of `inputs`: too many where a tokenizer joins letters, 0 where they are
    impossible, nothing is read, or the model's sizes are not known.
    """
    offer, config = offer_of(inputs.model) or offers()[DEFAULT], config_of(inputs)
    if config is None:
        return 0

    def operations(text: str) -> int:
        return trace_operations(config, [tokens_of(inputs, config, text)] * len(config.stacks))

    passes = sum(count * operations(text) for text, count in texts_of(inputs, offer.text))
    patterns = [edit.place for edit in edits_of(inputs) if edit.place.kind == "pattern"]
    heads = sum(config.n_heads if place.heads is None else len(place.heads) for place in patterns)
    return passes + PER_CELL * heads * tokens_of(inputs, config, inputs.text) ** 2


def config_of(inputs: Inputs) -> ModelConfig | None:
    """What is known of the model's sizes; None where they are impossible, unknown, or nothing is read."""
    offer = offer_of(inputs.model) or offers()[DEFAULT]
    if offer.reads == "nothing":
        return None
    most = MAX_UNTRAINED_WORDS
    untrained = {"kind": "encoder-only", "vocab_size": most + 1, "max_len": most + 3}
    sizes: dict[str, Any] = untrained | offer.sizes | inputs.settings
    sizes |= {name: sizes.get(name) or None for name in ZERO_IS_NONE} | {"attention_scale": True}
    try:
        return ModelConfig(**{name: sizes[name] for name in NAMES if name in sizes})
    except (TypeError, ValueError):
        return None


def tokens_of(inputs: Inputs, config: ModelConfig, text: str) -> int:
    """The tokens of a text, at most: a trained model may read letters, and a picture's number says nothing
    of its size.
    """
    offer = offer_of(inputs.model) or offers()[DEFAULT]
    n_read = len(text) + 2 if offer.sizes else len(text.split())
    return config.max_len if "picture" in offer.reads else min(n_read, config.max_len)


def edits_of(inputs: Inputs) -> list[Edit]:
    """What is edited; nothing where it is no edit, which is refused before the pass."""
    if not inputs.edits.strip():
        return []
    from attention_lab.models.interventions.edit import read_edits  # torch is needed only now

    try:
        return read_edits(inputs.edits)
    except ValueError:
        return []


def texts_of(inputs: Inputs, reference: str = "") -> list[tuple[str, int]]:
    """The texts that are traced for a figure, and how often: with edits its own twice, and each that they
    name. reference: what stands for one of the model's own texts.
    """
    changes = [edit.change for edit in edits_of(inputs)]
    if not changes:
        return [(inputs.text, 1)]
    others = dict.fromkeys((text, change.aligned) for change in changes for text in change.texts)
    references = REFERENCES if any(change.of_reference for change in changes) else 0
    return [(inputs.text, 2), *((text, 1) for text, _ in others), (reference or inputs.text, references)]


def passes_of(inputs: Inputs) -> int:
    """As many traces of the inputs' own text as take about as long as all that a figure needs."""
    own = max(1, len(inputs.text))
    return sum(count * max(1, ceil(len(text) / own)) for text, count in texts_of(inputs))


# What Explore looks at: a model, what it has read, and the run that fills a trace.
# Everything here runs on the inference thread, because it imports torch.

MAX_LABEL = 40
WRITES = {"translate", "answer", "continue"}
"""Abilities of models that write."""
MASK = "[MASK]"
LIGHTER = "a model with larger patches, or of smaller pictures"
"""What helps where a picture costs too much: nobody can give fewer of its patches."""
STACK_TITLES = {"encoder.self": "Encoder self", "decoder.self": "Decoder self", "decoder.cross": "Cross"}
ONLY_TITLES = dict.fromkeys(STACK_TITLES, "Self-attention") | {"decoder.cross": "Cross-attention"}
"""The title of the one family of attentions that a model has."""
_SPECIAL = re.compile(r"\[[A-Z]+\]|</?\w+>|<\|[\w-]+\|>")
_PRONOUNS = ("ils", "elles", "il", "elle", "they", "it")


@dataclass(frozen=True)
class Stack:
    """One family of attention matrices [layer, head, query, key] and whose tokens are on its axes."""

    id: str
    title: str
    query_side: str
    key_side: str
    n_query: int
    n_key: int
    attention: Attention

    @property
    def n_layers(self) -> int:
        return self.attention.n_layers

    @property
    def n_heads(self) -> int:
        return self.attention.n_heads

    @property
    def sharing(self) -> int:
        """How many query heads share one key head."""
        return self.attention.n_heads // self.attention.n_key_heads

    def address(self, layer: int) -> str:
        """Where a layer's attention is in a trace, such as encoder.0.self."""
        return attention_at(self.id, layer)

    def patterns(self) -> list[str]:
        """The addresses of the patterns of all layers."""
        return [f"{self.address(layer)}.pattern" for layer in self.attention.layers]


@dataclass(frozen=True)
class Subject:
    """A model that has read one text. names: of the logits' columns."""

    model: Model
    reading: Reading
    inputs: Inputs
    names: tuple[str, ...]

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        counts = {side: len(tokens) for side, tokens in self.reading.tokens.items()}
        names, stacks = self.model.stacks(tuple(counts)), []
        for name in names:
            title = (STACK_TITLES if len(names) > 1 else ONLY_TITLES)[name]
            query, key = sides_of(name)
            attention = self.model.attention(name)
            stacks.append(Stack(name, title, query, key, counts[query], counts[key], attention))
        return tuple(stacks)

    def stack(self, name: str) -> Stack:
        """The stack of a name, or the first where there is none."""
        return next((each for each in self.stacks if each.id == name), self.stacks[0])

    @cached_property
    def tokens(self) -> dict[str, list[dict[str, str]]]:
        """Tokens for the screen, their blanks visible; `raw` is what a file gets where that differs. What was
        read as <unk> is called that, whatever was typed.
        """
        unknown = {word.text for word in self.reading.unknown}

        def entry(token: str) -> dict[str, str]:
            if token in unknown:
                return {
                    "text": SPECIALS[UNK],
                    "typed": visible(token, max_length=MAX_LABEL),
                    "mark": "unknown",
                }
            text = token_text(token)
            special = {"mark": "special"} if _SPECIAL.fullmatch(token) else {}
            return {"text": text} | ({"raw": token} if text != token else {}) | special

        return {side: list(map(entry, tokens)) for side, tokens in self.reading.tokens.items()}

    def rows(self, stack: Stack) -> list[dict[str, str]]:
        """The tokens of a stack's queries; in cross-attention of a model that writes, each with what follows,
        as "la → rue": of attention that was handed in, nobody knows that.
        """
        tokens = self.tokens[stack.query_side]
        if stack.query_side == stack.key_side or not WRITES & set(self.model.abilities):
            return tokens
        after = [token["text"] for token in tokens[1:]] + [self.reading.following or ""]

        def row(token: dict[str, str], following: str) -> dict[str, str]:
            texts = {name: f"{token[name]} → {following}" for name in ("text", "raw") if name in token}
            return token | texts | {"next": following} if following else token

        return list(map(row, tokens, after))

    def run(self, reduce: Callable[[str, Any], Any] | None) -> Any:
        """The trace, with its edits. Raises ValueError for edits that do not fit."""
        if not self.inputs.edits:
            return self.model.trace(self.reading, reduce=reduce)
        edits, settings = self.inputs.edits, self.inputs.reading  # which other texts are read with, too
        return self.model.trace(self.reading, reduce=reduce, edits=edits, **settings)

    def logits(self) -> Any:
        """The logits alone of the trace, with its edits."""
        return self.run(lambda address, tensor: tensor if address == "logits" else None)["logits"]

    @property
    def is_random(self) -> bool:
        """Whether nothing trained the weights: then a head has no habit, whatever its numbers look like."""
        return any(each.builds and not each.trained for each in settings_of(self.inputs.model))

    @property
    def unedited(self) -> "Subject":
        """The same without edits."""
        return replace(self, inputs=self.inputs.unedited)

    @property
    def note(self) -> str:
        """What is to be known of these attentions: what is missing, and which heads share keys and values."""
        shared = {stack.sharing for stack in self.stacks if stack.sharing > 1}
        notes = [f"{n} neighbouring query heads share one head of keys and values." for n in sorted(shared)]
        for numbers in {stack.attention.layers for stack in self.stacks}:
            if numbers != tuple(range(len(numbers))):
                notes.append(f"Only layers {named_numbers(numbers)} have attention.")
        notes += dict.fromkeys(stack.attention.note for stack in self.stacks)
        return " ".join(note for note in (self.model.note, *notes) if note)

    @property
    def code(self) -> str:
        """The lines that give the same trace in a notebook."""
        edits = self.inputs.edits.splitlines()
        return self.model.code(self.inputs.text, **({"edits": edits} if edits else {}), **self.inputs.reading)

    def following(self, at: int, likeliest: str) -> str | None:
        """The token after a decoder's token. After the last one, an answer goes on with the likeliest token,
        and a text has no next word yet.
        """
        tokens = self.reading.tokens["decoder"]
        if at + 1 < len(tokens):
            return token_text(tokens[at + 1])
        return self.reading.following or (None if "continue" in self.model.abilities else likeliest)

    @cached_property
    def extras(self) -> dict[str, Any]:
        """The entries of the header that the stage gets unchanged."""
        reading, pooled = self.reading, self.model.pooled
        computed = self.model.addresses()
        return {
            "editable": bool(computed),
            "feeds": any(address.endswith(".ff.out") for address in computed),
            "writes": bool(computed) and bool(WRITES & set(self.model.abilities)),
            "scored": self.model.scored,
            "random": self.is_random,
            "stepNote": self.model.step_note,
            **({"see": self.model.see} if self.model.see else {}),
            **({"pooled": pooled} if pooled else {}),
            **(
                {"translation": _parts(reading.answer, bool(self.pronouns)), "typed": reading.forced}
                if reading.answer
                else {}
            ),
        }

    @property
    def unknown(self) -> list[dict[str, Any]]:
        """The different words that the model does not know, with the nearest ones that it does."""
        first: dict[tuple[str, str], Unknown] = {}
        for word in self.reading.unknown:
            first.setdefault((word.where, word.text), word)
        words = map(asdict, first.values())
        return [{**word, "word": word.pop("text")[:MAX_LABEL]} for word in words]

    def antecedents(self, trace: Any) -> list[dict[str, Any]] | None:
        nouns = self.model.antecedents(trace)
        return None if nouns is None else [noun._asdict() for noun in nouns]

    @property
    def reads_picture(self) -> bool:
        """Whether positions are parts of a picture."""
        return self.reading.picture is not None and self.model.places() is not None

    def concluded(self, trace: Any) -> dict[str, Any]:
        """The picture that was read, what the model made of it, and which position read each part of it."""
        pictures, places = self.model.pictures(self.reading, trace), self.model.places()
        levels = [
            {"title": title, "levels": (255 * picture.clamp(0, 1)).round().byte().numpy()}
            for title, picture in pictures.items()
        ]
        read_by = {} if places is None else {"places": places.tolist()}
        return {"pictures": levels, **read_by} if levels else {}

    @property
    def focus(self) -> dict[str, int]:
        """The first masked word, since people want to see what the model predicts there; of a text to
        translate the first pronoun, since it means another word.
        """
        tokens = self.reading.tokens.get("encoder", [])
        if MASK in tokens:
            return {"query": tokens.index(MASK), "step": tokens.index(MASK)}
        return {"query": self.pronouns[0]} if self.pronouns else {}

    @property
    def asks(self) -> dict[str, dict[str, list[int]]]:
        """What is worth asking of a stack, as queries and keys: of a text to translate, which nouns its first
        pronoun looks at.
        """
        nouns = nouns_of(self.reading.tokens.get("encoder", []))
        return (
            {"encoder.self": {"queries": self.pronouns[:1], "keys": nouns}} if self.pronouns and nouns else {}
        )

    @property
    def pronouns(self) -> list[int]:
        """Where the pronouns of a text to translate stand: their translation depends on what they mean."""
        if "translate" not in self.model.abilities:
            return []
        return [at for at, token in enumerate(self.reading.tokens["encoder"]) if token in PRONOUNS]


def subject_of(inputs: Inputs) -> Subject:
    """The subject of `inputs`. Raises ValueError with a sentence where they are impossible."""
    model, offer = cache.model(inputs.model, inputs.settings), offer_of(inputs.model)
    key = (inputs.unedited, None if offer is None else offer.stamp)

    def read() -> tuple[Reading, int]:
        reading = model.read(inputs.text, **inputs.reading)
        return reading, 2 * len(inputs.text) + 200 * sum(map(len, reading.tokens.values())) + 1_000

    reading = cast(Reading, cache.cached(cache.results, ("reading", *key), read))
    passes, is_picture = passes_of(inputs), reading.picture is not None
    longest, most = max(map(len, reading.tokens.values())), SHOWN_TOKENS
    if longest > most:  # than the views have room for
        shorter = "shorten it, or open it on the page Long texts"
        kind, remedy = ("picture", f"open {LIGHTER}") if is_picture else ("text", shorter)
        raise ValueError(f"The {kind} has {longest:,} tokens; at most {most:,} are shown here; {remedy}.")
    subject = Subject(model, reading, inputs, model.names(reading))
    smaller = (
        "fewer layers or heads, or a smaller d_model or d_head" if subject.is_random else "or a smaller model"
    )
    cheaper = f"{'fewer texts in the edits, ' if passes > 2 else ''}{smaller}"  # beside fewer tokens
    check_price(model, reading, LIGHTER if is_picture else cheaper, passes=passes)
    return subject


@lru_cache(10_000)
def token_text(token: str) -> str:
    """A token, or the name of an output, for the screen; a word is shown whole, and as it was typed."""
    return token if token.split() == [token] and token.isprintable() else visible(token, max_length=MAX_LABEL)


def _parts(answer: str, marked: bool) -> list[dict[str, Any]]:
    """An answer in parts, so that its pronouns can stand out, where they are `marked`."""
    if not marked:
        return [{"text": answer, "strong": False}]
    parts = re.split(rf"\b({'|'.join(_PRONOUNS)})\b", answer)
    return [{"text": part, "strong": part in _PRONOUNS} for part in parts if part]
