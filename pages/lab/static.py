"""A page of the lab without a server: its parts as they are at first, at each step, experiment and answer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

from attention_lab.models.fields import written
from attention_lab.pages.lab.lesson import LabPage, Lesson, Part, Question, source, whereabouts
from attention_lab.pages.lab.questions import questions_of, spoiled_by
from attention_lab.pages.shared import glossary
from attention_lab.viz_core.viewer.message import pack
from attention_lab.viz_core.viewer.static import documents as static
from attention_lab.viz_core.viewer.static.documents import latex, markdown


def parts_of(page: LabPage) -> list[static.Part]:
    return [_part(page, part) for part in page.parts]


def _part(page: LabPage, part: Part) -> static.Part:
    states: list[static.State] = []
    places: list[Mapping[str, Any]] = []  # the inputs of each state that differ from the usual ones

    def choice(label: str, inputs: Mapping[str, Any]) -> static.Choice:
        own = _own(page, part, inputs)
        if own not in places:
            places.append(own)
            states.append(_state(page, part, own, len(places)))
        return static.Choice(label, places.index(own), inputs.get(part.scrub or ""))

    def question(asked: Question) -> static.Question:
        shows = choice("", asked.set) if asked.set else None
        return static.Question(asked.ask, asked.options, asked.right, asked.because, shows)

    def steps() -> Iterator[static.Choice]:
        if part.walks and (rule := page.state.params[part.walks].rule):
            for stop in rule.options:
                yield choice(rule.names.get(stop, str(stop)), {part.walks: stop})

    choice("", {})
    labels = [page.state.params[name].label for name in part.fields if name not in (part.scrub, part.walks)]
    return static.Part(
        part.name,
        part.label,
        states,
        tries=[choice(each.label, each.set) for each in part.tries],
        steps=list(steps()),
        questions=[question(asked) for asked in questions_of(page, part)],
        needs=[label for label in dict.fromkeys(labels) if label],
    )


def _own(page: LabPage, part: Part, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Those that differ from the usual ones; the scrub is moved in the browser."""
    usual = page.inputs()
    return {n: value for n, value in inputs.items() if n != part.scrub and value != getattr(usual, n)}


def _state(page: LabPage, part: Part, own: Mapping[str, Any], at: int) -> static.State:
    now = replace(page.inputs(), **own)
    try:
        lesson = part.lesson(now)
    except ValueError as error:  # an experiment that shows what is refused
        return static.State(problem=str(error))
    terms = glossary.found_in(lesson, part.label, part.tries, questions_of(page, part))
    usual = getattr(now, part.scrub) if part.scrub else None
    link = _link(page, part, own)
    words = {
        "see": lesson.see,
        "formula": "".join(_formula(lesson)),
        "code": f"<h5>The code that ran</h5><pre><code>{escape(source(lesson))}</code></pre>",
        "glossary": glossary.drawer(terms, "Terms and symbols of this part"),
    }
    message = pack(board=lesson.board).message(
        page=page.name, part=part.name, generation=at, moves=at, fits=True, link=link, words=words,
        scrub={"at": usual, "usual": usual} if part.scrub else None,
        where=whereabouts(page, part, now), spoiler=spoiled_by(page, part, lesson.board.notice),
        parts=[each.name for each in page.parts], terms=glossary.sentences(terms),
    )  # fmt: skip
    return static.State(message, link)


def _link(page: LabPage, part: Part, own: Mapping[str, Any]) -> dict[str, str]:
    """The query parameters of a state: those of the app."""
    first = {} if part is page.parts[0] else {"part": part.name}
    return first | {name: written(own[name]) for name in part.fields if name in own}


def _formula(lesson: Lesson) -> Iterator[str]:
    """A lesson's formula and the shapes of its tensors."""
    apart = r"\begin" not in lesson.formula
    yield "<h5>The formula</h5>"
    for line in lesson.formula.split(r"\qquad") if apart else [lesson.formula]:
        yield latex(line, tag="div")
    yield f"{markdown(f'with ${lesson.sizes}$')}<h5>Shapes of every tensor</h5><table><thead>"
    yield "<tr><th>tensor</th><th>axes</th><th>shape</th></tr></thead>"
    for shape in lesson.shapes:
        yield f"<tr><td>{latex(shape.name)}</td><td>{escape(shape.axes)}</td>"
        yield f"<td>{list(shape.sizes)}</td></tr>"
    yield "</table>"
