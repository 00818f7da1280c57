"""The tables and matrices that the steps start from."""

import torch

from attention_lab.pages.lab.attention import inputs

X, Q = (inputs.embeddings(list(words), list(words.values())) for words in (inputs.TOKENS, inputs.QUERIES))


def test_embeddings_have_a_row_for_each_word():
    rows = ((1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0))
    assert inputs.embeddings(["a", "b"], rows).tolist() == [list(row) for row in rows]
    assert inputs.embeddings(["a"], rows).tolist() == [[1, 2, 3, 4]]
    assert inputs.embeddings(["a", "b", "new"], rows)[2].tolist() == [0, 0, 0, 0]


def test_a_seed_gives_the_same_matrices_again_in_one_decimal_and_leaves_global_randomness_alone():
    before = torch.get_rng_state()
    first, again, other = inputs.matrices(3), inputs.matrices(3), inputs.matrices(4)
    assert torch.equal(torch.get_rng_state(), before)
    for name in first:
        assert torch.equal(first[name], again[name])
        assert not torch.equal(first[name], other[name])
        torch.testing.assert_close(first[name] * 10, (first[name] * 10).round(), rtol=0, atol=1e-9)


def test_matrices_by_hand_and_random_ones_have_the_same_shapes():
    by_hand, drawn = inputs.matrices(), inputs.matrices(0)
    assert {n: m.shape for n, m in by_hand.items()} == {n: m.shape for n, m in drawn.items()}
    assert by_hand["W_K"].shape == (len(inputs.CHANNELS),) * 2


def test_the_single_query_is_the_first_row():
    given = inputs.given_tensors(X, Q)
    assert torch.equal(given["q"], Q[0])
    assert given["q"].tolist() == list(inputs.QUERIES["il"])
