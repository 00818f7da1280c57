"""A work sheet: a talk whose stops are tasks. It is checked when it is opened, shown to students without what
gives a task away, and judges what they hand in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from attention_lab.models.fields import nearest, quoted, whole
from attention_lab.models.zoo.catalogue import HUB, offers
from attention_lab.pages.shared.menu import PAGES
from attention_lab.pages.sheets.rules import MOST_LINK, Link, Rule, read_rules

MOST_TASKS = 40
MOST_RULES = 100
MOST_WRITTEN = 2_000
"""Characters of a short text."""
_WRITTEN = whole(1, MOST_WRITTEN)
KINDS = {"question": "choice", "rule": "link", "write": "text"}
"""What a student does where a stop has a question, or one of these settings."""


class Question(BaseModel):
    ask: str = Field(max_length=2_000)
    options: list[str] = Field(max_length=20)
    right: int | None
    because: str = Field(max_length=5_000)


class Given(BaseModel):
    """What a student hands in: one of these."""

    option: int | None = None
    link: str | None = Field(default=None, max_length=MOST_LINK)
    text: str | None = Field(default=None, max_length=MOST_WRITTEN)


@dataclass(frozen=True)
class Verdict:
    """right: None where only the teacher can say so. sentence: what is missing. kept: the answer as text."""

    right: bool | None
    sentence: str
    because: str
    kept: str


class Task(BaseModel):
    """A stop, as format.js reads it: its notes are what a student reads."""

    title: str = Field(max_length=500)
    line: int
    link: str = Field(max_length=MOST_LINK)
    notes: str = Field(max_length=20_000)
    question: Question | None
    settings: dict[str, str]

    @property
    def kinds(self) -> list[str]:
        given = [*self.settings, *(["question"] if self.question else [])]
        return [kind for name, kind in KINDS.items() if name in given]

    @property
    def kind(self) -> str:
        """ "" where there is nothing to hand in."""
        return next(iter(self.kinds), "")

    @property
    def opens(self) -> Link:
        return Link.read(self.link)

    @property
    def rules(self) -> list[Rule]:
        """Raises ValueError for a rule that is none."""
        return [*read_rules(_lines(self.settings, "rule"), self.opens)]

    def problems(self) -> Iterator[str]:
        if len(self.kinds) > 1:
            yield f"it asks for several things ({', '.join(self.kinds)}); make a task of each."
        if "write" in self.settings:
            try:
                _WRITTEN.parsed(self.settings["write"])
            except ValueError:
                yield f"write: {_WRITTEN.refusal(self.settings['write'])} of characters; try 200."
        if self.link and (self.opens.page or "explore") not in PAGES:
            yield (
                f"{quoted(self.link)} is no link to a page of this app, such as masks?part=reach; "
                'press "copy link" on the page.'
            )
        elif "rule" not in self.settings:
            return
        elif not self.link:
            yield "it has a rule and opens no page; give it a link."
        else:
            yield from self._rule_problems()

    def _rule_problems(self) -> Iterator[str]:
        try:
            held = [not _missing(rule, self.opens) for rule in self.rules]
        except ValueError as error:
            yield str(error)
        else:
            if all(held):
                yield "its rules already hold where it opens; open it in another state."

    def shown(self) -> dict[str, Any]:
        question = {"ask": self.question.ask, "options": self.question.options} if self.question else {}
        most = {"most": int(self.settings["write"])} if self.kind == "text" else {}
        hints = _lines(self.settings, "hint")
        words = {"title": self.title, "link": self.link, "notes": self.notes}
        return {**words, "kind": self.kind, "hints": hints, **question, **most}


class Sheet(BaseModel):
    title: str = Field(max_length=500)
    about: str = Field(max_length=20_000)
    settings: dict[str, Annotated[str, Field(max_length=2_000)]]
    stops: list[Task] = Field(min_length=1, max_length=MOST_TASKS)

    @property
    def models(self) -> list[str]:
        """The models that links may open; none where all may that come with the app."""
        return _names(self.settings, "model")

    @property
    def pages(self) -> list[str]:
        """The pages that it offers beside its tasks."""
        return _names(self.settings, "pages")

    def problems(self) -> list[dict[str, Any]]:
        """What keeps it from being given to a class, with lines of its file. Computes what rules ask for."""
        rules = sum(len(_lines(task.settings, "rule")) for task in self.stops)
        if rules > MOST_RULES:
            return [{"line": 1, "text": f"it has {rules:,} rules; at most {MOST_RULES} are read: make two."}]
        found = [(task.line, f"In “{task.title}”: {text}") for task in self.stops for text in task.problems()]
        for name in self.models:
            if name not in offers() and not HUB.fullmatch(name):
                found.append((1, f"model: there is no {quoted(name)}; {nearest(name, offers())}"))
        for name in self.pages:
            if name not in PAGES:
                found.append((1, f"pages: there is no {quoted(name)}; {nearest(name, PAGES)}"))
        if not any(task.kind for task in self.stops):
            found.append((1, "it has no task: give a stop a question, a rule: or write:."))
        return [{"line": line, "text": _ended(text)} for line, text in sorted(found)]

    def shown(self) -> dict[str, Any]:
        """For students: without rules, right options and why they are."""
        tasks = [task.shown() for task in self.stops]
        pages = [{"link": "?" if name == "explore" else name, "title": PAGES[name]} for name in self.pages]
        return {"title": self.title, "about": self.about, "pages": pages, "tasks": tasks}

    def task(self, number: int) -> Task:
        if not 0 <= number < len(self.stops) or not self.stops[number].kind:
            raise HTTPException(404, f"This sheet has no task {number + 1}; reload.")
        return self.stops[number]

    def judge(self, task: Task, given: Given) -> Verdict:
        """Refuses what is no answer to the task."""
        if task.kind == "choice" and task.question and given.option is not None:
            return _chosen(task.question, given.option)
        if task.kind == "text" and given.text is not None:
            text, most = given.text.strip(), int(task.settings["write"])
            if not 1 <= len(text) <= most:
                raise HTTPException(400, f"This has {len(text)} characters; write 1 to {most}.")
            return Verdict(None, "", "", text)
        if task.kind == "link" and given.link is not None:
            sentence = self._missing(task, Link.read(given.link))
            return Verdict(not sentence, sentence, "", given.link)
        raise HTTPException(400, "This is no answer to this task; reload.")

    def _missing(self, task: Task, link: Link) -> str:
        """What a link lacks, in a sentence; "" where it keeps all rules."""
        if link.page != task.opens.page:
            return f"This is {link.title}; the task is about {task.opens.title}."
        if not link.page and self.models and link.model not in self.models:
            return f"This task is about the model {' or '.join(self.models)}; choose it again."
        return next(filter(None, (_missing(rule, link) for rule in task.rules)), "")


def _chosen(question: Question, option: int) -> Verdict:
    if not 0 <= option < len(question.options):
        raise HTTPException(400, "This question has no such option; reload.")
    is_right = None if question.right is None else option == question.right
    sentence = "That is not so; look again." if is_right is False else ""
    because = "" if is_right is False else question.because
    return Verdict(is_right, sentence, because, question.options[option])


def _missing(rule: Rule, link: Link) -> str:
    """As a rule says it; what cannot be computed is missing, too."""
    try:
        return rule.missing(link)
    except ValueError as error:
        text = _ended(str(error))
        return f"{text[:1].upper()}{text[1:]}"


def _ended(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _lines(settings: dict[str, str], name: str) -> list[str]:
    return [line.strip() for line in settings.get(name, "").split("\n") if line.strip()]


def _names(settings: dict[str, str], name: str) -> list[str]:
    return [each.strip() for each in settings.get(name, "").replace("\n", ",").split(",") if each.strip()]
