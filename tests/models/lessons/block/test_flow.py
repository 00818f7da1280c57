"""Every point of a layer is what the engine's trace holds; sums and norms are what they are called."""

from itertools import product

import pytest
import torch
from torch.nn import functional as F

from models import ModelConfig, UntrainedModel, load_model
from models.lessons.block import flow

TEXT = "the animal did not cross the street because it was too tired"


def untrained(**fields) -> UntrainedModel:
    sizes = {"n_layers": 1, "n_heads": 4, "d_model": 16, "vocab_size": 33, "max_len": 35}
    return UntrainedModel(ModelConfig(kind="encoder-only", **{**sizes, **fields}), seed=3)


@pytest.mark.parametrize(
    ("norm", "residual", "feed_forward"),
    list(product(("pre", "post", "none"), (True, False), (True, False))),
)
def test_points_are_those_of_the_trace(norm: str, residual: bool, feed_forward: bool):
    model = untrained(norm=norm, residual=residual, feed_forward=feed_forward, activation="gelu")
    trace = model.trace(TEXT)
    walked = flow.walk(flow.of_untrained(model, TEXT).layer, trace["encoder.0.resid_pre"])
    by_kind: dict[str, list] = {}
    for point in walked.points:
        by_kind.setdefault(point.kind, []).append(point.x)
    sublayers = 1 + feed_forward
    assert len(by_kind.get("add", ())) == sublayers * residual
    assert len(by_kind.get("norm", ())) == sublayers * (norm != "none")
    close(by_kind["attention"][0], trace["encoder.0.self.out"])
    close(walked.points[-1].x, trace["encoder.0.resid_post"])
    if feed_forward:
        close(by_kind["feed-forward"][0], trace["encoder.0.ff.out"])
        close(walked.hidden, trace["encoder.0.ff.post"])
    else:
        assert walked.hidden is None
    if residual:
        close(by_kind["add"][0], trace["encoder.0.resid_pre"] + trace["encoder.0.self.out"])


@pytest.mark.parametrize("number", [0, 1])
def test_a_trained_layer_step_by_step(number: int):
    lm = load_model("translator")
    trace = lm.trace(TEXT, target="")
    block = flow.of_translator(lm, TEXT, number)
    points = flow.walk(block.layer, block.x).points
    assert [p.kind for p in points] == [
        "stream", "norm", "attention", "add", "norm", "feed-forward", "add",
    ]  # fmt: skip
    close(points[-1].x, trace[f"encoder.{number}.resid_post"])
    expected = F.layer_norm(block.x, (64,), block.layer.self_norm.weight, block.layer.self_norm.bias)
    close(points[1].x, expected.detach())
    assert block.tokens == trace.tokens["encoder"]


def test_statistics_by_hand():
    x = torch.tensor([[3.0, 4.0, 0.0, 1.0]])
    assert flow.token_statistics(x)[0].tolist() == pytest.approx([2.0, (10 / 4) ** 0.5, 26**0.5])
    assert flow.share_of_zeros(x) == 0.25
    assert flow.mean_length(torch.cat([x, 0 * x])) == pytest.approx(26**0.5 / 2)


def test_relu_leaves_about_half_of_the_hidden_layer_zero_and_gelu_nothing():
    for seed in range(3):
        for activation in ("relu", "gelu"):
            model = UntrainedModel(untrained(activation=activation, d_model=32).config, seed=seed)
            block = flow.of_untrained(model, TEXT)
            share = flow.share_of_zeros(flow.walk(block.layer, block.x).hidden)
            assert share == 0 if activation == "gelu" else 0.4 < share < 0.6


def test_a_new_norm_leaves_mean_0_and_deviation_1():
    block = flow.of_untrained(untrained(norm="post"), TEXT)
    statistics = flow.token_statistics(flow.walk(block.layer, block.x).points[-1].x)
    close(statistics, torch.tensor([0.0, 1.0, 4.0]).expand_as(statistics), atol=1e-4)


def close(actual: torch.Tensor, expected: torch.Tensor, atol: float = 1e-5) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=atol)
