"""Names that stand twice, and numbers of any size."""

import math

import pytest

from pages.shared.wording import duration, numbered, plain, short


def test_names_that_stand_twice_get_their_number():
    assert numbered(["the", "cat", "saw", "the", "dog"]) == ["the 1", "cat", "saw", "the 2", "dog"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.31622, "0.316"), (2.1e-7, "2.1 × 10⁻⁷"), (0.0, "0"), (1.0, "1"), (999.7, "1,000"),
     (12_345.0, "12,345"), (5.5e34, "5.5 × 10³⁴"), (math.inf, "∞"), (math.nan, "NaN"), (-2.5, "-2.5")],
)  # fmt: skip
def test_numbers_are_written_short(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(8.4, "8 s"), (200, "3 min 20 s"), (3_000, "50 min"), (7_500, "2 h 5 min"), (float("inf"), "unknown")],
)
def test_times_in_words(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_plain_text_has_no_markdown_left() -> None:
    assert plain("a *b* [c](d) :red[e]") == r"a \*b\* \[c\]\(d\) \:red\[e\]"


def test_an_address_is_no_link_and_looks_the_same() -> None:
    shown = plain("see http://a.example, www.b.example and c@d.example")
    assert shown.replace("\N{WORD JOINER}", "").replace("\\", "") == (
        "see http://a.example, www.b.example and c@d.example"
    )
    without_escapes = shown.replace("\\", "")
    assert not any(part in without_escapes for part in ("http://", "www.", "c@d"))
