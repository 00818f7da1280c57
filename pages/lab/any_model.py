"""Sentences that a lesson can show: no longer than its page has room for, and of words that are known."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from attention_lab.models.data.tasks import Reading
from attention_lab.models.data.tasks.translation import Translation
from attention_lab.models.data.word_tokenizer import Unknown
from attention_lab.models.engine.address import attention_at, sides_of
from attention_lab.models.fields import Rule, characters, checked, one_of, setting, whole
from attention_lab.models.interventions.edit import named_numbers
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.models.zoo.model import Attention, Model
from attention_lab.pages.lab.lesson import Columns, Own
from attention_lab.pages.shared import cache, model_field, on_offer
from attention_lab.pages.shared.state import State
from attention_lab.pages.shared.work import check_price

Translator = TrainedModel[Translation]


def check_length(n_words: int, most: int) -> None:
    """Raises ValueError for a sentence without words, and for one with more than a page draws."""
    if not n_words:
        raise ValueError("The sentence is empty; type at least one word.")
    if n_words > most:
        raise ValueError(
            f"The sentence has {n_words} words; at most {most} are drawn; remove {n_words - most}."
        )


def check_known(unknown: list[Unknown], n_words: int) -> None:
    """Raises ValueError that names the first unknown word and the nearest known ones."""
    if unknown:
        first = unknown[0]
        near = f"; try {' or '.join(first.suggestions)}" if first.suggestions else "; choose another word"
        raise ValueError(f"The translator's {n_words:,} words do not include “{first.text}”{near}.")


ANOTHER = "other"
"""The option, beside the shipped ones, that stands for a model of these fields."""
OPTION = {ANOTHER: "another model"}
FIRST = "masked"
STACKS = {
    "first": "Self-attention", "decoder.self": "Decoder self-attention", "decoder.cross": "Cross-attention",
}  # fmt: skip
MOST = 4_096


def _is_open(value: Any) -> bool:
    return isinstance(value, str) and on_offer.may_open(value)


NAME = Rule(
    "a model, such as shakespeare, run:<its id> or hf:<its name>",
    lambda raw: checked(raw, _is_open), _is_open,
)  # fmt: skip


@dataclass(frozen=True)
class Other:
    """The inputs of a page whose parts look into any model. other_at: a token, -1 for the one that the model
    is asked about.
    """

    other: str = setting(FIRST, NAME, "Name", control="list")
    other_text: str = setting("", characters(2_000), "What it reads")
    other_stack: str = setting("first", one_of(STACKS), "Attention")
    other_layer: int = setting(0, whole(0, 255), "Layer")
    other_head: int = setting(0, whole(0, 255), "Head")
    other_at: int = setting(-1, whole(-1, MOST), "Token", "Its number; -1: the last, or [MASK]")

    @property
    def reading_text(self) -> str:
        """What the model reads: its own first text where none was typed."""
        offer = offer_of(self.other)
        return self.other_text or (offer.text if offer else "")


@dataclass(frozen=True)
class ModelReading:
    """A model that has read a text, and the family of attentions that is looked into."""

    model: Model
    reading: Reading
    stack: str
    attention: Attention

    @property
    def side(self) -> str:
        return sides_of(self.stack)[0]

    @property
    def queries(self) -> list[str]:
        return self.reading.tokens[self.side]

    @property
    def keys(self) -> list[str]:
        return self.reading.tokens[sides_of(self.stack)[1]]

    def at(self, layer: int) -> str:
        """The address of a layer's attention."""
        return attention_at(self.stack, layer)


def text(inputs: Other, *, most: int, passes: int = 1) -> tuple[Model, Reading]:
    """What the inputs name, read. Raises ValueError, with a sentence, where it cannot be read, has more than
    `most` tokens or costs too much.
    """
    model = cache.model(inputs.other)
    reading = model.read(inputs.reading_text)
    longest = max(map(len, reading.tokens.values()))
    if longest > most:
        raise ValueError(
            f"{on_offer.title(inputs.other)} reads this as {longest:,} tokens; {most} have room here; "
            "shorten the text."
        )
    check_price(model, reading, "or a smaller model", passes=passes, waits=True)
    return model, reading


def read(inputs: Other, *, most: int, passes: int = 1) -> ModelReading:
    """An attention of what the inputs name. Raises ValueError as `text` does, for a layer that is not there,
    and where nothing but patterns is known.
    """
    model, reading = text(inputs, most=most, passes=passes)
    title = on_offer.title(inputs.other)
    stacks = model.stacks(tuple(reading.tokens))
    stack = stacks[0] if inputs.other_stack == "first" else inputs.other_stack
    if stack not in stacks:
        raise ValueError(f"{title} has no {stack}; choose one of {', '.join(stacks)}.")
    attention = model.attention(stack)
    if not attention.whole:
        known = f"Of {title} only attention weights are known."
        raise ValueError(f"{model.note or known} This part looks into these: choose another model.")
    _check_number("layer", inputs.other_layer, attention.layers, title)
    _check_number("head", inputs.other_head, range(attention.n_heads), title)
    return ModelReading(model, reading, stack, attention)


def _check_number(name: str, value: int, known: Collection[int], title: str) -> None:
    if value not in known:
        wrong = "is not there" if value > max(known) else "has no attention that is seen"
        raise ValueError(
            f"{name}={value} {wrong}: {title} has {name}s {named_numbers(known)}; take one of them."
        )


def position(inputs: Other, read: ModelReading) -> int:
    """The token that is asked about: the one that the inputs name, a hidden word, or the last.

    Raises ValueError for one that is not there.
    """
    tokens = read.queries
    if inputs.other_at >= len(tokens):
        raise ValueError(f"token={inputs.other_at} is not there; choose 0 to {len(tokens) - 1}.")
    if inputs.other_at >= 0:
        return inputs.other_at
    hidden = (at for at, token in enumerate(tokens) if token in ("[MASK]", "<mask>"))
    return next(hidden, len(tokens) - 1)


def _draw(state: State) -> None:
    """The list of models, and the field for those that are not in it."""
    menu = on_offer.menu(on_offer.listed(), state.kept["other"])
    state.draw("other", then=lambda: _forget(state), **menu)
    model_field.popover(lambda name: _open(state, name))
    offer = offer_of(state.kept["other"])
    state.draw("other_text", placeholder=offer.text if offer else "")


def _open(state: State, name: str) -> None:
    """Takes another model, where this visitor may open it; else says why not."""
    if model_field.can_open(name):
        state.put({"other": name})
        _forget(state)


def _forget(state: State) -> None:
    """Another model has other texts, layers and heads."""
    usual = state.defaults()
    state.put({name: usual[name] for name in usual if name.startswith("other_")})


MODEL = Own(_draw, ("other", "other_text"))
HEAD = (MODEL, "other_stack", Columns((("other_layer",), ("other_head",), ("other_at",))))
LAYER = (MODEL, Columns((("other_stack",), ("other_layer",)), (3, 2)))
"""The controls of a part that looks into a model, a head of it, or a layer."""
