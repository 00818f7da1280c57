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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qsl

from attention_lab.models.engine.trace import Trace
from attention_lab.models.fields import Field, fields_of, nearest, quoted, read_link, shortened
from attention_lab.models.zoo.offers import HUB, offer_of, offers
from attention_lab.pages.beside import state as beside
from attention_lab.pages.documents import state as documents
from attention_lab.pages.explore.state import Inputs, View, declared
from attention_lab.pages.explore.subject import Subject, subject_of
from attention_lab.pages.findings import state as findings
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.shared import cache as kept
from attention_lab.pages.shared import on_offer, server_load
from attention_lab.pages.shared.lab_stops import NAMES as LAB
from attention_lab.pages.shared.menu import PAGES
from attention_lab.pages.shared.wording import capitalised
from attention_lab.pages.shared.work import check_price

MOST_LINK = 20_000
"""Characters of a link."""
OPEN = "open."
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
OF_WORDS = ("contains", "lacks")
_HOW = "<=|>=|!=|=|<|>"
_COMPARISON = re.compile(rf'\s*(?:([\w.]+)\s*)?({_HOW}|\b(?:contains|lacks)\b)\s*("[^"]*"|[^",]+)\s*(?:,|$)')
_PLACE = r'(\w+)=((?:"[^"]*"|[^\s"])+)'
_NUMBER = re.compile(rf'(\S+)((?:\s+\w+=(?:"[^"]*"|[^\s"])+)*)\s*({_HOW})\s*(\S+)')


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
        return lab_page(page).state.params
    for each in (beside, documents, findings):
        if page == each.PAGE:
            return each.page().params
    raise ValueError(f"{page!r} is no page that rules can be about; {nearest(page, [*LAB, 'beside'])}")


@dataclass(frozen=True)
class Rule:
    """One comparison that a link has to keep. label: what is compared. value: what that is for a link; raises
    ValueError, with a sentence for a student, where there is none.
    """

    label: str
    how: str
    wanted: Any
    value: Callable[[Link], Any]

    def missing(self, link: Link) -> str:
        """What a student is told of a link that does not keep it; "" of one that does."""
        value = self.value(link)
        if self.how in OF_WORDS:
            has = bool(re.search(rf"(?<!\w){re.escape(self.wanted)}(?!\w)", str(value), re.IGNORECASE))
            if has == (self.how == "contains"):
                return ""
            quote = shortened(str(value), 80)
            return f"{self.label} {'has' if has else 'does not have'} “{self.wanted}”: “{quote}”."
        holds, words = COMPARED[self.how]
        told = words.format(what=self.label, value=_said(value), wanted=_said(self.wanted))
        return "" if holds(value, self.wanted) else told


def _said(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else shortened(str(value), 60)


def _of_link(text: str, task: Link) -> Iterator[Rule]:
    fields = task.fields
    for name, how, raw in _comparisons(text):
        if name not in fields:
            raise ValueError(f"{quoted(name)} is no input of {task.title}; {nearest(name, fields)}")
        field = fields[name]
        try:
            wanted = raw if how in OF_WORDS else field.rule.parsed(raw)
        except ValueError:
            raise ValueError(f"{name}: {field.rule.refusal(raw)}; write another value.") from None
        is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool)
        if how in ("<", ">", "<=", ">=") and not is_number:
            raise ValueError(f"{name} is no number; write {name} = {raw}.")
        yield Rule(capitalised(field.label.partition(":")[0] or name), how, wanted, partial(_input, name))


def _of_output(text: str, task: Link) -> Iterator[Rule]:
    for name, how, words in _comparisons(text):
        _check_explore(task, "output")
        if name or how not in OF_WORDS:
            raise ValueError(f"output {how} {words}: write contains or lacks, and words.")
        yield Rule("What the model writes", how, words, _written)


def _of_number(text: str, task: Link) -> Iterator[Rule]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        example = KINDS["number"][1]
        raise ValueError(f"{quoted(text)} is no comparison of a number; write such as {example}")
    _check_explore(task, "number")
    address, written, how, raw = match.groups()
    try:
        wanted = float(raw)
    except ValueError:
        raise ValueError(f"{quoted(raw)} is no number; write such as 0.5.") from None
    axes = _axes(address)
    places = {name: re.findall(r'"[^"]*"|[^,]+', names) for name, names in re.findall(_PLACE, written)}
    for name in places:
        if name not in axes:
            raise ValueError(f"{address} has no axis {name}; its axes are {', '.join(axes)}")
    for name in axes:
        if name not in places and not (name == "head" and address.startswith(OPEN)):
            raise ValueError(f"{address} needs one {name}; add such as {name}=0.")
    yield Rule("The number there", how, wanted, partial(_number, address, places))


def _comparisons(text: str) -> Iterator[tuple[str, str, str]]:
    """The name, the sign and the value of each, with commas between. Raises ValueError."""
    if not text:
        raise ValueError("nothing is compared; write such as link: n >= 4, or output: contains elle.")
    while text:
        match = _COMPARISON.match(text)
        if match is None:
            raise ValueError(
                f"{quoted(text.strip())} is no comparison; write such as n >= 4 or contains elle."
            )
        name, how, value = match.groups()
        yield name or "", how, _unquoted(value)
        text = text[match.end() :]


def _unquoted(text: str) -> str:
    return text.strip().removeprefix('"').removesuffix('"')


def _check_explore(task: Link, kind: str) -> None:
    if task.page:
        raise ValueError(
            f"{kind} is about a model that Explore opens, and this task opens {task.title}; write a rule on "
            "its link."
        )


def _axes(address: str) -> list[str]:
    """The axes of an address, by name. Raises ValueError where nothing is computed there."""
    like = f"encoder.0.self.{address.removeprefix(OPEN)}" if address.startswith(OPEN) else address
    like = re.sub(r"\.\d+\.", ".{layer}.", re.sub(r"^(encoder|decoder)\.", "{stack}.", like))
    known = {entry.address: entry.shape for entry in Trace.glossary()}
    if like not in known:
        examples = [each.format(stack="encoder", layer=1) for each in known]
        raise ValueError(f"{address} is nothing that a trace has; {nearest(address, examples)}")
    return known[like].strip("[]").split(", ")


# What a rule is about. What needs the model is computed as Explore's figures are, by one thread for all, and
# kept as they are.


def _input(name: str, link: Link) -> Any:
    values = link.values
    if name not in values:  # of another model
        raise ValueError(f"{link.title} has no {name} now: choose what the task was given with.")
    return values[name]


def _computed(inputs: Inputs, make: Callable[[Subject], Any], *key: Any) -> Any:
    offer = offer_of(inputs.model)

    def checked() -> tuple[Any, int]:
        server_load.check_memory()
        subject = subject_of(inputs)
        _check_price(subject)
        return make(subject), 200

    stamp = None if offer is None else offer.stamp
    return kept.cached(kept.results, ("sheet", inputs, stamp, *key), checked)


def _check_price(subject: Subject, passes: int = 1) -> None:
    check_price(subject.model, subject.reading, "or a smaller model", passes=passes, waits=True)


def _written(link: Link) -> str:
    inputs = link.inputs

    def make(subject: Subject) -> str:
        model, reading = subject.model, subject.reading
        if not reading.forced and reading.answer and not inputs.edits:
            return str(reading.answer)
        _check_price(subject, passes=model.writing(reading).most)
        return str(model.answer(reading, edits=inputs.edits, **inputs.reading).answer)

    return str(_computed(inputs, make, "output"))


def _number(address: str, places: Mapping[str, list[str]], link: Link) -> float:
    values = link.values
    if address.startswith(OPEN):
        side, kind = values["stack"].split(".")
        address = f"{side}.{values['layer']}.{kind}.{address.removeprefix(OPEN)}"
        places = {"head": [str(values["head"])], **places}

    def make(subject: Subject) -> float:
        trace = subject.run(lambda at, tensor: tensor if at == address else None)
        if address not in trace:
            raise ValueError(
                f"This model has no {address}; choose the model and the head that the task is about."
            )
        number, side = trace[address].double(), address.partition(".")[0]
        for axis in _axes(address):
            tokens = []
            if axis == "vocab":
                tokens = [{"text": name} for name in subject.names]
            elif axis == "key" and ".cross." in address:
                tokens = subject.tokens["encoder"]
            elif axis in ("query", "key"):
                tokens = subject.tokens[side if side in subject.tokens else [*subject.tokens][-1]]
            at = [_place(axis, name, tokens, len(number)) for name in places[axis][:SUMMED]]
            number = number[at].sum(dim=0)
        return float(number)

    return float(_computed(link.inputs, make, address, str(places)))


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


KINDS: dict[str, tuple[Callable[[str, Link], Iterator[Rule]], str]] = {
    "link": (_of_link, "link: n >= 4"),
    "number": (_of_number, "number: encoder.1.self.pattern head=3 query=it key=animal > 0.5"),
    "output": (_of_output, "output: contains elle"),
}
"""What rules are about: how a line is read, and an example."""


def read_rules(line: str, task: Link) -> list[Rule]:
    """The rules of a line, for a task that opens a link. Raises ValueError with value, rule and remedy."""
    kind, colon, text = line.partition(":")
    if not colon or kind.strip() not in KINDS:
        examples = ", ".join(example for _, example in KINDS.values())
        raise ValueError(f"{quoted(line)} is no rule; begin with one of these: {examples}")
    read, _ = KINDS[kind.strip()]
    return list(read(text, task))
