"""The rules of a work sheet's task, which the link that a student hands in has to keep.

    part = reach, n >= 4
    encoder.1.self.pattern head=3 query=it key=animal > 0.5
    output contains elle

The first is about inputs that the page shows, the second about a number of Explore's trace, the third about
what its model writes. `open.pattern` is that of the head that is open. A word names the first token of this
text, a whole number a place, counted from 0. A number is that of the model, the text, the settings and the
edits with which the task opens, but for those that other rules name. Words in double quotes may hold commas.
"""

import operator
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import parse_qsl

from attention_lab.models.engine.address import attention_at
from attention_lab.models.engine.trace import Trace
from attention_lab.models.fields import Field, fields_of, nearest, number, quoted, read_link, shortened
from attention_lab.models.zoo.catalogue import HUB, offer_of, offers
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
from attention_lab.pages.shared.phrases import capitalised
from attention_lab.pages.shared.work import check_price

MOST_LINK = 20_000
"""Characters of a link."""
MOST_RULE = 500
"""Characters of a rule."""
OPEN = "open."
OUTPUT = "output"
_OTHER = "{what} is {value}, which is not asked for."
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
EXAMPLES = "n >= 4, output contains elle, or open.pattern query=it key=animal > 0.5"
_WANTED = number(-1e9, 1e9)


@dataclass(frozen=True)
class Link:
    """A page, Explore's is "", and its parameters."""

    page: str
    params: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, text: str) -> "Link":
        """As a stop of a talk has it: "masks?part=reach"."""
        page, _, query = text[:MOST_LINK].removeprefix("/").partition("?")
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
        """The inputs that the page shows, by name. Raises ValueError where no rule can be about the page."""
        if not self.page:
            return {**fields_of(View), **declared(self.model)}
        if self.page in LAB:
            lab = lab_page(self.page)
            shown = lab.find_part(dict(self.params).get("part", "")).fields
            return {name: lab.state.params[name] for name in ("part", *shown)}
        for each in (beside, documents, findings):
            if self.page == each.PAGE:
                return each.page().params
        known = nearest(self.page, [*LAB, "beside"])
        raise ValueError(f"{self.page!r} is no page that rules can be about; {known}")

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


def read_rules(lines: Sequence[str], task: Link) -> Iterator[Rule]:
    """The rules of a task that opens a link. Raises ValueError with value, rule and remedy."""
    comparisons = [each for line in lines for each in _comparisons(line)]
    parts = (("part", value) for subject, how, value in comparisons if (subject, how) == (["part"], "="))
    asked, values = Link(task.page, (*task.params, *parts)), task.values
    named = [subject for subject, _, _ in comparisons]
    fixed = {name: values[name] for name in declared(task.model) if name in values and [name] not in named}
    for subject, how, value in comparisons:
        is_number = _is_address(subject[0])
        if task.page and (is_number or subject == [OUTPUT]):
            raise ValueError(
                f"{subject[0]} is of a model that Explore opens; write a rule on the inputs of {task.title}."
            )
        yield _of_number(subject, how, value, fixed) if is_number else _of_input(subject, how, value, asked)


def _comparisons(line: str) -> Iterator[tuple[list[str], str, str]]:
    """The subject, the sign and the value of each; what stands in double quotes is one word."""
    lexer = shlex.shlex(line[: MOST_RULE + 1], posix=True, punctuation_chars="<>=!,")
    lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
    try:
        words = list(lexer)
    except ValueError:  # a quotation mark that is never closed
        words = []
    for is_comma, group in groupby(words or [""], ",".__eq__):
        part = list(group)
        signs = [at for at, word in enumerate(part) if at and word in (*COMPARED, *OF_WORDS)]
        if is_comma:
            continue
        if not signs or len(line) > MOST_RULE:
            raise ValueError(f"{quoted(line)} is no rule of at most {MOST_RULE} characters; write {EXAMPLES}")
        at = signs[-1 if _is_address(part[0]) else 0]
        yield part[:at], part[at], " ".join(part[at + 1 :])


def _is_address(word: str) -> bool:
    return "." in word or word == "logits"


def _of_input(subject: list[str], how: str, raw: str, asked: Link) -> Rule:
    name, fields = " ".join(subject), asked.fields
    if name == OUTPUT and how in OF_WORDS:
        return Rule("What the model writes", how, raw, _written)
    if name == OUTPUT:
        raise ValueError(f"output {how} {raw}: write contains or lacks, and words.")
    if name not in fields:
        where = f"the part {asked.values['part']} of {asked.title}" if asked.page in LAB else asked.title
        raise ValueError(f"{quoted(name)} is no input of {where}; {nearest(name, fields)}")
    field = fields[name]
    try:
        wanted = raw if how in OF_WORDS else field.rule.parsed(raw)
    except ValueError:
        raise ValueError(f"{name}: {field.rule.refusal(raw)}; write another value.") from None
    is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool)
    if how in ("<", ">", "<=", ">=") and not is_number:
        raise ValueError(f"{name} is no number; write {name} = {raw}.")
    return Rule(capitalised(field.label.partition(":")[0] or name), how, wanted, partial(_input, name))


def _of_number(subject: list[str], how: str, raw: str, fixed: Mapping[str, Any]) -> Rule:
    address, *words = subject
    axes = _axes(address)
    places = dict(zip(words[::3], words[2::3], strict=False)) if {*words[1::3]} <= {"="} else {}
    for name in places:
        if name not in axes:
            raise ValueError(f"{address} has no axis {name}; its axes are {', '.join(axes)}")
    for name in axes:
        if name not in places and not (name == "head" and address.startswith(OPEN)):
            raise ValueError(f"{address} needs one {name}; add such as {name}=0.")
    try:
        wanted = _WANTED.parsed(raw)
    except ValueError:
        raise ValueError(f"{quoted(raw)} is no number; write such as 0.5.") from None
    if how in OF_WORDS:
        raise ValueError(f"{address} {how} {raw}: a number is compared with <, <=, =, !=, >= or >.")
    return Rule("The number there", how, wanted, partial(_number, address, places, fixed))


def _axes(address: str) -> list[str]:
    """The axes of an address, by name. Raises ValueError where nothing is computed there."""
    like = f"encoder.0.self.{address.removeprefix(OPEN)}" if address.startswith(OPEN) else address
    stacks = {"encoder": "{stack}", "decoder": "{stack}"}
    like = ".".join("{layer}" if part.isdecimal() else stacks.get(part, part) for part in like.split("."))
    known = {entry.address: entry.shape for entry in Trace.glossary()}
    if like not in known:
        examples = [each.format(stack="encoder", layer=1) for each in known]
        raise ValueError(f"{quoted(address)} is nothing that a trace has; {nearest(address, examples)}")
    return known[like].strip("[]").split(", ")


# Values that rules compare
# Those of the model are computed as Explore's figures are, by one thread for all, and kept as they are.


def _input(name: str, link: Link) -> Any:
    values = link.values
    if name not in values:  # of another model
        raise ValueError(f"{link.title} has no {name} now: choose the task's own.")
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


def _number(address: str, places: Mapping[str, str], fixed: Mapping[str, Any], link: Link) -> float:
    values = link.values
    if any(values.get(name, value) != value for name, value in fixed.items()):
        raise ValueError("This task needs its own model, text, settings and edits: press “reset page”.")
    if address.startswith(OPEN):
        address = f"{attention_at(values['stack'], values['layer'])}.{address.removeprefix(OPEN)}"
        places = {"head": str(values["head"]), **places}

    def make(subject: Subject) -> float:
        trace = subject.run(lambda at, tensor: tensor if at == address else None)
        if address not in trace:
            raise ValueError(f"This model has no {address}; choose the task's model and head.")
        number, side = trace[address], address.partition(".")[0]
        for axis in _axes(address):
            tokens = []
            if axis == "vocab":
                tokens = [{"text": name} for name in subject.names]
            elif axis == "key" and ".cross." in address:
                tokens = subject.tokens["encoder"]
            elif axis in ("query", "key"):
                tokens = subject.tokens[side if side in subject.tokens else [*subject.tokens][-1]]
            number = number[_place(axis, places[axis], tokens, len(number))]
        return float(number)

    return float(_computed(link.inputs, make, address, str(places)))


def _place(axis: str, name: str, tokens: list[dict[str, str]], size: int) -> int:
    """Where on an axis a token, or a number, is. Raises ValueError with a sentence for a student."""
    if name.isdecimal():
        if int(name) < size:
            return int(name)
        raise ValueError(f"There is no {axis} {name}: there are {size} now, counted from 0.")
    for at, token in enumerate(tokens[:size]):
        if name in token.values() or name == token["text"].strip():
            return at
    raise ValueError(f"The task does not ask about a “{name}” ({axis}).")
