"""Names that stand twice, and numbers of any size."""

import math

import pytest

from pages.shared.wording import numbered, short


def test_names_that_stand_twice_get_their_number():
    assert numbered(["the", "cat", "saw", "the", "dog"]) == ["the 1", "cat", "saw", "the 2", "dog"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.31622, "0.316"), (2.1e-7, "2.1 × 10⁻⁷"), (0.0, "0"), (1.0, "1"), (999.7, "1,000"),
     (12_345.0, "12,345"), (5.5e34, "5.5 × 10³⁴"), (math.inf, "∞"), (math.nan, "NaN"), (-2.5, "-2.5")],
)  # fmt: skip
def test_numbers_are_written_short(value, text):
    assert short(value) == text
