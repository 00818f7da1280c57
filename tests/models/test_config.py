"""ModelConfig: defaults, round trip, and the sentence for each way to get it wrong."""

import dataclasses
import json
import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.models import ModelConfig

GOOD: dict[str, Any] = {
    "kind": "encoder-decoder",
    "n_layers": 2,
    "n_heads": 8,
    "d_model": 64,
    "vocab_size": 100,
    "max_len": 32,
}


def test_sizes_left_out_are_those_of_the_paper():
    config = ModelConfig(**GOOD)
    assert (config.d_head, config.d_ff, config.scale) == (8, 256, 1 / math.sqrt(8))
    assert (config.output_vocab_size, config.stacks) == (100, ("encoder", "decoder"))


def test_without_feed_forward_its_width_is_nought_and_comes_back():
    without = ModelConfig(**GOOD, d_ff=24, feed_forward=False)
    assert (without.ff_size, dataclasses.replace(without, feed_forward=True).ff_size) == (0, 24)


OLDER = {
    "residual": True, "feed_forward": True, "norm_eps": 1e-5, "embedding_norm": False, "token_types": None,
    "output_transform": False, "normalizer": "softmax",
}  # fmt: skip


def test_a_config_written_before_a_field_was_there_means_what_it_did():
    said = ModelConfig(**GOOD).to_dict()
    assert {name: said.pop(name) for name in OLDER} == OLDER
    assert ModelConfig.from_dict(said) == ModelConfig(**GOOD)


@given(
    kind=st.sampled_from(["encoder-only", "decoder-only", "encoder-decoder"]),
    n_layers=st.integers(1, 100),
    n_heads=st.integers(1, 32),
    d_head=st.integers(1, 64),
    activation=st.sampled_from(["relu", "gelu", "gelu-tanh"]),
    norm=st.sampled_from(["pre", "post", "none"]),
    positions=st.sampled_from(["none", "sinusoidal", "learned"]),
    dropout=st.floats(0, 1, exclude_max=True),
    attention_scale=st.booleans() | st.floats(0.01, 100),
    bias=st.booleans(),
    residual=st.booleans(),
    feed_forward=st.booleans(),
    norm_eps=st.floats(1e-12, 0.1),
    embedding_norm=st.booleans(),
    tied_embeddings=st.booleans(),
    pad_id=st.none() | st.integers(0, 99),
    normalizer=st.sampled_from(["softmax", "softmax-plus-one", "sigmoid"]),
)
def test_json_round_trip(**fields: Any):
    config = ModelConfig(d_model=48, vocab_size=100, max_len=32, **fields)
    again = ModelConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert type(again.attention_scale) is type(config.attention_scale)


REFUSED = [
    ({"n_heads": 0}, "n_heads=0 is not within 1 to 1,000,000,000; try 4"),
    ({"d_model": 64.0}, "d_model=64.0 is no whole number; try 4"),
    ({"d_head": 0}, "d_head=0 is not within 1 to 1,000,000,000; try 4, or leave it out"),
    ({"d_model": 100}, "d_model=100 is not divisible by n_heads=8; try 96 or 104, or set d_head"),
    (
        {"kind": "decoder"},
        "kind='decoder' is unknown; choose one of encoder-only, decoder-only, encoder-decoder",
    ),
    (
        {"activation": "GELU"},
        "activation='GELU' is unknown; choose one of relu, gelu, gelu-tanh, silu, gelu-quick",
    ),
    (
        {"positions": "rope"},
        "positions='rope' is unknown; choose one of none, alibi, learned, rotary, sinusoidal, t5, "
        "transformer-xl",
    ),
    (
        {"positions": "rotary", "d_head": 5},
        "d_head=5 is odd, but rotary positions turn channels in pairs; try d_head=6, or other positions",
    ),
    ({"bias": 1}, "bias=1 is neither True nor False; choose one"),
    (
        {"output_transform": True},
        "output_transform=True needs an output layer of its own; give tied_embeddings=False",
    ),
    *[
        ({"norm_eps": eps}, f"norm_eps={eps!r} is outside 0 < norm_eps < 1; try 1e-05")
        for eps in (0.0, -1e-5, 1, math.nan, True, "1e-5", None)
    ],
    ({"token_types": 2}, "token_types=2 needs kind='encoder-only', not 'encoder-decoder'; leave it out"),
    ({"dropout": 1.0}, "dropout=1.0 is outside 0 <= dropout < 1; try 0.1, or 0.0 to switch it off"),
    ({"dropout": math.nan}, "dropout=nan is outside 0 <= dropout < 1; try 0.1, or 0.0 to switch it off"),
    *[
        (
            {"attention_scale": scale},
            f"attention_scale={scale!r} must be True (1 / sqrt(d_head)), False (no scale) "
            "or a positive number; try 0.3536",
        )
        for scale in (0.0, -1.0, math.nan, math.inf, 10**400, "1", None)
    ],
    (
        {"kind": "decoder-only", "target_vocab_size": 50},
        "target_vocab_size=50 needs kind='encoder-decoder', not 'decoder-only'; leave it out",
    ),
    *[
        (
            {"pad_id": pad_id},
            f"pad_id={pad_id!r} is no token id below the vocabulary's size 100; "
            "give one from 0 to 99, or None when nothing is padded",
        )
        for pad_id in (100, -1, True, 0.0)
    ],
    (
        {"target_vocab_size": 50, "pad_id": 60},
        "pad_id=60 is no token id below the vocabulary's size 50; "
        "give one from 0 to 49, or None when nothing is padded",
    ),
]


@pytest.mark.parametrize(("fields", "sentence"), REFUSED, ids=[str(fields) for fields, _ in REFUSED])
def test_refused_with_value_rule_and_remedy(fields: dict[str, Any], sentence: str):
    with pytest.raises(ValueError) as error:
        ModelConfig(**GOOD | fields)
    assert str(error.value) == sentence


def test_unknown_and_missing_fields_are_refused():
    with pytest.raises(
        ValueError, match=r"^a config is a JSON object, not list; give what to_dict returned$"
    ):
        ModelConfig.from_dict([GOOD])
    with pytest.raises(ValueError, match=r"^'n_head' is no field of ModelConfig; did you mean n_heads or"):
        ModelConfig.from_dict(GOOD | {"n_head": 2})
    with pytest.raises(ValueError, match=r"^'colour' is no field of ModelConfig; known are kind, n_layers,"):
        ModelConfig.from_dict(GOOD | {"colour": 2})
    with pytest.raises(
        ValueError, match=r"^n_heads, d_model missing: every ModelConfig states kind, n_layers,"
    ):
        ModelConfig.from_dict({k: v for k, v in GOOD.items() if k not in ("n_heads", "d_model")})


def test_names_configs_and_offers_are_known_without_torch():
    lines = [
        "import sys, attention_lab.models.mask_names",
        f"from attention_lab.models import ModelConfig; ModelConfig(**{GOOD!r})",
        "from attention_lab.models.config import POSITION_SCHEMES; assert len(POSITION_SCHEMES) == 7",
        "from attention_lab.models.zoo.catalogue import offers; offers()['translator'].story",
        "sys.exit('torch' in sys.modules)",
    ]
    assert subprocess.run([sys.executable, "-c", "\n".join(lines)], check=False).returncode == 0


def test_the_public_names():
    from attention_lab import models

    assert set(models._HOME) <= set(dir(models))
    with pytest.raises(
        AttributeError, match="module 'models' has no attribute 'Tracer'; it has Edit, ModelConfig,"
    ):
        models.Tracer  # noqa: B018
