"""Parts that BERT has and the paper's transformer lacks are right, and normalizers may look at nothing."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.engine import sparse
from attention_lab.models.engine.normalizers import NORMALIZERS
from attention_lab.models.zoo.engine_model import UntrainedModel
from tests.models.engine.plain import plain_logits, plain_weights

Make = Callable[..., Transformer]
KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]
SOURCE, TARGET = [3, 1, 4, 10, 5, 9, 0, 0], [2, 6, 5, 3, 0]


def inputs(kind: str) -> list[torch.Tensor]:
    return [torch.tensor([each]) for each in (SOURCE, TARGET)[: 1 + (kind == "encoder-decoder")]]


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


# Normalizers that may look at nothing: formula, gradients, edits, masks, and what is said of them.

OTHERS = ["softmax-plus-one", "sigmoid"]


def weights(how: str, scores: Tensor, mask: Tensor | None) -> Tensor:
    config = ModelConfig(kind="decoder-only", n_layers=1, n_heads=2, d_model=4, vocab_size=5, max_len=7)
    return NORMALIZERS[how](config).double()(scores, mask)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("how", ["softmax", *OTHERS])
def test_weights_and_their_gradients_are_those_of_the_formula(how: str) -> None:
    """Large scores, hidden keys and a row with all hidden included; gradients by differences."""
    scores, open_ = 9 * drawn(1, 2, 3, 4), drawn(1, 1, 3, 4, seed=1) > -0.3
    open_[0, 0, 1] = False
    masked = scores.masked_fill(~open_, -torch.inf)
    found = weights(how, masked, open_)
    expected = [
        [plain_weights(how, row, may) for row, may in zip(head, open_[0, 0].tolist(), strict=True)]
        for head in scores[0].tolist()
    ]
    torch.testing.assert_close(found[0], torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)
    assert (found[0, :, 1] == 0).all()

    def of(x: Tensor) -> Tensor:
        return weights(how, x.masked_fill(~open_, -torch.inf), open_)

    assert torch.autograd.gradcheck(of, drawn(1, 2, 3, 4, seed=2).requires_grad_())


@pytest.mark.parametrize("how", OTHERS)
def test_an_edit_of_scores_decides_anew_which_keys_are_counted(make: Make, how: str) -> None:
    """Hiding the last key of an encoder is what a mask that hides it is."""
    model, ids = make("encoder-only", normalizer=how, n_layers=1), torch.tensor([[3, 1, 4]])
    hidden = torch.tensor([False, False, True])
    edited, masked = (
        Trace(edit=lambda at, x: x.masked_fill(hidden, -torch.inf) if "scores" in at else x),
        Trace(),
    )
    model(ids, trace=edited)
    model(ids, mask=~hidden[None, None, None], trace=masked)
    torch.testing.assert_close(edited["logits"], masked["logits"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", OTHERS)
def test_sparse_masks_are_computed_whole(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks know the softmax alone."""
    monkeypatch.setattr(sparse, "LEAST", 8)
    config = ModelConfig(
        kind="decoder-only", n_layers=1, n_heads=2, d_model=8, vocab_size=9, max_len=64, pad_id=None,
        mask="causal+window", mask_argument="3", normalizer=how,
    )  # fmt: skip
    model, ids = Transformer(config, seed=0).eval(), torch.arange(64)[None] % 9
    torch.testing.assert_close(model(ids), model(ids, trace=Trace()), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("how", OTHERS)
def test_models_say_that_rows_need_not_sum_to_1(how: str) -> None:
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 8, "vocab_size": 9, "max_len": 9}
    lm = UntrainedModel(ModelConfig(kind="encoder-only", **sizes, normalizer=how))
    assert lm.attention("encoder.self").note == NORMALIZERS[how].note != ""
    assert UntrainedModel(ModelConfig(kind="encoder-only", **sizes)).attention("encoder.self").note == ""
