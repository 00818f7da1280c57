"""Normalizers that may look at nothing: against plain loops, with gradients, masks, caches and long texts."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from models import ModelConfig, Trace, Transformer
from models.engine import blocks, normalizers
from models.engine.long_trace import LongTrace
from models.zoo.untrained import UntrainedModel
from tests.models.engine.plain import plain_weights

Make = Callable[..., Transformer]
OTHERS = ["softmax-plus-one", "sigmoid"]
SOURCE, TARGET = torch.tensor([[3, 1, 4, 0], [5, 9, 2, 6]]), torch.tensor([[1, 2, 0, 5, 6], [7, 8, 9, 1, 2]])


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("how", ["softmax", *OTHERS])
def test_weights_and_their_gradients_are_those_of_the_formula(how: str) -> None:
    """Large scores, hidden keys and a row with all hidden included; gradients by differences."""
    scores, open_ = 9 * drawn(1, 2, 3, 4), drawn(1, 1, 3, 4, seed=1) > -0.3
    open_[0, 0, 1] = False
    masked = scores.masked_fill(~open_, -torch.inf)
    found = normalizers.weights(how, masked, open_)
    expected = [
        [plain_weights(how, row, may) for row, may in zip(head, open_[0, 0].tolist(), strict=True)]
        for head in scores[0].tolist()
    ]
    torch.testing.assert_close(found[0], torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)
    assert (found[0, :, 1] == 0).all()

    def of(x: Tensor) -> Tensor:
        return normalizers.weights(how, x.masked_fill(~open_, -torch.inf), open_)

    assert torch.autograd.gradcheck(of, drawn(1, 2, 3, 4, seed=2).requires_grad_())


def test_where_all_scores_are_low_nothing_is_looked_at() -> None:
    low = torch.full((1, 1, 1, 5), -30.0)
    sums = {how: float(normalizers.weights(how, low, None).sum()) for how in ("softmax", *OTHERS)}
    assert sums["softmax"] == pytest.approx(1)
    assert max(sums["sigmoid"], sums["softmax-plus-one"]) < 1e-11


@pytest.mark.parametrize("how", OTHERS)
@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_both_paths_agree_and_so_do_their_gradients(make: Make, how: str, positions: str) -> None:
    model = make("decoder-only", normalizer=how, positions=positions)
    found = []
    for trace in (None, Trace()):
        logits = model(torch.tensor([[3, 1, 0, 4, 5]]), trace=trace)
        found.append([logits, *torch.autograd.grad(logits.square().sum(), model.parameters())])
    torch.testing.assert_close(*found, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("how", OTHERS)
@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
def test_caches_give_the_logits_of_the_whole(make: Make, how: str, kind: str) -> None:
    """Padding included: a sigmoid counts the keys that are open, not those that are there."""
    model = make(kind, normalizer=how)
    given = (model.encode(SOURCE), SOURCE) if kind == "encoder-decoder" else ()
    cache = model.new_cache()
    in_parts = [model.decode(new, *given, cache=cache) for new in TARGET.split([1, 3, 1], dim=1)]
    torch.testing.assert_close(torch.cat(in_parts, dim=1), model.decode(TARGET, *given), rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", OTHERS)
def test_padding_changes_no_real_token(make: Make, how: str) -> None:
    model = make("encoder-only", normalizer=how)
    alone, padded = model(torch.tensor([[3, 1, 4]])), model(torch.tensor([[3, 1, 4, 0, 0]]))
    torch.testing.assert_close(padded[:, :3], alone, rtol=0, atol=1e-12)


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
    monkeypatch.setattr(blocks, "LEAST", 8)
    config = ModelConfig(
        kind="decoder-only", n_layers=1, n_heads=2, d_model=8, vocab_size=9, max_len=64, pad_id=None,
        mask="causal+window", mask_argument="3", normalizer=how,
    )  # fmt: skip
    model, ids = Transformer(config, seed=0).eval(), torch.arange(64)[None] % 9
    torch.testing.assert_close(model(ids), model(ids, trace=Trace()), rtol=1e-4, atol=1e-4)


def test_long_texts_know_the_softmax_plus_one_and_refuse_the_sigmoid() -> None:
    sizes = {
        "kind": "decoder-only",
        "n_layers": 2,
        "n_heads": 2,
        "d_model": 8,
        "vocab_size": 50,
        "max_len": 90,
    }
    ids = torch.randint(1, 50, (1, 90), generator=torch.Generator().manual_seed(2))
    model, whole, long = (
        Transformer(ModelConfig(**sizes, normalizer=OTHERS[0]), seed=1).eval(),
        Trace(),
        LongTrace(),
    )
    with torch.no_grad():
        torch.testing.assert_close(model(ids, trace=long), model(ids, trace=whole), atol=1e-4, rtol=1e-4)
    for address, of in long.heads.items():
        expected = whole[f"{address}.pattern"][1]
        torch.testing.assert_close(of.whole(1, size=90).cells, expected, atol=1e-6, rtol=0)
    sigmoid = Transformer(ModelConfig(**sizes, normalizer="sigmoid"), seed=1)
    sentence = (
        "normalizer='sigmoid' has no softmax, and the patterns of long texts are made by one; give a shorter "
        "text, or a model with another normalizer"
    )
    with pytest.raises(ValueError, match=re.escape(sentence)):
        sigmoid(ids, trace=LongTrace())


@pytest.mark.parametrize("how", OTHERS)
def test_models_say_that_rows_need_not_sum_to_1(how: str) -> None:
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 8, "vocab_size": 9, "max_len": 9}
    lm = UntrainedModel(ModelConfig(kind="encoder-only", **sizes, normalizer=how))
    assert lm.note == normalizers.NOTES[how]
    assert UntrainedModel(ModelConfig(kind="encoder-only", **sizes)).note == ""
