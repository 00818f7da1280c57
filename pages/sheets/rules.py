"""What a task of a work sheet asks for: rules that the link which a student hands in has to keep.

    link: part = reach, n >= 4
    number: encoder.1.self.pattern head=3 query=it key=animal,street > 0.5
    output: contains elle, lacks il

`link` is about the inputs of the page that the link opens, `number` about one number of Explore's trace, or
the sum of several, and `output` about what its model writes. `open.pattern` is that of the head that is open.
A word names the first token of this text, a whole number a place, counted from 0. Values in double quotes may
hold commas.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from attention_lab.models.engine.trace import Trace
from attention_lab.models.fields import Field, fields_of, nearest, quoted, read_link, shortened
from attention_lab.models.zoo.offers import HUB, offer_of, offers
from attention_lab.pages.beside import state as beside
from attention_lab.pages.documents import state as documents
from attention_lab.pages.explore.state import Inputs, View, declared
from attention_lab.pages.findings import state as findings
from attention_lab.pages.shared import cache as kept
from attention_lab.pages.shared import on_offer, server_load
from attention_lab.pages.shared.lab_stops import NAMES as LAB
from attention_lab.pages.shared.menu import PAGES
from attention_lab.pages.shared.wording import capitalised

MOST_LINK = 20_000
"""Characters of a link."""
OPEN = "open"
SUMMED = 64
"""Places of one rule that are added up."""
_OTHER = "{what} is {value}: that is not what is asked for."
COMPARED: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "<=": (operator.le, "{what} is {value}; at most {wanted} is asked for."),
    ">=": (operator.ge, "{what} is {value}; at least {wanted} is asked for."),
    "<": (operator.lt, "{what} is {value}; less than {wanted} is asked for."),
    ">": (operator.gt, "{what} is {value}; more than {wanted} is asked for."),
    "=": (operator.eq, _OTHER),
    "!=": (operator.ne, _OTHER),
}
"""By what compares two values: whether they are so, and what a student is told where they are not."""
_VALUE = r'"[^"]*"|[^",]+'
_CLAUSE = re.compile(rf"\s*(?:([\w.]+)\s*)?(<=|>=|!=|=|<|>|\b(?:contains|lacks)\b)\s*({_VALUE})\s*(?:,|$)")
_PLACES = re.compile(r'(\w+)=((?:"[^"]*"|[^\s"])+)')
_NUMBER = re.compile(r'(\S+)((?:\s+\w+=(?:"[^"]*"|[^\s"])+)*)\s*(<=|>=|!=|=|<|>)\s*(\S+)')


@dataclass(frozen=True)
class Link:
    """A page, Explore's is "", and its parameters."""

    page: str
    params: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, text: str) -> "Link":
        """As a stop of a talk has it: "masks?part=reach"."""
        page, _, query = text[:MOST_LINK].lstrip("/").partition("?")
        return cls(page.removesuffix("explore"), tuple(parse_qsl(query, keep_blank_values=True)))

    @property
    def title(self) -> str:
        return PAGES.get(self.page or "explore", self.page)

    @property
    def model(self) -> str:
        """The model that Explore opens."""
        return dict(self.params).get("model", next(iter(offers())))

    @property
    def fields(self) -> Mapping[str, Field]:
        """All inputs of the page, by name. Raises ValueError for a page of which no rule can be kept."""
        if not self.page:
            return {**fields_of(View), **declared(self.model)}
        return _inputs_of(self.page)

    @property
    def values(self) -> dict[str, Any]:
        """What the link says of each input, or its default: as whoever opens it sees the page."""
        fields = self.fields
        offer = None if self.page else offer_of(self.model)
        story = {} if offer is None else offer.story
        usual = {name: field.default for name, field in fields.items()}
        return usual | story | read_link(fields, dict(self.params))[0]

    @property
    def inputs(self) -> Inputs:
        """Explore's. Raises ValueError where the model is none that classes may use."""
        name, values = self.model, self.values
        if name not in offers() and not HUB.fullmatch(name):
            raise ValueError(f"{quoted(name)} is no model that comes with the app; choose one of these.")
        if not on_offer.may_open(name):
            raise ValueError(f"{quoted(name)} may not be opened here; choose another model.")
        return Inputs(**{each: values[each] for each in declared(name)})


@cache
def _inputs_of(page: str) -> Mapping[str, Field]:
    if page in LAB:
        from attention_lab.pages.lab.lesson import lab_page  # its pages import torch

        return lab_page(page).state.params
    for each in (beside, documents, findings):
        if page == each.PAGE:
            return each.page().params
    raise ValueError(f"{page!r} is no page that rules can be about; {nearest(page, [*LAB, 'beside'])}")


def _unquoted(text: str) -> str:
    return text.strip().removeprefix('"').removesuffix('"')


@dataclass(frozen=True)
class Clause:
    """One comparison of a rule on a link or on what is written. name: of an input; "" for what is written."""

    name: str
    how: str
    value: str

    @classmethod
    def read(cls, text: str) -> list["Clause"]:
        """Those with commas between. Raises ValueError."""
        clauses, at = [], 0
        while at < len(text):
            match = _CLAUSE.match(text, at)
            if match is None:
                raise ValueError(
                    f"{quoted(text[at:].strip())} is no comparison; write such as n >= 4 or contains elle."
                )
            name, how, value = match.groups()
            clauses.append(cls(name or "", how, _unquoted(value)))
            at = match.end()
        if not clauses:
            raise ValueError("nothing is compared; write such as link: n >= 4, or output: contains elle.")
        return clauses

    def missing(self, value: Any, what: str, wanted: Any = "") -> str:
        """What a student is told of a value that is not as asked for; "" where it is."""
        if self.how in ("contains", "lacks"):
            has = bool(re.search(rf"(?<!\w){re.escape(self.value)}(?!\w)", str(value), re.IGNORECASE))
            if has == (self.how == "contains"):
                return ""
            return (
                f"{what} {'has' if has else 'does not have'} “{self.value}”: “{shortened(str(value), 80)}”."
            )
        holds, words = COMPARED[self.how]
        told = words.format(what=what, value=_said(value), wanted=_said(wanted))
        return "" if holds(value, wanted) else told


def _said(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else shortened(str(value), 60)


@dataclass(frozen=True)
class LinkRule:
    clauses: tuple[Clause, ...]
    example: ClassVar[str] = "link: n >= 4"

    @classmethod
    def read(cls, text: str, link: Link) -> "LinkRule":
        """Raises ValueError for what the page of the task has not. link: the task's."""
        clauses, fields = Clause.read(text), link.fields
        for clause in clauses:
            if clause.name not in fields:
                remedy = nearest(clause.name, fields)
                raise ValueError(f"{quoted(clause.name)} is no input of {link.title}; {remedy}")
            wanted = _wanted(clause, fields[clause.name])
            is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool)
            if clause.how in ("<", ">", "<=", ">=") and not is_number:
                raise ValueError(f"{clause.name} is no number; write {clause.name} = {clause.value}.")
        return cls(tuple(clauses))

    def missing(self, link: Link) -> str:
        fields, values = link.fields, link.values
        for clause in self.clauses:
            if clause.name not in fields:  # of another model
                return f"{link.title} has no {clause.name} now: choose what the task was given with."
            field = fields[clause.name]
            label = capitalised(field.label.partition(":")[0] or clause.name)
            sentence = clause.missing(values[clause.name], label, _wanted(clause, field))
            if sentence:
                return sentence
        return ""


def _wanted(clause: Clause, field: Field) -> Any:
    """The value that an input is compared with. Raises ValueError where it can be none."""
    if clause.how in ("contains", "lacks"):
        return clause.value
    try:
        return field.rule.parsed(clause.value)
    except ValueError:
        raise ValueError(f"{clause.name}: {field.rule.refusal(clause.value)}; write another value.") from None


@dataclass(frozen=True)
class OutputRule:
    clauses: tuple[Clause, ...]
    example: ClassVar[str] = "output: contains elle"

    @classmethod
    def read(cls, text: str, link: Link) -> "OutputRule":
        clauses = Clause.read(text)
        _check_explore(link, cls.example)
        for clause in clauses:
            if clause.name or clause.how not in ("contains", "lacks"):
                raise ValueError(f"output {clause.how} {clause.value}: write contains or lacks, and words.")
        return cls(tuple(clauses))

    def missing(self, link: Link) -> str:
        inputs = link.inputs
        written = _computed(("sheet_output", inputs, _stamp(inputs)), lambda: _written(inputs))
        sentences = (clause.missing(written, "What the model writes") for clause in self.clauses)
        return next(filter(None, sentences), "")


@dataclass(frozen=True)
class NumberRule:
    """places: of each axis, names of tokens or numbers. head: whether it is that of the open one."""

    address: str
    places: tuple[tuple[str, tuple[str, ...]], ...]
    how: str
    number: float
    example: ClassVar[str] = "number: encoder.1.self.pattern head=3 query=it key=animal > 0.5"

    @classmethod
    def read(cls, text: str, link: Link) -> "NumberRule":
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{quoted(text)} is no comparison of a number; write such as {cls.example}")
        _check_explore(link, cls.example)
        address, written, how, raw = match.groups()
        try:
            number = float(raw)
        except ValueError:
            raise ValueError(f"{quoted(raw)} is no number; write such as 0.5.") from None
        axes = _axes(address)
        places = {name: tuple(_split(values)) for name, values in _PLACES.findall(written)}
        for name in places:
            if name not in axes:
                raise ValueError(f"{address} has no axis {name}; its axes are {', '.join(axes)}")
        for name in axes:
            if name not in places and not (name == "head" and address.startswith(f"{OPEN}.")):
                raise ValueError(f"{address} needs one {name}; add such as {name}=0.")
        return cls(address, tuple(places.items()), how, number)

    def missing(self, link: Link) -> str:
        values, inputs = link.values, link.inputs
        address, places = self.address, dict(self.places)
        if address.startswith(f"{OPEN}."):
            side, kind = values["stack"].split(".")
            address = f"{side}.{values['layer']}.{kind}.{address.removeprefix(f'{OPEN}.')}"
            places.setdefault("head", (str(values["head"]),))
        key = ("sheet_number", inputs, _stamp(inputs), address, *places.items())
        number = _computed(key, lambda: _number(inputs, address, places))
        return Clause("", self.how, "").missing(number, "The number there", self.number)


def _check_explore(link: Link, example: str) -> None:
    if link.page:
        kind, _, _ = example.partition(":")
        raise ValueError(
            f"{kind} is about a model that Explore opens, and this task opens {link.title}; write a rule on "
            "its link."
        )


def _split(values: str) -> list[str]:
    return re.findall(r'"[^"]*"|[^,]+', values)


def _axes(address: str) -> list[str]:
    """The axes of an address, by name. Raises ValueError where nothing is computed there."""
    like = address.replace(f"{OPEN}.", "encoder.0.self.", 1) if address.startswith(f"{OPEN}.") else address
    like = re.sub(r"\.\d+\.", ".{layer}.", re.sub(r"^(encoder|decoder)\.", "{stack}.", like))
    known = {entry.address: entry.shape for entry in Trace.glossary()}
    if like not in known:
        examples = [each.format(stack="encoder", layer=1) for each in known]
        raise ValueError(f"{address} is nothing that a trace has; {nearest(address, examples)}")
    return known[like].strip("[]").split(", ")


# What needs the model: computed as Explore's figures are, by one thread for all, and kept as they are.


def _stamp(inputs: Inputs) -> int | None:
    offer = offer_of(inputs.model)
    return None if offer is None else offer.stamp


def _computed(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    def checked() -> tuple[Any, int]:
        server_load.check_memory()
        return make(), 200

    return kept.cached(kept.results, key, checked)


def _subject(inputs: Inputs, passes: int = 1) -> Any:
    from attention_lab.pages.explore.subject import subject_of
    from attention_lab.pages.shared.work import check_price

    subject = subject_of(inputs)
    check_price(subject.model, subject.reading, "or a smaller model", passes=passes, waits=True)
    return subject


def _written(inputs: Inputs) -> str:
    subject = _subject(inputs)
    model, reading = subject.model, subject.reading
    if not reading.forced and reading.answer and not inputs.edits:
        return str(reading.answer)
    _subject(inputs, passes=model.writing(reading).most)
    return str(model.answer(reading, edits=inputs.edits, **inputs.reading).answer)


def _number(inputs: Inputs, address: str, places: Mapping[str, tuple[str, ...]]) -> float:
    subject = _subject(inputs)
    trace = subject.run(lambda at, tensor: tensor if at == address else None)
    if address not in trace:
        raise ValueError(
            f"This model has no {address}; choose the model and the head that the task is about."
        )
    number, side = trace[address].double(), address.partition(".")[0]
    for axis in _axes(address):
        if axis == "vocab":
            tokens = [{"text": name} for name in subject.names]
        elif axis in ("query", "key"):
            is_cross = ".cross." in address and axis == "key"
            tokens = subject.tokens["encoder" if is_cross else side if side in subject.tokens else "encoder"]
        else:
            tokens = []
        at = [_place(axis, name, tokens, number.shape[0]) for name in places[axis][:SUMMED]]
        number = number[at].sum(dim=0)
    return float(number)


def _place(axis: str, name: str, tokens: list[dict[str, str]], size: int) -> int:
    """Where on an axis a token, or a number, is. Raises ValueError with a sentence for a student."""
    word = _unquoted(name)
    if name.isdecimal():
        if int(name) < size:
            return int(name)
        raise ValueError(f"There is no {axis} {name}: there are {size} now, counted from 0.")
    for at, token in enumerate(tokens[:size]):
        if word in token.values() or word == token["text"].strip():
            return at
    raise ValueError(f"There is no “{word}” now among what the task asks about ({axis}).")


KINDS: dict[str, type[LinkRule] | type[OutputRule] | type[NumberRule]] = {
    "link": LinkRule, "number": NumberRule, "output": OutputRule,
}  # fmt: skip
Rule = LinkRule | OutputRule | NumberRule


def read_rule(line: str, link: Link) -> Rule:
    """The rule of a line, for a task that opens this link. Raises ValueError with value, rule and remedy."""
    kind, colon, text = line.partition(":")
    if not colon or kind.strip() not in KINDS:
        examples = ", ".join(each.example for each in KINDS.values())
        raise ValueError(f"{quoted(line)} is no rule; begin with one of these: {examples}")
    return KINDS[kind.strip()].read(text, link)
