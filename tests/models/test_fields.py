from dataclasses import dataclass, replace

import pytest

from attention_lab.models.fields import (
    Field,
    characters,
    number,
    one_of,
    read_link,
    setting,
    table,
    whole,
    written,
)


@dataclass(frozen=True)
class Inputs:
    n: int = setting(4, whole(1, 8))
    scale: float = setting(1.0, number(0.01, 100))
    kind: str = setting("a", one_of(("a", "b")))
    words: str = setting("", characters(5))
    cells: tuple = setting(((1.0,),), table((1, 2), (1, 3), limit=9))


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("n", "8", 8),
        ("scale", "0.25", 0.25),
        ("scale", "1e2", 100.0),
        ("kind", "b", "b"),
        ("words", "a b c", "a b c"),
        ("cells", "1,-2.5;3,4", ((1.0, -2.5), (3.0, 4.0))),
    ],
)
def test_a_value_that_fits_is_read_and_written_again(name: str, raw: str, value: object) -> None:
    values, problems = read_link(Inputs, {name: raw})
    assert (values, problems) == ({name: value}, [])
    again, _ = read_link(Inputs, {name: written(value)})
    assert again == {name: value}


@pytest.mark.parametrize(
    ("name", "raw", "rule"),
    [
        ("n", "9", "a whole number from 1 to 8"),
        ("n", "2.5", "a whole number from 1 to 8"),
        ("scale", "nan", "a number from 0.01 to 100"),
        ("scale", "0", "a number from 0.01 to 100"),
        ("kind", "c", "one of a, b"),
        ("words", "abcdef", "at most 5 characters"),
        ("cells", "1,2;3", "a table like 1,2;3,4: 1 to 2 rows of 1 to 3 numbers within ±9"),
        ("cells", "1,2,3,4", "a table like 1,2;3,4"),
        ("cells", "inf", "within ±9"),
        ("cells", "x", "a table like 1,2;3,4"),
    ],
)
def test_a_value_that_does_not_fit_is_left_out_with_its_rule(name: str, raw: str, rule: str) -> None:
    values, [problem] = read_link(Inputs, {name: raw})
    assert values == {}
    assert f"{name}={raw!r} is not " in problem
    assert rule in problem


def test_parameters_of_other_pages_are_no_problem() -> None:
    assert read_link(Inputs, {"head": "3"}) == ({}, [])


def test_a_text_that_is_too_long_to_fit_is_not_even_read() -> None:
    """A table's cells are not made into numbers first, and a text of more may be longer."""
    cells = table((1, 4), (1, 4))
    asked = replace(cells, read=lambda raw: pytest.fail("it was read"))
    with pytest.raises(ValueError, match="1,1,1"):
        asked.parsed("1," * 10_001)
    assert cells.parsed("1,2") == ((1.0, 2.0),)
    assert characters(30_000).parsed("a" * 30_000) == "a" * 30_000
    values, problems = read_link({"text": Field("", characters(10))}, {"text": "9" * 100_000})
    assert values == {} and problems == [
        f"The link's text={'9' * 40!r} is not at most 10 characters; its default is shown."
    ]


def test_half_a_character_is_no_text() -> None:
    rule = characters(20)
    assert rule.fits("🙂") and not rule.fits("a\ud83d")
    assert rule.refusal("a\ud83d").isascii()
    assert read_link({"text": Field("", rule)}, {"text": "a\ud83d"})[0] == {}
