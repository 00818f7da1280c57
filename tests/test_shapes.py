"""The check of shapes says no to what is wrong, however often it said yes."""

import beartype
import pytest
import torch
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from tests.shapes import checked

calls = []


@checked(beartype.beartype)
def row(table: Float[Tensor, "row column"], at: Tensor, wide: bool = False) -> Float[Tensor, " column"]:
    calls.append(wide)
    return table[0, : None if at > 0 else 1]


def test_each_kind_of_call_and_of_answer_is_checked_and_called_once() -> None:
    table = torch.zeros(2, 3)
    for _ in range(3):
        assert row(table, torch.tensor(1)).shape == (3,)
        with pytest.raises(TypeCheckError, match="return value"):
            row(table, torch.tensor(0))
        with pytest.raises(TypeCheckError, match="parameters"):
            row(table[0], torch.tensor(1))
        with pytest.raises(TypeCheckError, match="parameters"):
            row(table.long(), at=torch.tensor(1))
    assert len(calls) == 6


def test_what_says_nothing_of_shapes_is_left_as_it_is() -> None:
    def plain(value: int) -> int:
        return value

    assert checked(beartype.beartype)(plain) is plain


def test_the_engine_is_checked() -> None:
    from attention_lab.models import ModelConfig, Transformer

    sizes = {"n_layers": 1, "n_heads": 1, "d_model": 4, "vocab_size": 5, "max_len": 6}
    model = Transformer(ModelConfig(kind="encoder-only", **sizes))
    with pytest.raises(TypeCheckError, match="parameters"):
        model.encoder(torch.zeros(3))
