"""Runs a lab page: parts, texts, experiments, the board beside its controls, drawers beside it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

import streamlit as st
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

from attention_lab.models.fields import SHOWN
from attention_lab.pages.lab import static
from attention_lab.pages.lab.lesson import (
    LabPage,
    Lesson,
    Part,
    draw_controls,
    fields_of,
    lab_page,
    source,
    source_of,
    whereabouts,
)  # fmt: skip
from attention_lab.pages.lab.questions import place_of, questions_of, spoiled_by
from attention_lab.pages.shared import cache, glossary, menu, page_parts, server_load, words
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.lab_stops import LAB, stop
from attention_lab.pages.shared.page_parts import computed_or_last, generation, show_problems
from attention_lab.pages.shared.state import guard_choice, problems, refuse
from attention_lab.viz_core import theme
from attention_lab.viz_core.viewer.message import Packed, pack


def ask(page: LabPage, part: Part) -> None:
    """The part's questions, one below the other; each shows its answer once a prediction is made."""
    st.markdown("##### Predict, then reveal")
    for at in range(len(questions_of(page, part))):
        with st.container(key=f"lab_question_{at}"):
            _ask_one(page, part, at)


@st.fragment
def _ask_one(page: LabPage, part: Part, at: int) -> None:
    place, question = place_of(page, part, at), questions_of(page, part)[at]

    def move() -> None:
        page.state.put(question.set)
        page_parts.redraw("lab")

    moves = move if question.set else None
    choice = st.radio(
        question.ask, question.options, index=None, key=place, on_change=moves, format_func=words.say
    )
    guard_choice(place, "Answer", question.options)
    show_problems(problems())
    if choice is None:
        return
    answer = question.options[question.right]
    # Read in the browser, which remembers it (viz_core/viewer/browser/marks.js).
    st.html(f'<i data-predicted="{place}" data-right="{int(choice == answer)}"></i>')
    verdict = ":green[**Right.**]" if choice == answer else f":orange[**No: {answer}.**]"
    st.markdown(f"{verdict} {question.because}")


def draw_drawers(page: LabPage, part: Part, lesson: Lesson, terms: Mapping[str, str]) -> None:
    """Sends all drawers; the browser shows one at a time (viz_core/viewer/browser/drawers.js).

    terms: those that stand in the part, as pages.shared.glossary found them.
    """
    with st.container(key="lab_drawer_formula"):
        _formula(lesson)
    with st.container(key="lab_drawer_code"):
        st.markdown("##### The code that ran")
        for made_by in lesson.code:
            st.html(coloured(source_of(made_by)))
    with st.container(key="lab_drawer_questions"):
        ask(page, part)
    st.html(glossary.drawer(terms, "Terms and symbols of this part"))


def _formula(lesson: Lesson) -> None:
    st.markdown("##### The formula")
    with st.container(key="lab_formula"):
        apart = r"\begin" not in lesson.formula  # each in a line of its own, which may go on in the next
        for formula in lesson.formula.split(r"\qquad") if apart else [lesson.formula]:
            st.latex(_with_macros(formula))
        st.markdown(f"with ${_with_macros(lesson.sizes)}$")
    st.markdown("##### Shapes of every tensor")
    rows = [
        f"| ${_with_macros(shape.name)}$ | {shape.axes} | {list(shape.sizes)} |" for shape in lesson.shapes
    ]
    st.markdown("\n".join(["| tensor | axes | shape |", "| --- | --- | --- |", *rows]))


@functools.lru_cache(512)
def coloured(code: str) -> str:
    """Writes Python as HTML whose tokens page.css colours. Give it one function at a time: Streamlit keeps a
    message of 10 kB or more in the browser, and loses its connection where that has dropped it meanwhile.
    """
    html = ""
    for name, tokens in groupby(PythonLexer().get_tokens(code), lambda token: _class_of(token[0])):
        text = escape("".join(text for _, text in tokens), quote=False)
        html += f"<i class={name}>{text}</i>" if name else text
    return f'<pre class="typed">\n{html}</pre>'


def _class_of(kind: Any) -> str:
    """Pygments' short name of a token where it has a colour; keywords, texts, numbers, comments: a letter."""
    short = STANDARD_TYPES.get(kind, "")
    return short if short in ("nf", "nc", "nd", "ow") else short[:1] * short.startswith(tuple("ksmc"))


def _with_macros(formula: str) -> str:
    r"""LaTeX in which \q, \k and \v colour queries, keys and values, and \new marks what changed."""
    colours = theme.palette(st.context.theme.type == "dark")
    for macro, role in (("q", "query"), ("k", "key"), ("v", "value"), ("new", "accent")):
        formula = formula.replace(f"\\{macro}{{", f"\\textcolor{{{colours[role]}}}{{")
    return formula


@dataclass(frozen=True)
class PartView:
    """A lesson with its board packed and the terms that stand there, the inputs it was made from, and a
    sentence if others were asked.
    """

    lesson: Lesson
    packed: Packed
    terms: dict[str, str]
    inputs: Any
    problem: str | None = None


def show(name: str) -> None:
    """Draws the page of this name."""
    run(lab_page(name))


def run(page: LabPage) -> None:
    """Draws a page."""
    page.state.enter()
    on_page.component.load()
    _lab(page)


@st.fragment(key="lab")
def _lab(page: LabPage) -> None:
    state = page.state
    state.enter()
    if "entered_by" in st.session_state:
        by = st.session_state.pop("entered_by")
        _enter(page, page.parts[0 if by > 0 else -1], by)
    part, now = page.part(), page.now()
    if st.session_state.get("drawn_part") != (page.name, part.name):
        state.write_again()
    try:
        view = _view_of(page, part, now)
    except ValueError as error:  # not even the usual lesson: the server holds too much memory
        show_problems([str(error)])
        return
    above = st.container()
    main, side = st.columns([3.3, 1], gap="medium")
    tries, figure = main.container(), main.container()
    page_parts.draw_parts(
        [
            (above, lambda: _heading(page)),
            (side, lambda: _side(page, part, view)),
            (tries, lambda: _tries(page, part)),
            (figure, lambda: _board(page, part, view, now)),
        ],
        again=st.session_state.get("drawn_part") == (page.name, part.name),
    )
    st.session_state.drawn_part = (page.name, part.name)
    draw_drawers(page, part, view.lesson, view.terms)
    title, name = f"{page.title}: {part.label}", f"{page.name}-{part.name}"
    if on_page.wants_take_away():
        code, file = script(page, part, view), LAB / page.name / f"{part.name}.py"
        texts = repr(stop(page.name).parts.get(part.name)), file.read_text("utf-8") if file.exists() else ""
        whole = on_page.whole(page.title, page.name, part.name, lambda: static.parts_of(page))
        facts = _facts(page, part, view)
        on_page.take_away(title, name, view.lesson.board, lambda frame: code, facts, texts, whole)


def script(page: LabPage, part: Part, view: PartView) -> str:
    """Lines of Python that make the board again, and below them what computes its numbers."""
    usual, fields = page.inputs(), [name for name in part.fields if name != part.scrub]
    changed = {
        name: value for name in fields if (value := getattr(view.inputs, name)) != getattr(usual, name)
    }
    arguments = "".join(f", {name}={value!r}" for name, value in changed.items())
    modules = sorted({function.__module__ for function in view.lesson.code})
    names = "".join(f"from {module} import *\n" for module in modules)
    return (
        f"from dataclasses import replace\n\nfrom {LabPage.__module__} import lab_page\n\npage = "
        f"lab_page({page.name!r})\nlesson = "
        f"page.find_part({part.name!r}).lesson(replace(page.inputs(){arguments}))\nboard = lesson.board\n\n# "
        f"What computes its numbers, with the names that it uses:\n{names}\n\n{source(view.lesson)}"
    )


def _facts(page: LabPage, part: Part, view: PartView) -> dict[str, object]:
    """What the board is of, by the labels of its controls and the names of their options; what stands for a
    default is left out.
    """
    facts: dict[str, object] = {}
    for name in part.fields:
        field, value = page.state.params[name], getattr(view.inputs, name)
        if (
            name != part.scrub
            and field.label
            and isinstance(value, str | int | float)
            and value not in (-1, "")
        ):
            switched = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
            facts[field.label] = field.rule.names.get(value, switched)
    return facts


def _view_of(page: LabPage, part: Part, now: Any) -> PartView:
    """The lesson for the present inputs; for the last possible ones, with a sentence, where these are not."""
    present, usual = page.computed_from(part, now), (page.inputs(),)
    latest = computed_or_last(
        f"{page.name}.{part.name}", present, usual, lambda inputs: _computed(page, part, inputs)
    )
    return PartView(*latest.value, latest.inputs, latest.problem)


def _computed(page: LabPage, part: Part, inputs: Any) -> tuple[Lesson, Packed, dict[str, str]]:
    def make() -> tuple[Any, int]:
        server_load.check_memory()
        lesson = part.lesson(inputs)
        packed = pack(board=lesson.board)
        terms = glossary.found_in(lesson, part.label, part.tries, questions_of(page, part))
        return (lesson, packed, terms), 2 * packed.size + 10_000

    return cache.cached(cache.payloads, (page.name, part.name, inputs), make)


def _heading(page: LabPage) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lab_heading"):
        st.html(f"<h1>{page.title}</h1>")
        page.state.draw("part")


def _tries(page: LabPage, part: Part) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lab_tries"):
        st.markdown("**Try this**", width="content")
        for experiment in part.tries:
            st.button(experiment.label, on_click=page.state.put, args=(experiment.set,))


def _side(page: LabPage, part: Part, view: PartView) -> None:
    with st.container(key="lab_side"):
        st.markdown(view.lesson.see)
        draw_controls(page.state, part.in_sight)
        if part.folded:
            _fold(page, part)
        key = f"{page.name}.reset"
        st.button("Reset", on_click=page.state.reset, args=(part.fields,), width="stretch", key=key)


def _fold(page: LabPage, part: Part) -> None:
    """The other controls, in sight from when one of them is changed, by a link perhaps, to the next part."""
    place, changed = (page.name, part.name), bool(page.state.link(fields_of(part.folded)))
    if changed or st.session_state.get("unfolded") != place:
        st.session_state.unfolded = place if changed else None
    is_open = st.session_state.unfolded == place
    fold = st.expander("More settings", expanded=is_open, key=f"{page.name}.{part.name}.more")
    draw_controls(page.state, part.folded, fold)


def _board(page: LabPage, part: Part, view: PartView, now: Any) -> None:
    show_problems([view.problem, *problems()])
    key = f"{page.name}.board"

    def on_act(act: Act) -> None:
        match act["type"]:
            case "edit" if act["field"] in part.fields:
                page.state.edit(act["field"], act["value"])
            case "edit":
                refuse(f"{act['field'][:SHOWN]!r} is no input of this part; reload.")
            case "part":
                page.state.put({"part": page.find_part(act["name"]).name})
            case "answer":
                _answer(page, part, act["question"], act["option"])
            case "go" | "skip":
                _go(page, part, now, act)
            case _:
                st.session_state[on_page.TAKE_AWAY] = act

    on_page.component.show(view.packed.message(**_header(page, part, view, now)), key=key, on_act=on_act)


def _answer(page: LabPage, part: Part, at: int, option: int) -> None:
    """Notes what was answered in the headline's place, and shows the answer on the board."""
    questions = questions_of(page, part)
    if not (0 <= at < len(questions) and 0 <= option < len(questions[at].options)):
        return refuse("This part asks no such question; reload.")
    st.session_state[place_of(page, part, at)] = questions[at].options[option]
    page.state.put(questions[at].set)


def _go(page: LabPage, part: Part, now: Any, act: Act) -> None:
    """To the next stop of the part's sequence, the next part, the next page; or back.

    now: the inputs that were drawn. Those that are kept may be older again: a browser that has just drawn
    them sends, with the act, what its widgets held before.
    """
    by = 1 if act["by"] > 0 else -1
    if act["type"] == "go" and part.walks:
        stops = page.state.params[part.walks].rule.options
        at = stops.index(getattr(now, part.walks)) + by
        if 0 <= at < len(stops):
            return page.state.put({"part": part.name, part.walks: stops[at]})
    at = page.parts.index(part) + by
    if 0 <= at < len(page.parts):
        # Who skips back looks at a part from its start.
        _enter(page, page.parts[at], by if act["type"] == "go" else 1)
    else:
        menu.go(page.name, act)


def _enter(page: LabPage, part: Part, by: int) -> None:
    """Shows a part at the first stop of its sequence, or at the last, where one comes back."""
    walks = (
        {part.walks: page.state.params[part.walks].rule.options[0 if by > 0 else -1]} if part.walks else {}
    )
    page.state.put({"part": part.name, **walks})


def _header(page: LabPage, part: Part, view: PartView, now: Any) -> dict[str, Any]:
    usual = page.inputs()
    moves = st.session_state.get("moves", 0)
    scrub = {"at": getattr(now, part.scrub), "usual": getattr(usual, part.scrub)} if part.scrub else None
    return {
        "page": page.name,
        "part": part.name,
        "scrub": scrub,
        "moves": moves,
        "generation": generation((page.name, part.name, view.inputs, view.problem, now, moves)),
        "link": page.link(part),
        "fits": True,
        "stale": bool(view.problem),
        "where": whereabouts(page, part, now),
        "spoiler": spoiled_by(page, part, view.lesson.board.notice),
        "parts": [each.name for each in page.parts],
        "terms": glossary.sentences(view.terms),
    }
