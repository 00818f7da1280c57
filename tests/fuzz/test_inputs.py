"""Links, widgets' values and the lessons that are made of them: a sentence, or what fits; nothing else."""

import importlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.models.fields import Field, fields_of, read_link, written
from attention_lab.models.zoo.catalogue import offers
from attention_lab.pages.explore import payload, state
from attention_lab.pages.explore.payload import Opened
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.runs.state import STATE
from attention_lab.pages.shared.lab_stops import NAMES
from tests.fuzz.odd import TEXTS, VALUES


def declared(page: str) -> dict[str, Field]:
    if page == "explore":
        return state.declared("untrained") | fields_of(state.View)
    if page == "runs":
        return dict(STATE.params)
    return fields_of(importlib.import_module(f"attention_lab.pages.lab.{page}.inputs").Inputs)


@pytest.mark.parametrize("page", [*NAMES, "explore", "runs"])
@given(data=st.data())
def test_a_link_says_what_fits_or_is_refused_in_a_sentence(page: str, data: st.DataObject) -> None:
    params = declared(page)
    name = data.draw(st.sampled_from(sorted(params)))
    values, problems = read_link(params, {name: data.draw(TEXTS)})
    assert len(values) + len(problems) == 1
    for value in values.values():
        assert params[name].rule.fits(value)
        again = params[name].rule.read(written(value))  # a link keeps six digits
        assert params[name].rule.fits(again) and written(again) == written(value)
    assert all(len(problem) < 700 and problem.endswith("its default is shown.") for problem in problems)


@pytest.mark.parametrize("page", [*NAMES, "explore", "runs"])
@given(data=st.data())
def test_a_widgets_value_fits_or_is_refused_in_a_sentence(page: str, data: st.DataObject) -> None:
    params = declared(page)
    rule = params[data.draw(st.sampled_from(sorted(params)))].rule
    value = data.draw(VALUES)
    if rule.fits(value) is not True:
        assert rule.fits(value) is False
        assert 0 < len(rule.refusal(value)) < 700


def likely(param: Field) -> st.SearchStrategy[Any]:
    """Values that pass the rule: its ends, its options, the default, and what of odd texts it reads."""
    rule = param.rule
    whole = isinstance(param.default, int)
    ends = (
        []
        if rule.low is None
        else [type(param.default)(end) for end in (rule.low, rule.high) if end is not None]
    )
    known = [value for value in [*ends, *rule.options, param.default] if rule.fits(value)]
    inside = st.nothing()
    if rule.low is not None and rule.high is not None:
        inside = st.integers(int(rule.low), int(rule.high)) if whole else st.floats(rule.low, rule.high)
    return st.one_of(st.sampled_from(known), inside.filter(rule.fits))


@pytest.mark.parametrize("page", NAMES)
@given(data=st.data())
def test_every_part_has_a_lesson_for_what_fits_or_a_sentence(page: str, data: st.DataObject) -> None:
    part = data.draw(st.sampled_from(lab_page(page).parts))
    usual = importlib.import_module(f"attention_lab.pages.lab.{page}.inputs").Inputs()
    params = declared(page)
    free = sorted(set(part.fields) - {part.scrub})
    changed = data.draw(st.lists(st.sampled_from(free), max_size=3, unique=True)) if free else []
    inputs = replace(usual, **{name: data.draw(likely(params[name])) for name in changed})
    try:
        lesson = part.lesson(inputs)
    except ValueError as error:
        assert 0 < len(str(error)) < 700
    else:
        assert lesson.board.rows


@given(data=st.data())
def test_explore_shows_any_text_or_says_why_not(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(offers())))
    params = {s.name: s for s in offers()[name].settings}
    asked = data.draw(st.sampled_from(sorted(params))) if params else ""
    given_ = (
        {} if not asked else {asked: data.draw(st.one_of(st.sampled_from([params[asked].default]), TEXTS))}
    )
    if asked and not params[asked].rule.fits(given_[asked]):
        given_ = {}
    text = data.draw(TEXTS.filter(state.COMMON["text"].rule.fits))
    try:
        body = payload.body_of_inputs(Inputs(name, text, **given_), Opened())
    except ValueError as error:
        assert 0 < len(str(error)) < 700
    else:
        assert body.stacks
