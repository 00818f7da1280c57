"""Sizes by formula are those of models that are really built."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine import size
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Stack, Transformer

MODELS = [
    {"kind": "decoder-only"},
    {"kind": "encoder-only", "bias": False, "norm": "post", "tied_embeddings": False},
    {"kind": "encoder-only", "input_channels": 7, "vocab_size": 1, "pad_id": None, "n_outputs": 5,
     "tied_embeddings": False, "pooling": "mean"},
    {"kind": "encoder-decoder", "target_vocab_size": 13, "d_head": 9, "d_ff": 21},
    {"kind": "encoder-decoder", "norm": "post", "bias": False},
    {"kind": "encoder-decoder", "positions": "t5"},
    {"kind": "decoder-only", "positions": "transformer-xl"},
    {"kind": "encoder-decoder", "positions": "transformer-xl", "d_head": 5},
    {"kind": "decoder-only", "positions": "learned", "activation": "gelu"},
    {"kind": "decoder-only", "norm": "none", "residual": False},
    {"kind": "encoder-decoder", "feed_forward": False},
    {"kind": "encoder-only", "norm": "post", "embedding_norm": True, "token_types": 2,
     "output_transform": True, "tied_embeddings": False},
    {"kind": "encoder-decoder", "norm": "none", "bias": False, "embedding_norm": True,
     "output_transform": True, "tied_embeddings": False},
]  # fmt: skip


def count(*modules) -> int:
    return sum(p.numel() for module in modules if module is not None for p in module.parameters())


@pytest.mark.parametrize("fields", MODELS, ids=str)
def test_parameters_are_those_of_the_model(fields):
    sizes = {"n_layers": 3, "n_heads": 2, "d_model": 12, "vocab_size": 11, "max_len": 20}
    config = ModelConfig(**{**sizes, **fields})
    model, counted = Transformer(config, seed=0), size.count_parameters(config)
    stacks: list[Stack] = [stack for stack in (model.encoder, model.decoder) if stack is not None]
    layers = [layer for stack in stacks for layer in stack.layers]
    assert counted.total == count(model)
    types = [stack.types for stack in stacks]
    assert counted.embedding == count(model.embedding, model.target_embedding, *types)
    assert counted.positions == count(*(stack.positions for stack in stacks))
    attention = [a for layer in layers for a in (layer.self_attention, layer.cross_attention)]
    assert counted.attention == count(*attention)
    assert counted.feed_forward == count(*(layer.feed_forward for layer in layers))
    norms = [n for layer in layers for n in (layer.self_norm, layer.cross_norm, layer.ff_norm)]
    norms += [n for stack in stacks for n in (stack.norm, stack.embedding_norm)]
    assert counted.norms == count(*norms)
    assert counted.output == count(model.transform, model.output)


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "encoder-decoder"])
@pytest.mark.parametrize(("feed_forward", "transforms"), [(True, False), (False, True)])
@pytest.mark.parametrize("differential", [False, True])
def test_the_operations_of_a_trace_are_those_that_pytorch_counts(
    kind: str, feed_forward: bool, transforms: bool, differential: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All products of matrices; without what writing the cells of each head takes."""
    monkeypatch.setattr(size, "CELL", 0)
    config = ModelConfig(
        kind=kind, n_layers=3, n_heads=2, d_model=12, d_head=4, d_ff=20, vocab_size=17, max_len=16,
        feed_forward=feed_forward, pad_id=None, output_transform=transforms, tied_embeddings=not transforms,
        differential=differential,
    )  # fmt: skip
    lengths = (9, 7) if kind == "encoder-decoder" else (9,)
    ids = [torch.zeros((1, length), dtype=torch.long) for length in lengths]
    with torch.no_grad(), FlopCounterMode(display=False) as counted:
        Transformer(config, seed=0)(*ids, trace=Trace())
    assert size.trace_operations(config, lengths) == counted.get_total_flops()
