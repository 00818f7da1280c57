"""The whole model: against plain loops, and by what must hold whatever the weights."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.engine import masks
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.positions import POSITIONS
from tests.models.engine.plain import plain_logits

Make = Callable[..., Transformer]
KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]
NORMS = ["pre", "post"]
SOURCE, TARGET = [3, 1, 4, 10, 5, 9, 0, 0], [2, 6, 5, 3, 0]
CHOICES: list[dict[str, Any]] = [
    {},
    {"positions": "learned", "activation": "gelu", "bias": False, "tied_embeddings": False},
    {"positions": "none", "activation": "gelu-tanh", "d_head": 3, "d_ff": 5, "attention_scale": 0.7},
    {"d_model": 7, "d_head": 2, "attention_scale": False, "pad_id": None, "n_heads": 1},
]


def inputs(model: Transformer, source: list[int] = SOURCE, target: list[int] = TARGET) -> list[torch.Tensor]:
    both = model.config.kind == "encoder-decoder"
    return [torch.tensor([source]), torch.tensor([target])] if both else [torch.tensor([source])]


@pytest.mark.parametrize(("kind", "norm", "fields"), list(product(KINDS, NORMS, CHOICES)))
def test_equals_plain_loops(make: Make, kind: str, norm: str, fields: dict[str, Any]):
    model = make(kind, norm=norm, **fields)
    expected = torch.tensor(
        plain_logits(model, SOURCE, TARGET if kind == "encoder-decoder" else None), dtype=torch.float64
    )
    torch.testing.assert_close(model(*inputs(model))[0], expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(model.float()(*inputs(model))[0], expected.float(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tied", [True, False])
def test_two_vocabularies_equal_plain_loops(make: Make, tied: bool):
    model = make("encoder-decoder", target_vocab_size=7, tied_embeddings=tied)
    expected = torch.tensor(plain_logits(model, SOURCE, TARGET), dtype=torch.float64)
    assert expected.shape == (5, 7)
    torch.testing.assert_close(model(*inputs(model))[0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("dropout", [0.0, 0.5])  # with it, PyTorch attends by another kernel
@pytest.mark.parametrize("norm", NORMS)
def test_nothing_but_padding_gives_numbers_and_gradients(make: Make, norm: str, dropout: float):
    model = make("encoder-decoder", norm=norm, dropout=dropout).train()
    source, target = torch.tensor([[0, 0, 0], [1, 2, 0]]), torch.tensor([[0, 0], [3, 0]])
    logits = model(source, target)
    assert logits.isfinite().all()
    logits.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_the_callers_mask_restricts_the_first_stack(make: Make, kind: str):
    model = make(kind, positions="none", n_layers=1, pad_id=None)
    n = len(SOURCE)
    only_itself = torch.eye(n, dtype=torch.bool)[None, None]
    if kind == "encoder-decoder":
        masked = model.encode(torch.tensor([SOURCE]), mask=only_itself)
        alone = torch.cat([model.encode(torch.tensor([[token]])) for token in SOURCE], dim=1)
    else:
        masked = model(torch.tensor([SOURCE]), mask=only_itself)
        alone = torch.cat([model(torch.tensor([[token]])) for token in SOURCE], dim=1)
    torch.testing.assert_close(masked, alone, rtol=0, atol=1e-12)


def test_a_mask_may_stand_for_the_source_tokens(make: Make):
    model = make("encoder-decoder")
    source, target = torch.tensor([SOURCE]), torch.tensor([TARGET])
    memory = model.encode(source)
    by_mask = model.decode(target, memory, (source != 0)[:, None, None, :])
    assert torch.equal(by_mask, model.decode(target, memory, source))
    assert not torch.allclose(by_mask, model.decode(target, memory))


def test_a_seed_means_the_same_weights_and_leaves_global_randomness_alone(make: Make):
    config = make("encoder-decoder", tied_embeddings=False, positions="learned").config
    torch.manual_seed(1)
    first = Transformer(config, seed=5).state_dict()
    drawn = torch.rand(3)
    torch.manual_seed(2)
    second, other, fresh = (Transformer(config, seed=seed).state_dict() for seed in (5, 6, None))
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(3))
    for name, weight in first.items():
        assert torch.equal(weight, second[name])
        if weight.dim() == 2:
            assert not torch.equal(weight, other[name])
            assert not torch.equal(weight, fresh[name])


@pytest.mark.parametrize(("positions", "norm"), list(product(POSITIONS, NORMS)))
def test_a_model_made_from_another_is_that_of_its_seed_and_shares_nothing(positions: str, norm: str):
    config = ModelConfig(
        kind="encoder-only",
        vocab_size=11,
        max_len=8,
        d_model=8,
        n_heads=2,
        n_layers=1,
        positions=positions,
        norm=norm,
    )
    first, expected = (Transformer(config, seed=seed) for seed in (5, 6))
    before = {name: weight.clone() for name, weight in first.state_dict().items()}
    other = first.anew(6)
    weights = other.state_dict()
    assert list(weights) == list(before)
    assert all(torch.equal(weight, expected.state_dict()[name]) for name, weight in weights.items())
    assert torch.equal(other(*inputs(other)), expected(*inputs(expected)))
    other.encoder.layers[0].register_forward_hook(lambda *_: torch.zeros(1, 8, 8))
    assert torch.equal(first.anew(6)(*inputs(other)), expected(*inputs(expected)))
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.fill_(1.0)
    assert all(torch.equal(weight, before[name]) for name, weight in first.state_dict().items())


def test_initial_logits_are_neither_flat_nor_certain():
    sizes: dict[str, Any] = {"n_layers": 2, "n_heads": 4, "d_model": 64, "vocab_size": 500, "max_len": 64}
    tokens = torch.randint(1, 500, (4, 64), generator=torch.Generator().manual_seed(0))
    for norm in NORMS:
        model = Transformer(ModelConfig(kind="decoder-only", norm=norm, **sizes), seed=0)
        assert 0.8 < model(tokens).std() < 1.3


@pytest.mark.parametrize(
    ("kind", "call", "sentence"),
    [
        (
            "decoder-only",
            lambda m: m(torch.tensor([[1, 11]])),
            "token id 11 is outside the vocabulary of 11; ids go from 0 to 10",
        ),
        (
            "encoder-only",
            lambda m: m(torch.ones(1, 13, dtype=torch.long)),
            "13 tokens do not fit max_len=12; cut the sequence, or raise max_len",
        ),
        (
            "decoder-only",
            lambda m: m(torch.ones(1, 0, dtype=torch.long)),
            "0 tokens: a sequence has at least one; give tokens of shape [batch, 1 or more]",
        ),
        (
            "encoder-decoder",
            lambda m: m(torch.tensor([[1]])),
            "target=None, but an encoder-decoder writes a target; call model(source, target)",
        ),
        (
            "decoder-only",
            lambda m: m(torch.tensor([[1]]), torch.tensor([[1]])),
            "target given, but kind='decoder-only' has one sequence; leave target out",
        ),
        (
            "decoder-only",
            lambda m: m.encode(torch.tensor([[1]])),
            "kind='decoder-only' has no encoder; call the model itself, or decode",
        ),
        (
            "encoder-only",
            lambda m: m.decode(torch.tensor([[1]])),
            "kind='encoder-only' has no decoder; call the model itself, or encode",
        ),
        (
            "encoder-decoder",
            lambda m: m.decode(torch.tensor([[1]])),
            "memory missing for kind='encoder-decoder'; give memory=model.encode(source)",
        ),
        (
            "decoder-only",
            lambda m: m.decode(torch.tensor([[1]]), torch.zeros(1, 2, 8, dtype=torch.float64)),
            "memory given for kind='decoder-only'; leave memory out",
        ),
        (
            "encoder-only",
            lambda m: m(torch.tensor([[1, 2, 0]]), mask=torch.ones(1, 1, 2, 2, dtype=torch.bool)),
            "mask of shape [1, 1, 2, 2] does not broadcast to [batch, head, query, key] = [1, 2, 3, 3]; "
            "give four axes, each of that size or 1",
        ),
    ],
)
def test_refused_with_value_rule_and_remedy(make: Make, kind: str, call: Callable, sentence: str):
    with pytest.raises(ValueError) as error:
        call(make(kind))
    assert str(error.value) == sentence


# What goes in and comes out besides words, a mask the model always wears, and layers computed again.

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


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("depth", [False, True])
def test_layers_computed_again_give_the_same_gradients(make: Make, kind: str, depth: bool):
    given = (IDS, IDS) if kind == "encoder-decoder" else (IDS,)
    gradients = []
    for recompute in (False, True):
        model = make(kind, dropout=0.1, depth_attention=depth).train()
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
            "argument '0-1 3-12' of mask 'edges' needs 13 tokens, but max_len=12; raise max_len",
        ),
        (
            {"mask": "painted", "mask_argument": "100;110;111", "max_len": 2},
            "argument '100;110;111' of mask 'painted' needs 3 tokens, but max_len=2; raise max_len",
        ),
        ({"mask": 3}, "mask=3 is no text"),
    ],
)
def test_what_makes_no_model_is_refused(make: Make, fields: dict, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make(fields.pop("kind", "encoder-only"), **fields)


def test_vectors_of_another_width_are_refused(make: Make):
    with pytest.raises(ValueError, match=re.escape("input of shape [1, 6, 4] does not fit input_channels=5")):
        make("encoder-only", **PICTURE)(torch.zeros(1, 6, 4, dtype=torch.float64))


def test_rows_of_a_batch_do_not_touch(make: Make):
    model = make("encoder-decoder")
    source, target = torch.tensor([[3, 1, 0, 0], [5, 9, 2, 6]]), torch.tensor([[1, 2, 0], [3, 4, 5]])
    together = model(source, target)
    for row in range(2):
        alone = model(source[row : row + 1], target[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=0, atol=1e-12)


def test_dropout_of_sublayers_and_embeddings_acts_in_training_only(make: Make):
    model, tokens = make("decoder-only", dropout=0.5), torch.tensor([[1, 2, 3]])
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.dropout = 0.0  # of patterns, which has a test of its own
    assert torch.equal(model(tokens), model(tokens))
    model.train()
    assert not torch.equal(model(tokens), model(tokens))
