"""Questions of all parts: no answer is written down, each is computed."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from attention_lab.pages import lab as lab_pages
from attention_lab.pages.lab.lesson import Question
from attention_lab.pages.lab.questions import questions_of, spoiled_by
from attention_lab.pages.shared.lab_stops import STOPS
from tests.pages.lab.test_presets import PARTS, first_lesson

FILES = sorted(Path(lab_pages.__path__[0]).rglob("*.py"))


RIGHT = {
    "attention.steps": ["64", "the same to all", "look at it more"],
    "attention.worked": ["grows", "stays the same", "less than a millionth"],
    "attention.order": ["it stays the same", "it changes", "not at all"],
    "attention.films": ["same films, weights less even", "at all films alike", "something positive"],
    "softmax.spread": ["It grows towards 1", "Nothing", "One in between"],
    "softmax.dots": ["Twice", "Less than a hundredth", "All 64 keys look alike"],
    "softmax.head": [
        "Still “elle”",
        "To the key with the largest score",
        "It writes another French sentence",
    ],
    "softmax.formats": ["12", "NaN", "Digits"],
    "heads.cut": ["16 to 23", "as many", "about four times as many"],
    "heads.contributions": ["head 1", "not at all", "shorter"],
    "heads.cost": ["as many", "eight times as many", "eight times as many"],
    "heads.recut": ["as large", "yes, a lot", "not at all"],
    "masks.mask": ["1.00", "17", "do not change"],
    "masks.reach": ["13", "its segment: 3", "3 words further"],
    "masks.cost": ["5", "8 times"],
    "masks.late": ["less", "yes, until a hidden score leaves nothing to divide"],
    "masks.padding": [
        "stay the same",
        "more, but less than six times as much",
        "has the same row for every query",
    ],
    "masks.graph": ["2", "5"],
    "positions.waves": ["it stays as it is", "neither", "base 1,000,000"],
    "positions.shift": ["one for every shift", "shifted by 7", "the length stays"],
    "positions.learned": ["the first and the last", "the word's", "there is none"],
    "positions.rotary": ["the score stays", "pair 0", "no"],
    "positions.biases": ["the last", "60 and 61", "no"],
    "positions.schemes": ["no positions", "only that without positions"],
    "positions.order": ["that one and ALiBi", "yes: the mask tells it"],
    "positions.length": ["ALiBi", "learned", "no"],
    "block.flow": ["about half", "longer", "√32 = 5.7"],
    "block.depth": ["less than a billionth", "post-norm", "pre-norm"],
    "block.norms": ["512", "batch norm's", "0 in every channel"],
    "block.lens": ["the letter that is read", "layer 2", "road"],
    "translation.flow": ["1 and 15", "<bos> alone", "“il”"],
    "translation.three": ["15 × 14", "1", "the memory"],
    "translation.beam": ["no, the same", "no", "about twice as much"],
    "translation.sampling": ["the order stays, its share falls", "more", "as many"],
    "translation.forcing": ["“fatigué” alone", "it is lost", "the mask hides what follows"],
    "objective.targets": ["more", "0.92", "0.42 nats"],
    "objective.loss": ["Only on that of the right word", "Nothing", "0 and infinite"],
    "objective.letters": ["Bits per character", "more", "The first of each word"],
    "objective.gradient": ["Hundreds of times", "0", "At p = the smoothed target"],
    "objective.warmup": ["Half as high", "By the whole learning rate", "Nearly nothing"],
    "design.paths": ["the plain convolution's", "13", "more than twice as many"],
    "design.layers": ["× 4 and × 2", "256", "nearly all"],
    "design.table3": ["it falls by over 10 points", "(C) d_model 64 → 32"],
    "design.calculator": ["about 1.7 times", "four times as many", "6,700 tokens"],
    "design.memory": ["× 4", "one", "fused attention"],
}


def answers_of(file: Path) -> list[ast.expr]:
    """What stands for `right` in each question of the file."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return [call.args[0] for call in calls if ast.unparse(call.func) == "Answer.of"]


def test_the_right_answers_of_every_part() -> None:
    """What is computed of them is checked beside each part."""
    right = {
        f"{lab.name}.{part.name}": [question.options[question.right] for question in questions_of(lab, part)]
        for lab, part in PARTS
    }
    assert right == RIGHT


def test_every_right_answer_depends_on_something_computed() -> None:
    answers = [(file, answer) for file in FILES for answer in answers_of(file)]
    assert len(answers) > 100
    for file, answer in answers:
        names = [node for node in ast.walk(answer) if isinstance(node, ast.Name)]
        assert names, f"{file}:{answer.lineno} is the literal {ast.unparse(answer)}"


def spoils(headline: str | list[str], **question: Any) -> bool:
    """Whether a headline spoils a part whose one question has `question`'s options, the first being right."""
    asked = Question(**{"ask": "?", "options": ("12", "20"), "right": 0, "because": ".", **question})
    part = SimpleNamespace(name=str(question), questions=lambda: (asked,))
    return bool(spoiled_by(cast(Any, SimpleNamespace(name="page")), cast(Any, part), headline))


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


def test_panels_that_give_an_answer_away_are_on_the_board_and_not_all_of_it() -> None:
    """A question that names some comes first of those that the headline tells: only its panels fade."""
    naming = 0
    for lab, part in PARTS:
        named = [set(question.in_panels) for question in questions_of(lab, part) if question.in_panels]
        if not named:
            continue
        board = first_lesson(lab.name, part.name).board
        titles = {panel.title for row in board.rows for panel in row if hasattr(panel, "title")}
        spoilt = spoiled_by(lab, part, board.notice)
        assert named == [set(spoilt["panels"])] if spoilt else False, part.name
        assert named[0] < titles, part.name
        naming += 1
    assert naming >= 5
