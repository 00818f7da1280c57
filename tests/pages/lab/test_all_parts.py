"""What holds for every part without a browser: its link, its questions, and what one takes away of it."""

import io
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention_lab.models.fields import read_link, written
from attention_lab.pages.lab.lesson import LabPage, Note, Part, lab_page, source_of
from attention_lab.pages.lab.page import PartView, coloured, script
from attention_lab.pages.lab.questions import questions_of
from attention_lab.pages.shared import glossary
from attention_lab.pages.shared.board import takeaway
from attention_lab.pages.shared.board.message import message
from attention_lab.pages.shared.lab_stops import NAMES, stop
from attention_lab.viz_core.boards import board_figure
from attention_lab.viz_core.paper import VENUES
from attention_lab.viz_core.paper.drawing import on_paper
from attention_lab.viz_core.viewer.message import pack
from tests.browser.lab_parts import ALL_PANELS
from tests.pages.lab.test_presets import PARTS, first_lesson, lessons

every_part = pytest.mark.parametrize(("lab", "part"), PARTS, ids=lambda value: getattr(value, "name", None))


def test_axe_looks_at_every_kind_of_panel() -> None:
    """By tests/browser/test_lab_pages.py."""
    boards = {(lab.name, part.name): first_lesson(lab.name, part.name).board for lab, part in PARTS}
    kinds = {place: {type(panel) for row in board.rows for panel in row} for place, board in boards.items()}
    assert set.union(*(kinds[page, part] for page, part, _ in ALL_PANELS)) == set.union(*kinds.values())


SIDE_BY_SIDE = {"schemes": "seven schemes are compared", "three": "three attentions are compared"}
"""Parts with more than two panels in sight, and why."""
LIGHT = {"objective": 100_000, "positions": 450_000}
"""The most bytes of a board's arrays, by page; of others 400,000."""


@every_part
def test_a_part_opens_on_its_point(lab: LabPage, part: Part) -> None:
    """One control and two panels; after each step and each experiment as well, in a light message."""
    controls = [control for control in part.in_sight if not isinstance(control, Note)]
    assert len(controls) + bool(part.scrub) == 1
    for lesson in lessons(lab.name, part.name):
        board = lesson.board
        panels = [panel for row in board.rows for panel in row if not panel.in_the_middle]
        main = [panel for panel in panels if panel.main] or panels
        assert len(main) <= 2 or part.name in SIDE_BY_SIDE
        assert 0 < len(pack(board=board).arrays) < LIGHT.get(lab.name, 400_000)
        assert isinstance(board.notice, str) or len(board.notice) == len(board.scrub.values)
        assert lesson.formula and lesson.sizes and lesson.shapes and lesson.code
        assert all(len(coloured(source_of(each))) < 9_500 for each in lesson.code)  # see `coloured`


@every_part
def test_a_link_shows_another_visitor_the_same(lab: LabPage, part: Part) -> None:
    """After each experiment."""
    usual = lab.inputs()
    for experiment in part.tries:
        here = replace(usual, **experiment.set)
        changed = {name: getattr(here, name) for name in part.fields}
        link = {name: written(v) for name, v in changed.items() if v != getattr(usual, name)}
        values, problems = read_link(lab.state.params, {"part": part.name, **link})
        assert not problems
        assert lab.find_part(values.pop("part")) is part
        theirs = replace(usual, **values)
        for name, value in changed.items():
            if isinstance(value, float):
                assert math.isclose(getattr(theirs, name), value, rel_tol=1e-5)
            else:
                assert getattr(theirs, name) == value, (experiment.label, name)


@every_part
def test_every_question_has_one_answer_of_a_few_and_the_glossary_its_terms(lab: LabPage, part: Part) -> None:
    asked = questions_of(lab, part)
    assert 2 <= len(asked) <= 3
    for question in asked:
        assert 2 <= len(question.options) == len(set(question.options)) <= 4
        assert 0 <= question.right < len(question.options)
        assert question.because
    terms = glossary.found_in(first_lesson(lab.name, part.name), part.label, part.tries, asked)
    assert set(glossary.found_in(asked)) <= set(terms)


@every_part
def test_answers_and_the_clicker_set_inputs_of_the_part(lab: LabPage, part: Part) -> None:
    declared = lab.state.params
    for question in questions_of(lab, part):
        assert question.set.keys() <= set(part.fields)
        assert all(declared[name].rule.fits(value) for name, value in question.set.items())
    if part.walks:
        assert part.walks in part.fields and part.walks != part.scrub
        assert declared[part.walks].rule.options[0] == declared[part.walks].default


@every_part
def test_every_tensor_of_its_texts_is_shown_with_its_shape(lab: LabPage, part: Part) -> None:
    """For some inputs: tensors with an axis that a lesson does not have are left out."""
    texts = stop(lab.name).parts[part.name]
    tensors: dict[str, set[str]] = {}
    for lesson in lessons(lab.name, part.name):
        tensors.setdefault(lesson.variant, set()).update(shape.name for shape in lesson.shapes)
    for variant, names in tensors.items():
        assert names >= set((texts.variants.get(variant) or texts).shapes), variant


def test_questions_of_every_page_explain_a_term() -> None:
    pages = {lab.name: False for lab, _ in PARTS}
    for lab, part in PARTS:
        pages[lab.name] |= bool(glossary.found_in(questions_of(lab, part)))
    assert all(pages.values()), pages


@every_part
def test_a_part_can_be_sent_and_taken_away(lab: LabPage, part: Part) -> None:
    """To the browser; as a figure, as numbers of what is shown, and as all its arrays."""
    board = first_lesson(lab.name, part.name).board
    assert message(board, part=part.name, link={})
    figure = board_figure(board, title=part.label)
    assert figure.data or figure.layout.shapes or figure.layout.annotations
    with np.load(io.BytesIO(takeaway.archive(board))) as arrays:
        assert arrays.files
        assert all(np.asarray(arrays[name]).size for name in arrays.files)
    try:
        assert takeaway.table(board, 0).count("\n") > 1
    except ValueError as error:
        assert "NPZ" in str(error) or "rows" in str(error)


@pytest.mark.parametrize("place", [(page, part) for page, part, _ in ALL_PANELS], ids="-".join)
def test_each_kind_of_panel_of_the_lab_is_legible_on_paper(place: tuple[str, str]) -> None:
    venue = VENUES["nature-wide"]
    paper = on_paper(board_figure(first_lesson(*place).board, width=venue.pixels), venue)
    assert paper.letters >= 4 and paper.figure.get_size_inches()[0] == pytest.approx(venue.width)


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_that_one_takes_away_make_the_same_board(name: str) -> None:
    """Of the first part of each page, after its first experiment."""
    page = lab_page(name)
    part = page.parts[0]
    inputs = page.computed_from(part, replace(page.inputs(), **part.tries[0].set))
    lesson = part.lesson(inputs)
    view = PartView(lesson, pack(board=lesson.board), {}, inputs)
    space: dict[str, Any] = {}
    exec(script(page, part, view), space)
    again, once = (np.load(io.BytesIO(takeaway.archive(each))) for each in (space["board"], lesson.board))
    assert again.files == once.files
    assert all(
        np.array_equal(again[key], once[key], equal_nan=once[key].dtype.kind == "f") for key in once.files
    )
