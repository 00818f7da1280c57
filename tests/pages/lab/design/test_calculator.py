"""Operations and bytes of whole models, against PyTorch's counter and real caches."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine.size import activation_bytes, count_parameters
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Transformer
from attention_lab.pages.lab.design import calculator, inputs
from attention_lab.pages.lab.design.inputs import PRESETS, Inputs
from tests.pages.lab.boards import facts, panel
from tests.pages.lab.design.conftest import rows, table

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


def read(model: Transformer, t: int) -> list[torch.Tensor]:
    return [torch.ones(1, t, dtype=torch.long)] * len(model.config.stacks)


@pytest.mark.parametrize("t", [1, 9])
@pytest.mark.parametrize("fields", MODELS, ids=str)
def test_operations_are_those_that_pytorch_counts(fields: dict, t: int):
    model = Transformer(config(**fields), seed=0)
    with FlopCounterMode(display=False) as counter:
        logits = model(*read(model, t), trace=Trace())  # traced, every product is a matmul of its own
    assert calculator.forward(model.config, t).total == counter.get_total_flops()
    with FlopCounterMode(display=False) as backward:
        logits.sum().backward()
    assert calculator.training(model.config, t) == counter.get_total_flops() + backward.get_total_flops()


def test_kaplans_n_is_the_matrices_of_the_layers():
    """Kaplan et al. 2020, equation 2.1; 12 n_layer d_model^2 for standard shapes."""
    found = config(kind="decoder-only", bias=False)
    counted = count_parameters(found)
    assert calculator.kaplan_parameters(found) == counted.attention + counted.feed_forward == 12 * 2 * 12**2


def test_two_n_is_a_forward_pass_but_for_pairs_and_output():
    found, t = config(kind="decoder-only", bias=False), 16
    passed = calculator.forward(found, t)
    assert passed.projections + passed.feed_forward == t * 2 * calculator.kaplan_parameters(found)
    of_pairs = calculator.kaplan_forward(found, t) - 2 * calculator.kaplan_parameters(found)
    assert passed.pairs == 2 * t * of_pairs  # they count q . k alone; the weights times v are as many again


def test_training_holds_weights_four_times_and_activations():
    found = config(kind="encoder-decoder")
    held = calculator.training_memory(found, 3, 8)
    n = 4 * sum(p.numel() for p in Transformer(found, seed=0).parameters())
    assert held[:3] == (n, n, 2 * n)
    assert held.activations == activation_bytes(found, (8, 8), 3)
    assert held.total == 4 * n + held.activations


def test_an_encoder_caches_nothing():
    assert calculator.cache_bytes(config(kind="encoder-only"), 3, 7) == 0


def of(name: str, **others) -> Inputs:
    return Inputs(**inputs.inputs_of(name) | others)


@pytest.mark.parametrize("name", PRESETS)
def test_every_published_model_is_shown_beside_its_published_count(name: str):
    found = inputs.design_of(of(name))
    assert found.config == PRESETS[name].config and found.published == PRESETS[name]
    lesson = calculator.lesson(of(name))
    board = lesson.board
    shown = {row: int(cells[0].replace(",", "").replace("−", "-")) for row, cells in rows(board).items()}
    *parts, total, published = shown.values()
    assert sum(parts) == total
    assert published == PRESETS[name].published
    assert table(board).marked.tolist() == [row == "total" for row in shown]
    said = re.search(r"\*\*([\d,]+)\*\* parameters, \*\*([+−][\d.]+)%\*\*", board.notice[0])
    assert int(said.group(1).replace(",", "")) == total
    assert float(said.group(2).replace("−", "-")) == pytest.approx(100 * (total / published - 1), abs=0.051)
    assert lesson.numbers["note"] == PRESETS[name].note
    assert calculator.PART.lesson(of(name)).see.endswith(PRESETS[name].note)


def test_a_changed_model_is_counted_as_it_is_and_compared_with_nothing():
    asked = Inputs(
        n_layers=2, n_heads=2, d_model=10, d_ff=7, vocab_size=30, max_len=20, tied=False, bias=False
    )
    found = inputs.design_of(asked)
    board = calculator.lesson(asked).board
    built = sum(p.numel() for p in Transformer(found.config, seed=0).parameters())
    assert rows(board)["total"][0] == f"{built:,}"
    assert f"GPT-2 small, changed: **{built:,}** parameters." in board.notice[0]
    assert not any(row.startswith("published") for row in rows(board))


def test_lengths_go_up_to_max_len():
    assert calculator.lengths_to(1_024) == [4, 8, 16, 32, 64, 128, 256, 512, 1_024]
    assert calculator.lengths_to(100) == [1, 2, 4, 8, 16, 32, 64, 100]
    assert calculator.lengths_to(1) == [1]
    assert calculator.lesson(Inputs(max_len=1)).board.scrub.words == ["1"]


def test_operations_and_memory_at_each_length():
    board = calculator.lesson(Inputs()).board
    config, lengths = inputs.design_of(Inputs()).config, board.scrub.values.tolist()
    passed = [calculator.forward(config, t) for t in lengths]
    total = np.array([each.total for each in passed], float)
    found = facts(board)
    np.testing.assert_allclose(found["forward, per sequence"], total / 1e9)
    np.testing.assert_allclose(found["forward, per token"], total / lengths / 1e9)
    np.testing.assert_allclose(found["training, per token"], 3 * total / lengths / 1e9)
    np.testing.assert_allclose(
        found["of it, q · k and weights · v"], [100 * each.pairs / each.total for each in passed]
    )
    training = panel(board, "training, 8 sequences, GB").values
    np.testing.assert_allclose(training[-1], np.array(calculator.training_memory(config, 8, 1_024)) / 1e9)
    cache = panel(board, "inference, 8 sequences, GB").values[:, 1]
    np.testing.assert_allclose(cache, [8 * t * 2 * 12 * 768 * 4 / 1e9 for t in lengths])


def test_kaplans_counts_stand_beside_those_of_one_stack_alone():
    board = calculator.lesson(Inputs()).board
    n = 12 * 12 * 768**2
    assert facts(board)["6 N (Kaplan et al.)"] == f"{6 * n / 1e9:.2f}"
    curves = panel(board, "forward, per token")
    np.testing.assert_allclose(curves.lines[2].y, 2 * n / 1e9)
    np.testing.assert_allclose(curves.lines[1].y, (2 * n + 2 * 12 * curves.x * 768) / 1e9)
    assert len(panel(calculator.lesson(of("base")).board, "forward, per token").lines) == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"d_model": 770}, "d_model=770 is not divisible by n_heads=12; try d_model=768 or 780"),
        ({"d_model": 5}, "d_model=5 is not divisible by n_heads=12; try d_model=12"),
        ({"d_model": 36, "positions": "rotary"}, "d_model / n_heads = 3 is odd, .* try d_model=48, or other"),
    ],
)
def test_what_makes_no_model_is_refused_with_a_remedy(change: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        calculator.lesson(replace(Inputs(), **change))
