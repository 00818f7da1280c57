"""Masks: who may attend to whom."""

import pytest
import torch

from models.engine import masks


def test_causal_sees_itself_and_what_came_before():
    assert masks.causal(3, 3)[0, 0].tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_causal_with_cached_keys_puts_the_last_query_at_the_last_key():
    assert masks.causal(2, 4)[0, 0].tolist() == [[True, True, True, False], [True, True, True, True]]


def test_padding_is_about_keys():
    mask = masks.padding(torch.tensor([[5, 0, 6], [0, 7, 7]]), 0)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, False, True], [False, True, True]]


def test_combine_allows_what_all_allow():
    both = masks.combine(masks.causal(2, 2), None, masks.padding(torch.tensor([[0, 3]]), 0))
    assert both is not None
    assert both[0, 0].tolist() == [[False, False], [False, True]]
    assert masks.combine(None, None) is None


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        (
            torch.zeros(1, 1, 2, 3),
            "mask of torch.float32 is not boolean (True = may attend); try mask.bool()",
        ),
        (
            torch.ones(2, 3, dtype=torch.long),
            "mask of torch.int64 is not boolean (True = may attend); try mask.bool()",
        ),
        (
            torch.ones(2, 3, dtype=torch.bool),
            "mask of shape [2, 3] does not broadcast to [batch, head, query, key] = [4, 8, 2, 3]; "
            "give four axes, each of that size or 1",
        ),
        (
            torch.ones(1, 1, 3, 2, dtype=torch.bool),
            "mask of shape [1, 1, 3, 2] does not broadcast to [batch, head, query, key] = [4, 8, 2, 3]; "
            "give four axes, each of that size or 1",
        ),
    ],
)
def test_refused_with_value_rule_and_remedy(mask: torch.Tensor, sentence: str):
    with pytest.raises(ValueError) as error:
        masks.check(mask, (4, 8, 2, 3))
    assert str(error.value) == sentence


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (4, 1, 2, 3), (1, 8, 1, 3), (4, 8, 2, 3)])
def test_whatever_broadcasts_is_accepted(shape: tuple[int, ...]):
    masks.check(torch.ones(shape, dtype=torch.bool), (4, 8, 2, 3))
