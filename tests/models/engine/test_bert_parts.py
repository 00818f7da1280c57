"""What BERT has and the paper's transformer has not: token types, embedding norm, output transform."""

import re
from collections.abc import Callable
from itertools import product

import pytest
import torch

from models import Transformer
from tests.models.engine.plain import plain_logits

Make = Callable[..., Transformer]
KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]
NORMS = ["pre", "post", "none"]
SOURCE, TARGET = [3, 1, 4, 10, 5, 9, 0, 0], [2, 6, 5, 3, 0]


def inputs(kind: str) -> list[torch.Tensor]:
    return [torch.tensor([each]) for each in (SOURCE, TARGET)[: 1 + (kind == "encoder-decoder")]]


@pytest.mark.parametrize(("kind", "norm"), list(product(KINDS, NORMS)))
@pytest.mark.parametrize("bias", [True, False])
def test_an_embedding_norm_and_an_output_transform_equal_plain_loops(
    make: Make, kind: str, norm: str, bias: bool
):
    fields = {"embedding_norm": True, "output_transform": True, "tied_embeddings": False, "norm_eps": 0.02}
    model = make(kind, norm=norm, bias=bias, activation="gelu", **fields)
    target = TARGET if kind == "encoder-decoder" else None
    expected = torch.tensor(plain_logits(model, SOURCE, target), dtype=torch.float64)
    torch.testing.assert_close(model(*inputs(model.config.kind))[0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("embedding_norm", [True, False])
def test_token_types_equal_plain_loops_and_are_all_the_first_where_they_are_left_out(
    make: Make, embedding_norm: bool
):
    model = make("encoder-only", token_types=3, embedding_norm=embedding_norm, positions="learned")
    types = [0, 0, 2, 1, 1, 2, 0, 0]
    expected = torch.tensor(plain_logits(model, SOURCE, types=types), dtype=torch.float64)
    found = model(*inputs(model.config.kind), types=torch.tensor([types]))
    torch.testing.assert_close(found[0], expected, rtol=0, atol=1e-10)
    first = torch.tensor(plain_logits(model, SOURCE), dtype=torch.float64)
    torch.testing.assert_close(model(*inputs(model.config.kind))[0], first, rtol=0, atol=1e-10)
    assert (first - expected).abs().max() > 0.1


@pytest.mark.parametrize(
    ("kind", "n_types", "types", "sentence"),
    [
        (
            "encoder-only", 2, [0, 1],
            "types of shape [1, 2] do not fit tokens of shape [1, 8]; give one type for each token",
        ),
        *[
            ("encoder-only", 2, [0] * 7 + [at], f"type {at} is none of the types 0 to 1; give one of them")
            for at in (2, -1)
        ],
        *[
            (kind, None, [0] * 8, "types given, but token_types=None tells no tokens apart; leave types out")
            for kind in KINDS
        ],
    ],
)  # fmt: skip
def test_types_that_there_are_not_are_refused(
    make: Make, kind: str, n_types: int | None, types: list[int], sentence: str
):
    model = make(kind, token_types=n_types)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        model(*inputs(model.config.kind), types=torch.tensor([types]))


def test_a_model_of_the_defaults_has_no_weights_of_what_it_does_without(make: Make):
    names = {name for kind in KINDS for name in make(kind).state_dict()}
    assert not [name for name in names if any(part in name for part in ("types", "embedding_norm", "transf"))]
