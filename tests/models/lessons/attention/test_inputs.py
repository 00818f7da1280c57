"""The tables and matrices that the steps start from, and what is said about bad numbers."""

import math

import pytest
import torch

from models.lessons.attention import inputs


def default_inputs(seed: int | None = None) -> dict[str, torch.Tensor]:
    X = inputs.table("X", list(inputs.TOKENS.values()))
    Q = inputs.table("Q", list(inputs.QUERIES.values()))
    return inputs.inputs(X, Q, seed)


def test_a_table_keeps_its_numbers():
    assert inputs.table("X", [[1, -2.5], [0.1, 100]]).tolist() == [[1, -2.5], [0.1, 100]]


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "empty"), (math.nan, "empty"), (math.inf, "inf"), (-1e9, "-1e+09")]
)
def test_a_bad_cell_is_named(value: float | None, shown: str):
    with pytest.raises(ValueError) as error:
        inputs.table("X", [[1.0, 2.0], [3.0, value]])
    assert str(error.value) == (
        f"X, row 2, column 2 is {shown}, but must be a number from -100 to 100; try 0 or 1"
    )


@pytest.mark.parametrize("n_rows", [0, 9])
def test_too_few_or_too_many_rows(n_rows: int):
    with pytest.raises(ValueError, match=f"X has {n_rows} rows, but needs 1 to 8; add or remove some"):
        inputs.table("X", [[1.0]] * n_rows)


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
    given = default_inputs()
    assert torch.equal(given["q"], given["Q"][0])
    assert given["q"].tolist() == list(inputs.QUERIES["il"])
