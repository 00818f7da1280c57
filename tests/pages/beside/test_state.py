"""What a link to two sides may hold."""

import pytest

from attention_lab.models.fields import read_link
from attention_lab.models.zoo.families import FAMILIES
from attention_lab.pages.beside import state, two_sides
from attention_lab.pages.beside.two_sides import ComparisonRequest
from attention_lab.pages.shared import on_offer
from attention_lab.pages.shared.work import Job

PARAMS = state.page().params
USUAL = {name: each.default for name, each in PARAMS.items()}


def test_a_link_names_both_sides_and_the_head() -> None:
    link = {"model": "masked", "text": "the [MASK] sleeps", "differs": "model", "model2": "translator"}
    values, problems = read_link(PARAMS, link | {"layer": "0", "head": "2"})
    assert not problems
    asked = state.request(USUAL | values)
    assert (asked.model, asked.differs, asked.other) == ("masked", "model", "translator")
    assert (asked.text, asked.settings) == ("the [MASK] sleeps", ())


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("differs", "magic", "is not one of text, model, step, head, "),
        ("model2", "nobody", "is not the name of a model that reads and is on offer here"),
        ("layer", "NaN", "is not a whole number from 0 to 4,096"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(name: str, value: str, rule: str) -> None:
    values, problems = read_link(PARAMS, {name: value})
    assert not values
    (said,) = problems
    assert rule in said and said.endswith("; its default is shown.")


def test_settings_come_as_explore_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(state, "refuse", said.append)
    assert state.settings(USUAL | {"with": "direction=fr-en&beam=2"}) == (("direction", "fr-en"), ("beam", 2))
    assert state.settings(USUAL | {"with": "beam=9&magic=1"}) == ()
    assert said == [
        "The link's beam='9' is not a whole number from 1 to 8; its default is taken.",
        "The link's with='magic' is no setting of this model; it is left out.",
    ]


def test_the_nearest_head_is_shown_where_there_are_fewer() -> None:
    request = ComparisonRequest("translator", "the cat", (), "text", "the dog", (0, 0))
    found = two_sides.compute(Job(request=request))
    (frame,) = found.frames
    layers, heads = frame.counts(0)["encoder.self"]
    for side in (0, 1):
        last = ("encoder.self", layers - 1, heads - 1)
        assert state.nearest(("encoder.self", 9, 99), frame, side) == last
        assert state.nearest(("encoder.self", 0, 99), frame, side) == ("encoder.self", 0, heads - 1)


@pytest.mark.parametrize("name", state.PRESETS)
def test_every_preset_fits(name: str) -> None:
    given = state.presets()[name]
    assert given.keys() <= PARAMS.keys()
    assert all(PARAMS[field].rule.fits(value) for field, value in given.items())


def test_two_sides_that_are_alike_are_said() -> None:
    same = state.request(USUAL | {"text": "a b", "text2": "a b"})
    assert state.unchanged(same).startswith("Both sides read the same text; change a word on side B")
    assert state.unchanged(state.request(USUAL)) == ""
    model = state.request(USUAL | {"differs": "model", "model2": USUAL["model"]})
    assert state.unchanged(model) == "Both sides are the same model; choose another on side B."


def test_the_members_of_a_family_can_be_compared_with_each_other() -> None:
    members = on_offer.members("translator-sizes")
    assert (
        members
        == on_offer.members("translator-sizes/n_heads-1")
        == list(FAMILIES["translator-sizes"].members())
    )
    assert on_offer.members("translator") == []
    assert all(map(state.MODEL.fits, members))
    assert on_offer.title(members[1]) == "translator-sizes/n_heads-1"
    assert not state.MODEL.fits("translator-sizes/n_heads-3")
