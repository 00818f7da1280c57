"""Numbers as texts: numbers.json holds what the browser's tests expect of the same numbers, too."""

import html
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.viz_core.labels import (
    TIMES,
    brief,
    decimal,
    escape,
    invisible_number,
    scientific,
    short,
    tick,
    tick_labels,
    visible,
)


def test_repeats_are_numbered_from_the_second_on():
    tokens = ["the", "cat", "and", "the", "dog", "and", "the", "bird"]
    assert tick_labels(tokens) == ["the", "cat", "and", "the₂", "dog", "and₂", "the₃", "bird"]


def test_numbering_avoids_tokens_that_look_numbered():
    assert tick_labels(["the", "the₂", "the"]) == ["the", "the₂", "the₃"]


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("", "∅"),
        (" ", "␣"),
        (" the ", "␣the␣"),
        ("ice cream", "ice cream"),
        ("\n", "⏎"),
        ("\t", "⇥"),
        ("\u00a0", "␣"),
        ("\u200b", "U+200B"),
        ("\u202eabc", "U+202Eabc"),  # would turn the writing direction round
        ("\ud800", "U+D800"),  # could not be encoded
        ("\u200d", "U+200D"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("שלום", "שלום"),
        ("a" * 17, "a" * 15 + "…"),
        ("a" * 16, "a" * 16),
        ("a" * 14 + "e\u0301" + "b" * 9, "a" * 14 + "…"),  # a letter is not cut from its accent
    ],
)
def test_every_token_is_visible_and_short(token, shown):
    assert visible(token) == shown


def test_a_token_of_a_million_characters_costs_no_more_than_a_long_one():
    assert visible("x" * 1_000_000, max_length=8) == "xxxxxxx…"


@pytest.mark.parametrize("token", ["<b>", "<script>", "&lt;", "a&b", '<a href="x">', "<br>", "$x$"])
def test_markup_is_shown_as_typed(token):
    label = tick_labels([token])[0]
    assert "<" not in label and "$" not in label
    assert html.unescape(label) == token


@given(st.lists(st.text(max_size=20) | st.sampled_from(["the", "the₂", "the₃", "", " "]), max_size=30))
def test_labels_are_unique_short_visible_and_safe(tokens):
    labels = tick_labels(tokens)
    assert len(set(labels)) == len(tokens)
    for label in labels:
        assert html.unescape(label).strip()
        assert "<" not in label and ">" not in label and "$" not in label
        label.encode("utf-8")
    plain = tick_labels(tokens, escaped=False)
    assert [escape(label) for label in plain] == labels
    assert all(len(label) <= 20 for label in plain)


def test_a_string_is_no_list_of_tokens():
    with pytest.raises(ValueError, match="tokens='the cat' is one string; pass a list of strings"):
        tick_labels("the cat")


def test_invisible_numbers_differ_and_stay_invisible():
    numbers = [invisible_number(n) for n in range(200)]
    assert len(set(numbers)) == 200
    assert set("".join(numbers)) == {"\u200b", "\u2060"}


CASES = json.loads(Path(__file__).with_suffix("").with_name("numbers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("value", "digits", "text"), CASES["written"])
def test_numbers_with_digits(value, digits, text):
    assert decimal(value, digits) == text


@pytest.mark.parametrize(("value", "digits", "text"), CASES["brief"])
def test_numbers_in_little_room(value, digits, text):
    assert brief(value, digits) == text


@pytest.mark.parametrize(("value", "_", "text"), CASES["tick"])
def test_numbers_beside_ticks(value, _, text):
    assert tick(value) == text


@pytest.mark.parametrize(("value", "_", "text"), CASES["short"])
def test_numbers_of_any_size(value, _, text):
    assert short(value) == text


@pytest.mark.parametrize(("value", "text"), [(math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "NaN")])
def test_what_is_no_number_has_a_name(value, text):
    assert decimal(value) == short(value) == text


def test_a_power_of_ten_is_written_in_one_way():
    """2.4e−7, 2e-07 and 2.4 × 10⁻⁷ stood on the same screens."""
    assert decimal(2.4e-7) == short(2.4e-7) == scientific(2.4e-7) == f"2.4{TIMES}10⁻⁷"
