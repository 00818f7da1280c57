"""What holds for every scheme: whole models against plain loops, caches, and the open registry."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.engine.positions import POSITIONS, PositionScheme, register
from tests.models.engine.plain import plain_logits

Make = Callable[..., Transformer]
SIZES: dict[str, Any] = {"n_layers": 1, "n_heads": 2, "d_model": 6, "vocab_size": 9, "max_len": 12}
SOURCE, TARGET = [3, 1, 4, 10, 5, 9, 7, 2, 2, 8, 0, 0], [2, 6, 5, 3, 0]
RELATIVE = ["rotary", "alibi", "t5", "transformer-xl"]


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("fields", [{}, {"n_heads": 3, "d_head": 4, "attention_scale": 0.7, "bias": False}])
@pytest.mark.parametrize("positions", RELATIVE)
def test_equals_plain_loops(make: Make, kind: str, fields: dict[str, Any], positions: str):
    model = make(kind, positions=positions, **fields)
    both = kind == "encoder-decoder"
    expected = plain_logits(model, SOURCE, TARGET if both else None)
    given = [torch.tensor([SOURCE]), torch.tensor([TARGET])] if both else [torch.tensor([SOURCE])]
    actual = model(*given)[0]
    torch.testing.assert_close(actual, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-10)


def test_the_config_knows_every_registered_name():
    """The names of the files are those that the classes in them register."""
    expected = ["none", "alibi", "learned", "rotary", "sinusoidal", "t5", "transformer-xl"]
    assert expected == POSITION_SCHEMES
    assert sorted(POSITIONS) == sorted(POSITION_SCHEMES)


def test_the_registry_is_open():
    try:

        @register("alternating")
        class Alternating(PositionScheme):
            def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
                super().__init__(config)
                self.gain = nn.Parameter(torch.rand(1))

            def forward(self, embeddings: Tensor, start: int = 0) -> Tensor:
                sign = 1.0 - 2.0 * (torch.arange(start, start + embeddings.shape[1]) % 2)
                return embeddings + self.gain * sign[:, None]

        config = ModelConfig(kind="decoder-only", positions="alternating", **SIZES)
        assert ModelConfig.from_dict(config.to_dict()) == config
        seen: list[Tensor] = []
        model = Transformer(config, seed=0)
        gain = model.decoder.positions.gain
        model.decoder.layers[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
        model(torch.tensor([[3, 3]]))
        torch.testing.assert_close(seen[0][0, 0] - seen[0][0, 1], (2 * gain).expand(6))
        with torch.random.fork_rng():
            torch.manual_seed(9)
            again = Transformer(config, seed=0)
        assert torch.equal(gain, again.decoder.positions.gain)
        with pytest.raises(
            ValueError, match=r"^positions='alternating' is registered already; choose a name"
        ):
            register("alternating")(Alternating)
    finally:
        POSITIONS.pop("alternating", None)
        if "alternating" in POSITION_SCHEMES:
            POSITION_SCHEMES.remove("alternating")
