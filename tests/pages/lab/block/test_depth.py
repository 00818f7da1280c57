"""Signals of all depths from one pass are those of models of each depth; what the page says of them holds."""

from functools import cache

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attention_lab.models import Trace, Transformer
from attention_lab.pages.lab.block import depth
from attention_lab.pages.lab.block.depth import Switches
from attention_lab.pages.lab.block.inputs import DEPTHS, Inputs
from tests.pages.lab.boards import bold, panel

SEEDS = (0, 1, 2)
deep_model = cache(depth.deep_model)


@cache
def signals(seed: int = 0, **fields) -> depth.Signals:
    return depth.measure(deep_model(Switches(**fields)), seed)


def of_last_layer(found: depth.Signals) -> list[float]:
    return [found.weights[at, n - 1].item() for at, n in enumerate(DEPTHS)]


@pytest.mark.parametrize(
    "switches",
    [
        Switches(),
        Switches(norm="post", ff=1, activation="gelu"),
        Switches(norm="none", residual=False),
        Switches(ff=0),
    ],
    ids=str,
)
def test_a_stack_that_leaves_early_is_a_model_of_that_depth(switches: Switches):
    """Against the engine's whole forward pass of a model with just those layers, and plain backward()."""
    found = depth.measure(depth.deep_model(switches, n_layers=4), 5, depths=(1, 3, 4))
    deep = depth.deep_model(switches, n_layers=4)
    deep.initialise(torch.Generator().manual_seed(5))
    shallow = depth.deep_model(switches, n_layers=3)
    shallow.load_state_dict(
        {name: value for name, value in deep.state_dict().items() if ".layers.3." not in name}
    )
    ids, targets = depth.sentence(5)
    trace = Trace()
    loss = F.cross_entropy(shallow(ids[None], trace=trace)[0], targets)
    assert found.losses[1].item() == pytest.approx(loss.item(), rel=1e-10)
    loss.backward()
    for number, layer in enumerate(shallow.encoder.layers):
        gradient = depth.last_matrix(layer).weight.grad
        assert found.weights[1, number].item() == pytest.approx(
            gradient.square().sum().sqrt().item(), rel=1e-8
        )
        entering = trace[f"encoder.{number}.resid_pre"]
        assert found.lengths[1, number].item() == pytest.approx(
            entering.norm(dim=-1).mean().item(), rel=1e-10
        )
        tokens_apart = (entering - entering.mean(0)).square().sum() / entering.square().sum()
        assert found.apart[1, number].item() == pytest.approx(tokens_apart.sqrt().item(), abs=1e-12)
    assert found.weights.isnan().tolist()[1] == [False, False, False, True]
    assert found.stream.isnan().sum(dim=1).tolist() == [3, 1, 0]


def test_the_gradient_of_the_stream_is_a_difference_quotient():
    model = depth.deep_model(Switches(), n_layers=2)
    found = depth.measure(model, 1, depths=(2,))
    ids, targets = depth.sentence(1)
    x = (model.embedding(ids) * depth.D_MODEL**0.5).detach()

    def losses(moved: torch.Tensor) -> torch.Tensor:
        logits = model.unembed(model.encoder(moved))  # [moved, position, word]
        return F.cross_entropy(logits.mT, targets.expand(len(moved), -1), reduction="none").mean(dim=1)

    with torch.no_grad():
        steps = 1e-5 * torch.eye(x.numel(), dtype=x.dtype).view(-1, *x.shape)
        columns = (losses(x + steps) - losses(x - steps)) / 2e-5
    assert found.stream[0, 0].item() == pytest.approx(columns.norm().item(), rel=1e-5)


def test_weights_are_those_of_the_seed_and_global_randomness_is_left_alone():
    state = torch.get_rng_state()
    model = deep_model(Switches())
    one, other, again = (depth.measure(model, seed) for seed in (1, 2, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(one.losses, again.losses) and not torch.equal(one.losses, other.losses)


@pytest.mark.parametrize("seed", SEEDS)
def test_xiong_et_al_theorem_1(seed: int):
    """The last layer's W_2: as with one layer under post-norm, as 1 / sqrt(L) under pre-norm."""
    post, pre = of_last_layer(signals(seed, norm="post")), of_last_layer(signals(seed))
    for at, n in enumerate(DEPTHS):
        assert 0.6 < post[at] / post[0] < 1.6
        assert 0.6 < pre[at] / pre[0] * n**0.5 < 2.1
    assert post[-1] > 3 * pre[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_without_norm_factors_multiply(seed: int):
    shrunk, grown = signals(seed, norm="none", residual=False), signals(seed, norm="none")
    assert shrunk.lengths[-1, -1] < 1e-12 * shrunk.lengths[-1, 0]
    assert shrunk.stream[-1, 0] < 1e-9 * shrunk.stream[-1, -1]
    assert grown.lengths[-1, -1] > 1e6 * grown.lengths[-1, 0]
    for found, ways in ((shrunk, (1e-9, 0.9)), (grown, (1.05, 10))):
        factors = found.lengths[-1, 1:] / found.lengths[-1, :-1]
        assert ways[0] < factors.log().mean().exp() < ways[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_residuals_keep_gradients_alive(seed: int):
    for norm in ("pre", "post"):
        found = signals(seed, norm=norm)
        assert 0.01 < found.stream[-1, 0] / found.stream[-1, -1] < 100


@pytest.mark.parametrize("seed", SEEDS)
def test_tokens_become_alike_without_residual_and_slowly_with_post_norm(seed: int):
    for norm in ("pre", "post", "none"):
        found = signals(seed, norm=norm, residual=False)
        assert found.apart[-1, -1] < 1e-12
        kept = 0.2 < found.lengths[-1, -1] / found.lengths[-1, 0] < 1.5
        assert kept == (norm != "none")
    assert signals(seed, norm="post").apart[-1, -1] < 1e-4
    assert signals(seed).apart[-1, -1] > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_with_pre_norm_the_stream_grows_about_as_the_root_of_the_depth(seed: int):
    found = signals(seed)
    assert 4 < found.lengths[-1, -1] / found.lengths[-1, 0] < 10
    assert signals(seed, norm="post").lengths[-1, -1].item() == pytest.approx(32**0.5, rel=0.01)


def test_initialising_is_what_a_new_model_does():
    model = Transformer(depth.config_of(Switches(), 2), seed=1)
    model.initialise(torch.Generator().manual_seed(7))
    new = Transformer(depth.config_of(Switches(), 2), seed=7).state_dict()
    assert all(torch.equal(value, new[name]) for name, value in model.state_dict().items())


def test_curves_end_where_the_stack_does():
    board = depth.lesson(Inputs(seed=3)).board
    expected = depth.measure(deep_model(Switches()), 3)
    for title, values in (("length", expected.lengths), ("how much", expected.apart)):
        assert np.allclose(panel(board, title).lines[0].y, values, equal_nan=True)
    stream, weights = panel(board, "norm of the gradient").lines
    assert np.allclose(stream.y, expected.stream, equal_nan=True)
    assert np.allclose(weights.y[:, 1:], expected.weights, equal_nan=True) and np.isnan(weights.y[:, 0]).all()
    measured, theory = panel(board, "gradient of the last").lines
    assert np.allclose(measured.y, [expected.weights[i, n - 1] for i, n in enumerate(DEPTHS)])
    assert np.allclose(theory.y, measured.y[0] / np.sqrt(DEPTHS))


@pytest.mark.parametrize("fields", [{}, {"norm": "none"}, {"norm": "none", "residual": False}])
def test_axes_hold_every_number_in_whole_decades(fields):
    for row in depth.lesson(Inputs(**fields)).board.rows:
        for curves in row:
            low, high = curves.y_range
            found = np.concatenate([line.y[np.isfinite(line.y)] for line in curves.lines])
            assert low <= found.min() and found.max() <= high
            assert np.log10([low, high]) == pytest.approx(np.round(np.log10([low, high])))
            assert high / low >= 99


def test_notices_are_ratios_of_the_curves():
    board = depth.lesson(Inputs()).board
    last = panel(board, "gradient of the last").lines[0].y
    for at in range(len(DEPTHS)):
        assert bold(board.notice[at]) == pytest.approx([last[at] / last[0]], rel=0.01, abs=0.006)
    bare = depth.lesson(Inputs(norm="none")).board
    lengths, stream = (panel(bare, title).lines[0].y for title in ("length", "norm of the gradient"))
    expected = [lengths[1, DEPTHS[1]] / lengths[1, 0], stream[1, 0] / stream[1, DEPTHS[1]]]
    assert bold(bare.notice[1]) == pytest.approx(expected, rel=0.01, abs=0.006)
    post = depth.lesson(Inputs(norm="post")).board
    last = panel(post, "gradient of the last").lines[0].y
    assert bold(post.notice[-1]) == [round(float(last[-1] / last[0]), 2)]
    assert "the reason for warm-up" in post.notice[-1]
    assert "0, but for rounding" in depth.lesson(Inputs(residual=False)).board.notice[-1]


def test_the_matrix_is_named_for_what_it_is():
    assert panel(depth.lesson(Inputs(ff=0)).board, "norm of the gradient").lines[1].name == "of W_O"
