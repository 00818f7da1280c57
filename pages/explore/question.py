"""What a browser asks of Explore, and what follows from it alone: the inputs, the view, and what is asked
beside.

A question holds all that its answer depends on, so a server that was started anew answers it as well, and two
windows of one visitor do not disturb each other.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import pydantic
from pydantic import BaseModel, ConfigDict

from attention_lab.models.data.word_tokenizer import SPECIALS, WordTokenizer
from attention_lab.models.fields import Field, read_link
from attention_lab.models.zoo.catalogue import DEFAULT, MAX_NEW_TOKENS, Offer, Setting, offer_of
from attention_lab.pages.explore import sizes, state
from attention_lab.pages.explore.edit_lines import after_press
from attention_lab.pages.explore.payload import Opened
from attention_lab.pages.explore.state import Inputs, View, settings_of
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.shared import cache, on_offer, server_load

MOST_NAME = 400
"""Characters of a model's name, which may be the path of a folder."""
MOST_VALUES = 40
Value = bool | int | float | str | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Press(_Part):
    """A press that makes an edit, or takes one back, as `after_press` has it."""

    line: str
    how: str = pydantic.Field(max_length=40)
    count: int = pydantic.Field(ge=0, le=10_000)


class Writing(_Part):
    """How a model goes on with its text."""

    temperature: float = pydantic.Field(ge=0, le=2)
    n_new: int = pydantic.Field(ge=1, le=MAX_NEW_TOKENS)
    seed: int = pydantic.Field(ge=0, le=1_000_000)


class Question(_Part):
    """What is to be shown.

    text: None for the model's first one. before: the model that the settings were set for; what another one
    lacks is left out. link: the view as an address says it. opened: the head whose numbers are sent. beside:
    what is to be computed of the trace, as acts of the stage. turned: a setting that gets another value;
    keeps: which of the sizes stays as it is then. fresh: whether what was set for the text before is reset.
    widens: the model that reads the text if it knows its words, or else the one with more words that it
    names. anew: counts how often everything was reset. has: the model whose declaration the browser has.
    """

    model: str = pydantic.Field(default=DEFAULT, max_length=MOST_NAME)
    before: str = pydantic.Field(default="", max_length=MOST_NAME)
    text: str | None = None
    settings: dict[str, Value] = pydantic.Field(default_factory=dict, max_length=MOST_VALUES)
    edits: str = ""
    press: Press | None = None
    link: dict[str, str] = pydantic.Field(default_factory=dict, max_length=2 * MOST_VALUES)
    opened: dict[str, str | int] | None = pydantic.Field(default=None, max_length=MOST_VALUES)
    beside: list[dict[str, Any]] = pydantic.Field(default_factory=list, max_length=8)
    turned: dict[str, Value] = pydantic.Field(default_factory=dict, max_length=1)
    keeps: Literal["n_heads", "d_model", "d_head"] = "d_head"
    fresh: bool = False
    widens: str = pydantic.Field(default="", max_length=MOST_NAME)
    write: Writing | None = None
    anew: int = pydantic.Field(default=0, ge=0, le=1_000_000)
    has: str = pydantic.Field(default="", max_length=MOST_NAME)


def question_of_link(params: Mapping[str, str]) -> tuple[Question, list[str]]:
    """What an address asks for, and a sentence for each of its values that is refused."""
    named = params.get("model", DEFAULT)
    view, of_view = read_link(View, params)
    if not on_offer.may_open(named):
        return Question(link={name: params[name] for name in view}), [on_offer.refusal(named), *of_view]
    values, refused = read_link({n: f for n, f in state.declared(named).items() if n != "model"}, params)
    return (
        Question(
            model=named,
            text=values.pop("text", None),
            edits=values.pop("edits", ""),
            settings=values,
            link={name: params[name] for name in view},
        ),
        [*refused, *of_view],
    )


def offer_for(question: Question) -> Offer:
    """The model that is asked for. Raises ValueError, with a sentence, where this visitor may not open it."""
    offer = offer_of(question.model)
    if offer is None or not on_offer.may_open(question.model):
        raise ValueError(
            f"{on_offer.why_not(question.model).removesuffix('.')}; the previous model stays loaded."
        )
    return offer


def inputs_of(question: Question) -> tuple[Inputs, str]:
    """The inputs, and which sizes followed the one that was turned. Raises ValueError, with a sentence, for a
    value that does not fit; of another model's settings, those that do not are left out.
    """
    offer, fields = offer_for(question), state.declared(question.model)
    is_other = question.before not in ("", question.model)
    text = offer.text if question.text is None else question.text
    # edits speak of the heads of the model that they were made for
    given: dict[str, Any] = {"text": text, "edits": "" if is_other else question.edits}
    settings = {setting.name: setting for setting in offer.settings}
    for name, value in question.settings.items():
        if question.fresh and name in settings and settings[name].of_text:
            continue
        if name in settings and _fits(settings[name], value):
            given[name] = value
        elif name in settings and not is_other:
            raise ValueError(_refusal(settings[name], name, value))
    if question.press:
        press, lines = question.press, given["edits"].splitlines()
        given["edits"] = "\n".join(after_press(lines, press.line, press.how, press.count))
    for name in ("text", "edits"):
        if not fields[name].rule.fits(given[name]):
            raise ValueError(_refusal(fields[name], name, given[name]))
    adjusted = ""
    for name, value in question.turned.items():
        if name not in settings:
            continue
        if name in sizes.linked(offer.settings) and type(value) is int:
            whole = {each.name: given.get(each.name, each.default) for each in offer.settings}
            made, adjusted = sizes.turned(whole, name, value, question.keeps)
            given |= made
        elif not _fits(settings[name], value):
            raise ValueError(_refusal(settings[name], name, value))
        else:
            if settings[name].alone:
                others = [each for each in offer.settings if each.alone and each.name != name]
                back = [each for each in others if given.pop(each.name, each.default) != each.default]
                adjusted = ", ".join(f"{each.name} = {each.default}" for each in back)
            given |= _turned(Inputs(question.model, **given), settings[name], value)
    return Inputs(question.model, **given), adjusted


def _fits(setting: Setting, value: Value) -> bool:
    alike = type(value) is type(setting.default)  # JSON says 2.0 and true, too, and a browser 0 for 0.0
    whole = type(value) is int and type(setting.default) is float
    return (alike or whole) and setting.rule.fits(value)


def _refusal(field: Field, name: str, value: Any) -> str:
    label = field.label.partition(":")[0] or name.capitalize()
    return f"{label}: {field.rule.refusal(value)}; the previous value is kept."


def _turned(before: Inputs, setting: Setting, value: Value) -> dict[str, Any]:
    """What a setting's value entails: what depends on it is reset; a turned translator reads its answer."""
    settings = settings_of(before.model)
    entailed: dict[str, Any] = {each.name: each.default for each in settings if each.of == setting.name}
    if setting.turns:
        written = subject_of(before.unedited).reading.answer
        if written:
            entailed |= {each.name: each.default for each in settings if each.of_text}
            entailed["text"] = written
    return {**entailed, setting.name: value}


def wider(question: Question, inputs: Inputs) -> tuple[Inputs, dict[str, Any] | None]:
    """The inputs of the model that is to read a text with words that another one lacks, and why; the same,
    and None, where the words are known or nobody else may read them.
    """
    first = offer_of(question.widens) if on_offer.may_open(question.widens) else None
    if first is None:
        return inputs, None
    lacking = words_lacking(first, inputs.text)
    other = offer_of(first.wider) if lacking and on_offer.may_open(first.wider) else None
    if other is None:
        return Inputs(first.name, inputs.text) if first.name != inputs.model else inputs, None
    try:
        cache.on_worker(lambda: cache.model(other.name, {}).read(inputs.text))
    except ValueError:  # too long for it, say
        return inputs, None
    return Inputs(other.name, inputs.text), {"model": first.name, "title": first.title, "lacking": lacking}


def words_lacking(offer: Offer, text: str) -> list[str]:
    """The different words of a text that a model of words does not know; none for other models."""
    if not offer.words:
        return []
    read = _tokenizer(offer.name, offer.stamp).encode(text, among=()).unknown
    return list(dict.fromkeys(word.text for word in read))


@lru_cache(maxsize=8)
def _tokenizer(name: str, stamp: int) -> WordTokenizer:
    offer = offer_of(name)
    assert offer is not None
    return WordTokenizer(list(dict.fromkeys(chain(SPECIALS, *offer.words.values()))))


def continued(inputs: Inputs, writing: Writing) -> Inputs:
    """The inputs with the text that the model wrote on, cut in front to what it can read."""

    def write() -> str:
        server_load.check_memory()
        lm = cache.model(inputs.model, inputs.settings)
        at_once = max(1, lm.max_len // 2)  # the other half is what it goes on from
        more = lm.generate(
            inputs.text,
            max_new_tokens=min(writing.n_new, at_once),
            temperature=writing.temperature,
            seed=writing.seed,
        )
        return lm.fitted(inputs.text, more)

    return Inputs(inputs.model, cache.on_worker(write), inputs.edits, **inputs.settings)


def opened_from(act: dict[str, Any]) -> Opened:
    """The head that the stage asked to open; the first one unless it named a known stack and integers."""
    values, problems = read_link(View, {name: str(act[name]) for name in asdict(Opened()) if name in act})
    return Opened() if problems else Opened(**values)


def opened_by(question: Question, offer: Offer) -> Opened:
    """The head whose numbers are sent: the one that the stage asked for, the link's, or the story's."""
    if question.opened is not None:
        return opened_from(question.opened)
    linked = {**offer.story, **read_link(View, question.link)[0]}
    return Opened(**{name: linked[name] for name in asdict(Opened()) if name in linked})
