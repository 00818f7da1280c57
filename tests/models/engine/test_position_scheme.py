"""What holds for every scheme: whole models against plain loops, caches, and the open registry."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.engine.positions import POSITIONS, PositionScheme, has_bias, register, turns
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


@pytest.mark.parametrize("positions", RELATIVE)
def test_only_distances_count(make: Make, positions: str):
    """The same words further on, nothing in front of them to be seen, mean the same."""
    model = make("encoder-only", positions=positions, max_len=40)
    words = torch.tensor([[3, 1, 4, 5]])
    later = torch.cat([torch.zeros(1, 30, dtype=torch.long), words], dim=1)
    torch.testing.assert_close(model(later)[:, 30:], model(words), rtol=0, atol=1e-12)


@pytest.mark.parametrize("positions", ["rotary", "t5", "transformer-xl"])
def test_order_matters(make: Make, positions: str):
    model, tokens = make("encoder-only", positions=positions), torch.tensor([[3, 1, 4, 5]])
    assert (model(tokens.flip(1)) - model(tokens).flip(1)).abs().max() > 1e-3


def test_alibi_alone_cannot_tell_a_text_from_its_mirror_image(make: Make):
    model, tokens = make("encoder-only", positions="alibi"), torch.tensor([[3, 1, 4, 5]])
    torch.testing.assert_close(model(tokens.flip(1)), model(tokens).flip(1), rtol=0, atol=1e-12)
    swapped = torch.tensor([[1, 3, 4, 5]])
    assert (model(swapped) - model(tokens)[:, [1, 0, 2, 3]]).abs().max() > 1e-3


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "encoder-decoder"])
def test_scores_are_scaled_dot_products_plus_bias(make: Make, positions: str, kind: str):
    model, trace = make(kind, positions=positions, attention_scale=0.4), Trace()
    tokens = [torch.tensor([[3, 1, 4, 10, 0]]), torch.tensor([[2, 6, 5]])]
    model(*tokens[: 2 if kind == "encoder-decoder" else 1], trace=trace)
    for at in [address.removesuffix(".q") for address in trace if address.endswith(".q")]:
        expected = 0.4 * trace[f"{at}.q"] @ trace[f"{at}.k"].mT
        assert (f"{at}.bias" in trace) == (has_bias(positions) and "self" in at)
        if f"{at}.bias" in trace:
            assert (trace[f"{at}.bias"] != 0).any()
            expected = expected + trace[f"{at}.bias"]
        scores = trace[f"{at}.scores"]
        allowed = scores.isfinite()
        torch.testing.assert_close(scores[allowed], expected[allowed], rtol=0, atol=1e-12)


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_max_len_holds_for_every_scheme(positions: str):
    config = ModelConfig(kind="encoder-only", positions=positions, **SIZES | {"n_heads": 1})
    with pytest.raises(ValueError) as error:
        Transformer(config, seed=0)(torch.ones(1, 13, dtype=torch.long))
    assert str(error.value) == "13 tokens do not fit max_len=12; cut the sequence, or raise max_len"


def test_the_config_knows_every_registered_name():
    """The names of the files are those that the classes in them register."""
    expected = ["none", "alibi", "learned", "rotary", "sinusoidal", "t5", "transformer-xl"]
    assert expected == POSITION_SCHEMES
    assert sorted(POSITIONS) == sorted(POSITION_SCHEMES)


def test_names_are_known_without_torch():
    names = "import sys; from attention_lab.models.config import POSITION_SCHEMES as p"
    code = f"{names}; print(len(p), 'torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "7 False\n"


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
@pytest.mark.parametrize("fields", [{}, {"n_heads": 3, "d_head": 4, "n_layers": 2, "max_len": 5}])
def test_a_scheme_counts_its_own_parameters(positions: str, fields: dict[str, Any]):
    config = ModelConfig(kind="encoder-only", positions=positions, **SIZES | {"n_heads": 1} | fields)
    built = POSITIONS[positions](config)
    before = torch.get_rng_state()
    assert POSITIONS[positions].n_parameters(config) == sum(p.numel() for p in built.parameters())
    assert torch.equal(torch.get_rng_state(), before)


def test_what_a_scheme_does_is_read_from_its_class():
    assert [name for name in POSITION_SCHEMES if has_bias(name)] == ["alibi", "t5", "transformer-xl"]
    assert [name for name in POSITION_SCHEMES if turns(name)] == ["rotary"]
    assert [name for name in POSITION_SCHEMES if POSITIONS[name].pairs_channels] == ["rotary"]
    assert [name for name in POSITION_SCHEMES if POSITIONS[name].keeps_bias] == ["transformer-xl"]


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
