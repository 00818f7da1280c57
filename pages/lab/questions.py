"""Predict, then reveal: questions whose answers are computed when they are asked."""

import re
from collections.abc import Sequence
from typing import cast

import streamlit as st

from pages.lab.lesson import LabPage, Part, Question
from pages.shared import cache
from pages.shared.page_parts import show_problems
from pages.shared.state import guard_choice, problems


def ask(page: LabPage, part: Part) -> None:
    """The part's questions, one below the other; each shows its answer once a prediction is made."""
    st.markdown("##### Predict, then reveal")
    for at, question in enumerate(of(page, part)):
        with st.container(key=f"lab_question_{at}"):
            _ask(f"{page.name}/{part.name}/{at}", question)


def spoiled_by(page: LabPage, part: Part, notice: str | Sequence[str]) -> bool:
    """Whether a headline gives a right answer away, so that it has to be covered while people think."""
    headline = " ".join([notice] if isinstance(notice, str) else notice).replace("**", "").lower()
    return any(_is_told(question, headline) for question in of(page, part))


def _is_told(question: Question, headline: str) -> bool:
    if question.told is not None:
        return question.told
    answer = re.escape(question.options[question.right].lower())
    return bool(re.search(rf"(?<![\w.]){answer}(?!\w|\.\d)", headline))


def of(page: LabPage, part: Part) -> Sequence[Question]:
    """The part's questions, with their answers."""
    key = ("questions", page.name, part.name)
    made = cache.cached(cache.results, key, lambda: (tuple(part.questions()), 4_000))
    return cast(Sequence[Question], made)


@st.fragment
def _ask(place: str, question: Question) -> None:
    said = st.radio(question.ask, question.options, index=None, key=place)
    guard_choice(place, "Answer", question.options)
    show_problems(problems())
    if said is None:
        return
    answer = question.options[question.right]
    # Read in the browser, which remembers it (pages/shared/browser/marks.js).
    st.html(f'<i data-predicted="{place}" data-right="{int(said == answer)}"></i>')
    verdict = ":green[**Right.**]" if said == answer else f":orange[**No: {answer}.**]"
    st.markdown(f"{verdict} {question.because}")
