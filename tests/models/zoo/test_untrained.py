"""The untrained model: its masks, its padding, its words, against the engine called by hand."""

import pytest
import torch

from models import ModelConfig, Trace, Transformer, UntrainedModel
from models.engine import masks

TEXT = "a b a c"


def config(**changes) -> ModelConfig:
    sizes = {"n_layers": 2, "n_heads": 2, "d_model": 16, "vocab_size": 9, "max_len": 11}
    return ModelConfig(kind="encoder-only", **(sizes | changes))


def by_hand(ids: list[int], mask: torch.Tensor | None = None) -> Trace:
    trace = Trace()
    Transformer(config(), seed=5).eval()(torch.tensor([ids]), mask=mask, trace=trace)
    return trace


@pytest.mark.parametrize(
    ("mask", "ids"),
    [
        ("none", [1, 2, 1, 3]),
        ("causal", [1, 2, 1, 3]),
        ("padding", [1, 2, 1, 3, 0, 0, 0]),
        ("causal+padding", [1, 2, 1, 3, 0, 0, 0]),
    ],
)
def test_it_is_the_engine_with_that_mask(mask, ids):
    trace = UntrainedModel(config(), seed=5).trace(TEXT, mask=mask)
    extra = masks.causal(len(ids), len(ids)) if "causal" in mask else None
    expected = by_hand(ids, extra)
    assert list(trace) == list(expected)
    for address in trace:
        torch.testing.assert_close(trace[address], expected[address], rtol=0, atol=0)


def test_padding_is_seen_by_nobody():
    pattern = UntrainedModel(config(), seed=5).trace(TEXT, mask="padding")["encoder.0.self.pattern"]
    assert pattern.shape == (2, 7, 7)
    assert torch.equal(pattern[:, :, 4:], torch.zeros(2, 7, 3))
    torch.testing.assert_close(pattern[:, :, :4].sum(-1), torch.ones(2, 7))


def test_a_causal_query_sees_nothing_later():
    pattern = UntrainedModel(config(), seed=5).trace(TEXT, mask="causal")["encoder.1.self.pattern"]
    assert torch.equal(pattern, pattern.tril())


def test_words_are_named_in_order_of_appearance():
    model = UntrainedModel(config())
    assert model.names(model.read(TEXT)) == ("<pad>", "a", "b", "c")
    assert model.trace(TEXT, mask="padding").tokens == {
        "encoder": ["a", "b", "a", "c", "<pad>", "<pad>", "<pad>"]
    }


def test_the_seed_decides_the_weights():
    one, same, other = (UntrainedModel(config(), seed=seed).trace(TEXT)["logits"] for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.allclose(one, other)


def test_what_cannot_be_read_is_refused():
    model = UntrainedModel(config())
    with pytest.raises(ValueError, match="the text is empty; give at least one word"):
        model.trace(" ")
    with pytest.raises(ValueError, match="the text has 9 words, but this model reads at most 8; remove 1"):
        model.trace("w " * 9)
    with pytest.raises(ValueError, match="kind='decoder-only', pad_id=0: an untrained model"):
        UntrainedModel(ModelConfig(**(config().to_dict() | {"kind": "decoder-only"})))


@pytest.mark.parametrize(
    ("mask", "argument"),
    [
        ("window", "2"),
        ("causal+window", "2"),
        ("strided", "2"),
        ("fixed", "2.1"),
        ("prefix", "2"),
        ("packed", "3"),
        ("memory", "2.1"),
        ("edges", "0-3 1-2"),
        ("painted", "1000;0111;0000;1111"),
    ],
)
def test_each_mask_of_the_engine_is_the_models(mask, argument):
    allowed = masks.named(mask, argument, 4)
    trace = UntrainedModel(config(), seed=5).trace(TEXT, mask=mask, mask_arg=argument)
    expected = by_hand([1, 2, 1, 3], allowed)
    for address in trace:
        torch.testing.assert_close(trace[address], expected[address], rtol=0, atol=0)
    assert torch.equal(trace["encoder.0.self.pattern"] > 0, allowed[0].expand(2, 4, 4))


def test_a_query_that_sees_nothing_gets_zeros():
    trace = UntrainedModel(config(), seed=5).trace(TEXT, mask="painted", mask_arg="1000;0111;0000;1111")
    assert trace["encoder.0.self.scores"][:, 2].isneginf().all()
    assert not trace["encoder.0.self.pattern"][:, 2].any()
    assert not trace["encoder.0.self.z"][:, 2].any()
    assert trace["logits"].isfinite().all()


@pytest.mark.parametrize(
    ("mask", "argument", "sentence"),
    [
        ("none", "3", "mask 'none' takes no argument, but got '3'; leave it out"),
        ("window", "wide", "argument 'wide' of mask 'window' is not a width in tokens; try '4'"),
        ("painted", "10;01", "the painted mask has 2 rows, but there are 4 tokens; paint 4"),
        ("padding", "2", "mask='padding' hides the 3 <pad> that it adds and takes no argument, not '2'"),
    ],
)
def test_a_bad_argument_is_refused(mask, argument, sentence):
    with pytest.raises(ValueError, match=sentence):
        UntrainedModel(config()).trace(TEXT, mask=mask, mask_arg=argument)


def test_an_unknown_mask_is_refused():
    with pytest.raises(ValueError, match="mask='banded' is unknown; choose one of none, causal, padding"):
        UntrainedModel(config()).trace(TEXT, mask="banded")
