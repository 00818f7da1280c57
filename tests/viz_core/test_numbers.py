"""Numbers as texts: numbers.json holds what the browser's tests expect of the same numbers, too."""

import json
import math
from pathlib import Path

import pytest

from viz_core.numbers import brief, scientific, short, tick, written

CASES = json.loads(Path(__file__).with_suffix("").with_name("numbers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("value", "digits", "text"), CASES["written"])
def test_numbers_with_digits(value, digits, text):
    assert written(value, digits) == text


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
    assert written(value) == short(value) == text


def test_a_power_of_ten_is_written_in_one_way():
    """2.4e−7, 2e-07 and 2.4 × 10⁻⁷ stood on the same screens."""
    assert written(2.4e-7) == short(2.4e-7) == scientific(2.4e-7) == "2.4 × 10⁻⁷"
