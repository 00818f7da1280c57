"""Names that stand twice, times in words, and text that is no Markdown."""

import pytest

from attention_lab.pages.shared.phrases import distinct, duration, numbered, plain


def test_boxes_that_stand_twice_get_their_number():
    assert numbered(["norm", "attention", "norm"]) == ["norm 1", "attention", "norm 2"]


def test_tokens_that_stand_twice_are_told_apart_as_in_every_figure():
    assert distinct(["the", "cat", "saw", "the", "dog"]) == ["the", "cat", "saw", "the₂", "dog"]


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
