"""Operations and bytes of whole models, against PyTorch's counter and real caches."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from models.config import ModelConfig
from models.engine.size import activation_bytes, count_parameters
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.lessons.design import flops

MODELS = [
    {"kind": "decoder-only"},
    {"kind": "encoder-only", "bias": False, "tied_embeddings": False, "norm": "post"},
    {"kind": "encoder-decoder", "d_ff": 20},
    {"kind": "decoder-only", "n_heads": 3, "d_head": 6, "positions": "rotary", "n_layers": 1},
]


def config(**fields) -> ModelConfig:
    return ModelConfig(
        **{"n_layers": 2, "n_heads": 2, "d_model": 12, "vocab_size": 11, "max_len": 40, **fields}
    )


def inputs(model: Transformer, t: int) -> list[torch.Tensor]:
    return [torch.ones(1, t, dtype=torch.long)] * len(model.config.stacks)


@pytest.mark.parametrize("t", [1, 9])
@pytest.mark.parametrize("fields", MODELS, ids=str)
def test_operations_are_those_that_pytorch_counts(fields: dict, t: int):
    model = Transformer(config(**fields), seed=0)
    with FlopCounterMode(display=False) as counter:
        logits = model(*inputs(model, t), trace=Trace())  # traced, every product is a matmul of its own
    assert flops.forward(model.config, t).total == counter.get_total_flops()
    with FlopCounterMode(display=False) as backward:
        logits.sum().backward()
    assert flops.training(model.config, t) == counter.get_total_flops() + backward.get_total_flops()


def test_kaplans_n_is_the_matrices_of_the_layers():
    """Kaplan et al. 2020, equation 2.1; 12 n_layer d_model^2 for standard shapes."""
    found = config(kind="decoder-only", bias=False)
    counted = count_parameters(found)
    assert flops.kaplan_parameters(found) == counted.attention + counted.feed_forward == 12 * 2 * 12**2


def test_two_n_is_a_forward_pass_but_for_pairs_and_output():
    found, t = config(kind="decoder-only", bias=False), 16
    passed = flops.forward(found, t)
    assert passed.projections + passed.feed_forward == t * 2 * flops.kaplan_parameters(found)
    of_pairs = flops.kaplan_forward(found, t) - 2 * flops.kaplan_parameters(found)
    assert passed.pairs == 2 * t * of_pairs  # they count q . k alone; the weights times v are as many again


def test_training_holds_weights_four_times_and_activations():
    found = config(kind="encoder-decoder")
    held = flops.training_memory(found, 3, 8)
    n = 4 * sum(p.numel() for p in Transformer(found, seed=0).parameters())
    assert held[:3] == (n, n, 2 * n)
    assert held.activations == activation_bytes(found, (8, 8), 3)
    assert held.total == 4 * n + held.activations


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
def test_the_caches_bytes_are_those_of_a_real_one(kind: str):
    model, t = Transformer(config(kind=kind), seed=0), 7
    tokens = torch.ones(3, t, dtype=torch.long)
    cache = model.new_cache()
    with torch.no_grad():
        memory = model.encode(tokens) if kind == "encoder-decoder" else None
        model.decode(tokens, memory, tokens if memory is not None else None, cache=cache)
    kept = [each for pair in cache.layers for one in pair for each in (one.keys, one.values)]
    assert flops.cache_bytes(model.config, 3, t) == sum(k.nbytes for k in kept if k is not None)


def test_an_encoder_caches_nothing():
    assert flops.cache_bytes(config(kind="encoder-only"), 3, 7) == 0
