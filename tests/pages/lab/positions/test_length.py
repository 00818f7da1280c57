"""Losses by position against a plain loop; learned positions answer with a sentence."""

import pytest

from attention_lab.pages.lab.positions.length import ask


@pytest.fixture(scope="module")
def texts(suite):
    return suite["none"].task.held_out_texts(3, 65, 1)


def test_learned_positions_refuse_what_they_have_no_vector_for(suite, texts):
    answer = ask(suite["learned"], texts, 17)
    assert answer.losses is None
    assert answer.between(16, 17) is None
    assert answer.refusal == ("17 words, but positions='learned' end at 16; ask for at most 16")
    assert ask(suite["learned"], texts, 16).refusal == ""
