"""The way through the lab: pages and parts are named as they are, the paper's sections by their titles."""

import re

import pytest

from attention_lab.pages.shared.lab_stops import STOPS, Stop, part_of

SECTIONS = {
    "3.1": "Encoder and Decoder Stacks",
    "3.2.1": "Scaled Dot-Product Attention",
    "3.2.2": "Multi-Head Attention",
    "3.2.3": "Applications of Attention in our Model",
    "3.3": "Position-wise Feed-Forward Networks",
    "3.5": "Positional Encoding",
    "4": "Why Self-Attention",
    "5.3": "Optimizer",
    "5.4": "Regularization",
    "6.1": "Machine Translation",
}


def test_the_sections_are_those_of_the_paper() -> None:
    named = [section for stop in STOPS for section in stop.section.split(", ")]
    assert all(SECTIONS[number] == title for number, title in (each.split(" ", 1) for each in named))
    assert {each.split()[0] for each in named} == set(SECTIONS)


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.name)
def test_each_stop_says_in_one_sentence_what_is_understood_after_it(stop: Stop) -> None:
    assert re.fullmatch(r"[A-Z][^.!?]{30,110}\.", stop.after)


def test_a_place_that_is_not_there_is_none() -> None:
    assert part_of("masks", "graph") == ("masks", "graph")
    assert part_of("masks", "films") is part_of("../explore", "x") is part_of("None", "None") is None
