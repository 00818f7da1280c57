"""Collects the questions of a part, and says which of them its headline answers too early."""

import re
from collections.abc import Sequence
from typing import Any, cast

from attention_lab.pages.lab.lesson import LabPage, Part, Question
from attention_lab.pages.shared import cache


def place_of(page: LabPage, part: Part, at: int) -> str:
    """Returns the key under which a question's answer is kept."""
    return f"{page.name}/{part.name}/{at}"


def spoiled_by(page: LabPage, part: Part, notice: str | Sequence[str]) -> dict[str, Any] | None:
    """Finds the first question whose answer a headline gives away: it is covered while people think."""
    headline = " ".join([notice] if isinstance(notice, str) else notice).replace("**", "").lower()
    for at, question in enumerate(questions_of(page, part)):
        if _is_in(headline, question):
            place = place_of(page, part, at)
            asked = {"ask": question.ask, "options": question.options, "panels": question.in_panels}
            return {"place": place, "question": at, **asked}
    return None


def _is_in(headline: str, question: Question) -> bool:
    if question.in_headline is not None:
        return question.in_headline
    answer = re.escape(question.options[question.right].lower())
    return bool(re.search(rf"(?<![\w.]){answer}(?!\w|\.\d)", headline))


def questions_of(page: LabPage, part: Part) -> Sequence[Question]:
    """Returns the part's questions, with their answers."""
    key = ("questions", page.name, part.name)
    questions = cache.cached(cache.results, key, lambda: (tuple(part.questions()), 4_000))
    return cast(Sequence[Question], questions)
