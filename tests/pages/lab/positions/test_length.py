"""Losses by position against a plain loop; learned positions answer with a sentence."""

import pytest
import torch

from attention_lab.pages.lab.positions.length import ask, in_buckets


@pytest.fixture(scope="module")
def texts(suite):
    return suite["none"].task.held_out_texts(3, 65, 1)


def test_losses_are_means_over_the_texts_in_a_plain_loop(suite, texts):
    lm = suite["alibi"]
    losses = ask(lm, texts, 32).losses
    assert losses.shape == (32,)
    with torch.no_grad():
        logits = lm.model(texts[:, :32])
    for position in (0, 5, 31):
        each = [
            -logits[row, position].log_softmax(dim=0)[texts[row, position + 1]].item() for row in range(3)
        ]
        assert losses[position].item() == pytest.approx(sum(each) / 3)


def test_more_words_do_not_change_the_losses_before_them(suite, texts):
    """The models are causal: 1x, 2x and 4x are one reading, cut off at three places."""
    for scheme, lm in suite.items():
        short, long = ask(lm, texts, 16), ask(lm, texts, 64)
        if scheme == "learned":
            assert long.losses is None
        else:
            torch.testing.assert_close(long.losses[:16], short.losses)
            assert long.between(0, 16) == pytest.approx(short.between(0, 16))


def test_learned_positions_refuse_what_they_have_no_vector_for(suite, texts):
    answer = ask(suite["learned"], texts, 17)
    assert answer.losses is None
    assert answer.between(16, 17) is None
    assert answer.refusal == ("17 words, but positions='learned' end at 16; ask for at most 16")
    assert ask(suite["learned"], texts, 16).refusal == ""


def test_buckets_are_means():
    losses = torch.arange(12.0)
    assert in_buckets(losses, 4).tolist() == [1.5, 5.5, 9.5]
