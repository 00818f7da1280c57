"""Questions of all parts: no answer is written down, each is computed."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import pages.lab
from pages.lab.lesson import Question
from pages.lab.page import spoiled_by
from pages.shared import cache
from pages.shared.lab_stops import STOPS

FILES = sorted(Path(pages.lab.__path__[0]).rglob("*.py"))


def answers_of(file: Path) -> list[ast.expr]:
    """What stands for `right` in each question of the file."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return [call.args[0] for call in calls if ast.unparse(call.func) == "Answer.of"]


def test_every_right_answer_depends_on_something_computed() -> None:
    answers = [(file, answer) for file in FILES for answer in answers_of(file)]
    assert len(answers) > 100
    for file, answer in answers:
        names = [node for node in ast.walk(answer) if isinstance(node, ast.Name)]
        assert names, f"{file}:{answer.lineno} is the literal {ast.unparse(answer)}"


def spoils(headline: str | list[str], **question: Any) -> bool:
    """Whether a headline spoils a part whose one question has `question`'s options, the first being right."""
    cache.results.drop()
    asked = Question(**{"ask": "?", "options": ("12", "20"), "right": 0, "because": ".", **question})
    part = SimpleNamespace(name="part", questions=lambda: (asked,))
    return spoiled_by(cast(Any, SimpleNamespace(name="page")), cast(Any, part), headline)


@pytest.mark.parametrize(
    ("headline", "expected"),
    [
        ("There are **12** of 20.", True),
        ("12, not 20.", True),
        ("It is 12.", True),
        ("It is 12.5.", False),
        ("It is 0.12, or 120.", False),
        ("It is 20.", False),
        (["It is 20.", "Later it is **12**."], True),
    ],
)
def test_a_headline_with_the_words_of_the_answer_spoils_its_question(
    headline: str | list[str], expected: bool
) -> None:
    assert spoils(headline) is expected


def test_words_are_found_in_any_case_and_whole() -> None:
    options = ("The last head", "the first head")
    assert spoils("And **the last head** spreads it.", options=options)
    assert not spoils("The last heads spread it.", options=options)


def test_a_question_may_say_itself_whether_the_headline_tells_it() -> None:
    assert spoils("Nothing here.", in_headline=True)
    assert not spoils("There are 12.", in_headline=False)


def test_questions_of_yes_and_no_say_whether_the_headline_tells_them() -> None:
    """Their answers are words of nearly every sentence, and a headline gives them away in others."""
    questions = [question for stop in STOPS for part in stop.parts.values() for question in part.questions]
    plain = [each for each in questions if any(re.match(r"yes|no$", o.lower()) for o in each.options)]
    assert plain
    assert not [question.ask for question in plain if question.in_headline is None]
