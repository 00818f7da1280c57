"""Reordering: an encoder without positions gives the same rows in another order, one with them does not."""

import pytest
import torch

from attention_lab.pages.lab.attention import inputs, order

WORDS = inputs.SENTENCE.split()


def test_order_of_takes_repeated_words_from_left_to_right():
    assert order.order_of(WORDS, inputs.REORDERED.split()) == [0, 4, 2, 3, 1]
    assert order.order_of(["a", "b"], ["b", "a"]) == [1, 0]


@pytest.mark.parametrize(
    ("words", "wanted", "message"),
    [
        ("a b", "a c", "the new order uses 'c' too often; use each word as often as the sentence"),
        ("a b", "a a", "the new order uses 'a' too often; use each word as often as the sentence"),
        ("a b", "a", "the new order leaves out 'b'; use every word of the sentence"),
        ("", "", "the sentence has 0 words, but may have 1 to 10; change it"),
        ("a " * 11, "a", "the sentence has 11 words, but may have 1 to 10; change it"),
    ],
)
def test_an_order_of_other_words_is_refused(words: str, wanted: str, message: str):
    with pytest.raises(ValueError) as error:
        order.order_of(words.split(), wanted.split())
    assert str(error.value) == message


@pytest.mark.parametrize("new", [[0, 4, 2, 3, 1], [4, 3, 2, 1, 0], [1, 2, 3, 4, 0]])
@pytest.mark.parametrize("seed", [0, 1])
def test_without_positions_outputs_are_reordered_and_otherwise_the_same(new: list[int], seed: int):
    result = order.compare(WORDS, new, positions="none", seed=seed)
    torch.testing.assert_close(result.reordered, result.original[new], rtol=0, atol=2e-6)
    assert result.largest < 2e-6


@pytest.mark.parametrize("seed", [0, 1])
def test_positions_break_it(seed: int):
    assert order.compare(WORDS, [4, 3, 2, 1, 0], positions="sinusoidal", seed=seed).largest > 0.5


def test_rows_are_put_back_where_their_words_were():
    result = order.compare(WORDS, [1, 2, 3, 4, 0], positions="sinusoidal")
    assert torch.equal(result.back[1], result.reordered[0])
    assert torch.equal(result.back[0], result.reordered[4])
    assert torch.equal(result.difference, (result.back - result.original).abs())
    assert result.largest == result.difference.max().item()
