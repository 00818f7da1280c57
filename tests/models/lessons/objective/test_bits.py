"""Bits per letter against PyTorch's loss on the same model."""

import math

import pytest
import torch
from torch.nn import functional as F

from models import load_model
from models.lessons.objective.bits import running_mean, surprise

TEXT = "To be, or not to be, that is the question"


@pytest.fixture(scope="module")
def lm():
    return load_model("shakespeare")


def test_surprise_is_the_models_loss(lm):
    read = surprise(lm, lm.read(TEXT))
    vocabulary = lm.outputs
    ids = torch.tensor([[vocabulary.index(letter) for letter in TEXT]])
    with torch.no_grad():
        expected = F.cross_entropy(lm.model(ids)[0, :-1], ids[0, 1:], reduction="none")
    torch.testing.assert_close(read.nats, expected.double(), atol=1e-5, rtol=1e-5)
    assert "".join(read.tokens) == TEXT[1:]
    assert read.n_choices == len(vocabulary) == 66
    mean = expected.double().mean().item()
    assert read.bits_per_token == pytest.approx(mean / math.log(2), rel=1e-5)
    assert read.perplexity == pytest.approx(math.exp(mean), rel=1e-5)
    assert read.bits_per_word == pytest.approx(read.bits_per_token * 40 / 10)


def test_the_card_says_bits_and_nats_of_the_same_loss(lm):
    metrics = lm.card["metrics"]
    assert metrics["bits per character"] == pytest.approx(metrics["loss"] / math.log(2))


def test_running_mean():
    assert running_mean(torch.tensor([1.0, 3.0, 5.0])).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ü" * 3, "the model has never seen 'ü'; leave it out"),
        ("a", "the text has no letter after its first token; write a few words"),
        ("   ", "the text has no letter after its first token; write a few words"),
        ("a" * 65, "the text has 65 tokens, but this model reads at most 64; remove 1"),
    ],
)
def test_texts_that_have_no_answer_are_refused(lm, text, told):
    with pytest.raises(ValueError, match=told):
        surprise(lm, lm.read(text))
