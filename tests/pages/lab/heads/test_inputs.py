"""What is read of a layer is what that layer computes."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.models import ModelConfig
from attention_lab.models.engine.trace import Trace, within
from attention_lab.pages.lab.heads.inputs import (
    Offered,
    Reading,
    Sizes,
    check,
    of_translator,
    of_untrained,
    strongest,
)
from tests.pages.lab.heads.conftest import SENTENCE, untrained


def test_the_layer_run_alone_on_x_computes_the_same(reading: Reading):
    trace = Trace()
    with torch.no_grad():
        reading.attention(reading.x[None], reading.x[None], trace=within(trace, "alone"))
    for name in ("q", "k", "v", "scores", "pattern", "z", "out"):
        torch.testing.assert_close(getattr(reading, name), trace[f"alone.{name}"], rtol=1e-5, atol=1e-6)


def test_tokens_are_the_models_own(translator):
    assert of_untrained(untrained(), "a b a").tokens == ["a", "b", "a"]
    trained = of_translator(translator, SENTENCE, 1)
    assert trained.tokens == ["<2fr>", *SENTENCE.split(), "<eos>"]
    assert trained.pattern.shape == (4, 14, 14)
    torch.testing.assert_close(
        trained.pattern, translator.trace(SENTENCE)["encoder.1.self.pattern"], rtol=0, atol=0
    )


def test_strongest_by_hand():
    assert strongest(torch.tensor([[0.2, 0.5, 0.3], [0.0, 0.25, 0.75]])) == (1, 2, 0.75)


OFFERED = Offered(
    n_heads=(1, 2, 3, 4, 6, 8, 12, 16), d_model=(8, 16, 24, 32, 48, 64, 96, 128), d_head=(1, 2, 3, 4, 8, 16)
)


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        (
            Sizes(12, 64),
            "d_model=64 is not divisible by n_heads=12; "
            "try n_heads=8 or 16, d_model=48 or 96, or choose d_head",
        ),
        (Sizes(5, 64), "d_model=64 is not divisible by n_heads=5; try n_heads=4 or 8, or choose d_head"),
        (
            Sizes(16, 48, None, "rotary"),
            "d_head=3 is odd, but rotary positions turn channels in pairs; "
            "try n_heads=12, d_model=32 or 64, or choose other positions",
        ),
        (
            Sizes(4, 64, 3, "rotary"),
            "d_head=3 is odd, but rotary positions turn channels in pairs; "
            "try d_head=2 or 4, or choose other positions",
        ),
    ],
)
def test_the_sentence(sizes: Sizes, sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        check(sizes, OFFERED)


@given(
    n_heads=st.sampled_from(OFFERED.n_heads),
    d_model=st.sampled_from(OFFERED.d_model),
    d_head=st.sampled_from((None, *OFFERED.d_head)),
    positions=st.sampled_from(("sinusoidal", "rotary")),
)
def test_every_remedy_works(n_heads: int, d_model: int, d_head: int | None, positions: str):
    sizes = Sizes(n_heads, d_model, d_head, positions)
    try:
        check(sizes, OFFERED)
    except ValueError as error:
        found = re.findall(r"(n_heads|d_model|d_head)=(\d+(?: or \d+)*)", str(error).split("; try ")[1])
        assert found
        for name, values in found:
            for value in values.split(" or "):
                assert int(value) in getattr(OFFERED, name)
                check(sizes._replace(**{name: int(value)}), OFFERED)


@given(n_heads=st.sampled_from(OFFERED.n_heads), d_model=st.sampled_from(OFFERED.d_model))
def test_it_refuses_what_the_config_refuses(n_heads: int, d_model: int):
    assert refused(lambda: check(Sizes(n_heads, d_model), OFFERED)) == refused(
        lambda: ModelConfig(
            kind="encoder-only", n_layers=1, n_heads=n_heads, d_model=d_model, vocab_size=2, max_len=2
        )
    )


def refused(attempt) -> bool:
    try:
        attempt()
    except ValueError:
        return True
    return False
