"""What goes in and comes out besides words, a mask the model always wears, and layers computed again."""

import re
from collections.abc import Callable

import pytest
import torch

from models import ModelConfig, Trace, Transformer
from models.engine import masks
from tests.models.engine.plain import plain_logits

Make = Callable[..., Transformer]
IDS = torch.tensor([[3, 1, 4, 10, 5, 9], [2, 6, 5, 3, 0, 0]])
PICTURE = {"input_channels": 5, "n_outputs": 5, "vocab_size": 1, "pad_id": None, "tied_embeddings": False}


def test_vectors_pass_a_linear_map_and_then_the_same_layers(make: Make):
    model = make("encoder-only", **PICTURE)
    vectors = torch.randn(2, 6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    trace = Trace()
    logits = model(vectors[:1], trace=trace)
    expected = [[sum(w * c for w, c in zip(row, v, strict=True)) for row in model.embedding.weight.tolist()]
                for v in vectors[0].tolist()]  # fmt: skip
    biased = torch.tensor(expected, dtype=torch.float64) + model.embedding.bias
    torch.testing.assert_close(trace["encoder.embed"], biased, rtol=0, atol=1e-12)
    out = trace["encoder.norm"] @ model.output.weight.T
    torch.testing.assert_close(logits[0], out, rtol=0, atol=1e-12)
    torch.testing.assert_close(model(vectors), torch.cat([logits, model(vectors[1:])]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_pooling_reads_what_is_no_padding(make: Make, pooling: str):
    model = make("encoder-only", pooling=pooling, n_outputs=3, tied_embeddings=False)
    streams = [model.encode(row[row != 0][None])[0] for row in IDS]
    pooled = [stream[0] if pooling == "first" else stream.sum(0) / len(stream) for stream in streams]
    expected = torch.stack([model.output.weight @ vector for vector in pooled])
    assert model(IDS).shape == (2, 1, 3)
    torch.testing.assert_close(model(IDS)[:, 0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("mask", "argument"), [("fixed", "2.1"), ("strided", "3"), ("memory", "2.2")])
def test_a_config_s_mask_is_the_caller_s(make: Make, mask: str, argument: str):
    own, plain = make("decoder-only", mask=mask, mask_argument=argument), make("decoder-only")
    handed = masks.named(mask, argument, 6)
    torch.testing.assert_close(own(IDS), plain(IDS, mask=handed), rtol=0, atol=0)
    assert not torch.equal(own(IDS), plain(IDS))
    trace = Trace()
    own(IDS[:1], trace=trace)
    hidden = ~handed[0, 0] | ~masks.causal(6, 6)[0, 0]
    assert torch.equal(trace["decoder.0.self.scores"][0].isinf(), hidden)
    cache = own.new_cache()
    in_parts = torch.cat([own.decode(new, cache=cache) for new in IDS.split([3, 1, 2], dim=1)], dim=1)
    torch.testing.assert_close(in_parts, own(IDS), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("mask", "argument", "length"),
    [("edges", "0-1 1-2", 6), ("causal+edges", "0-5", 6), ("painted", "10;11", 2), ("painted", "", 6)],
)
def test_a_config_s_mask_may_need_more_than_one_token(make: Make, mask: str, argument: str, length: int):
    own = make("encoder-only", mask=mask, mask_argument=argument, max_len=6)
    handed = masks.named(mask, argument, length)
    plain = make("encoder-only", max_len=6)(IDS[:1, :length], mask=handed)
    torch.testing.assert_close(own(IDS[:1, :length]), plain, rtol=0, atol=0)


def test_outputs_of_their_own_equal_plain_loops(make: Make):
    model = make("encoder-only", n_outputs=4, tied_embeddings=False)
    expected = torch.tensor(plain_logits(model, IDS[0].tolist(), None), dtype=torch.float64)
    assert expected.shape == (6, 4)
    torch.testing.assert_close(model(IDS[:1])[0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
def test_layers_computed_again_give_the_same_gradients(make: Make, kind: str):
    given = (IDS, IDS) if kind == "encoder-decoder" else (IDS,)
    gradients = []
    for recompute in (False, True):
        model = make(kind, dropout=0.1).train()
        model.recompute = recompute
        assert model.recompute is recompute
        torch.manual_seed(5)  # dropout draws the same in both
        model(*given).square().sum().backward()
        gradients.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(gradients[0]) > 10
    for usual, again in zip(*gradients, strict=True):
        assert torch.equal(usual, again)


def test_recomputing_keeps_less_for_the_gradient(make: Make):
    kept = {}
    for recompute in (False, True):
        model, sizes = make("decoder-only").train(), []
        model.recompute = recompute
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t, s=sizes: s.append(t.numel()) or t, lambda t: t
        ):
            model(IDS)
        kept[recompute] = sum(sizes)
    assert kept[True] < kept[False] / 3


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            PICTURE | {"kind": "decoder-only"},
            "input_channels=5 needs kind='encoder-only', not 'decoder-only'",
        ),
        (PICTURE | {"n_outputs": None}, "reads vectors has no vocabulary to answer in; try n_outputs=5"),
        (PICTURE | {"vocab_size": 9}, "vocab_size=9 and pad_id=None are about token ids"),
        ({"n_outputs": 2}, "n_outputs=2 needs an output layer of its own; give tied_embeddings=False"),
        ({"pooling": "last"}, "pooling='last' is unknown; choose one of none, mean, first"),
        ({"mask": "keyhole"}, "mask='keyhole' is unknown"),
        ({"mask": "window", "mask_argument": "x"}, "argument 'x' of mask 'window' is not a width in tokens"),
        (
            {"mask": "edges", "mask_argument": "0-1 3-12", "max_len": 12},
            "argument '0-1 3-12' of mask 'edges' needs 13 tokens, but max_len=12; try max_len=13",
        ),
        (
            {"mask": "painted", "mask_argument": "100;110;111", "max_len": 2},
            "argument '100;110;111' of mask 'painted' needs 3 tokens, but max_len=2; try max_len=3",
        ),
        ({"mask": "edges", "mask_argument": "0,1"}, "argument '0,1' of mask 'edges' is not pairs of nodes"),
        ({"mask": "painted", "mask_argument": "10;1"}, "row 2 of the painted mask is '1', not 2 cells"),
        ({"mask": 3}, "mask=3 is no text"),
    ],
)
def test_what_makes_no_model_is_refused(make: Make, fields: dict, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make(fields.pop("kind", "encoder-only"), **fields)


def test_vectors_of_another_width_are_refused(make: Make):
    with pytest.raises(ValueError, match=re.escape("input of shape [1, 6, 4] does not fit input_channels=5")):
        make("encoder-only", **PICTURE)(torch.zeros(1, 6, 4, dtype=torch.float64))


def test_the_new_fields_survive_json():
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=2, d_model=4, max_len=6, pooling="mean", **PICTURE
    )
    assert ModelConfig.from_dict(config.to_dict()) == config
    assert config.output_vocab_size == 5
