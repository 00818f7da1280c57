"""Direct effects: what a head does past later layers, and logits as a sum of parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from models.interventions.direct import direct_heads, parts_of_logits
from models.interventions.sweep import sweep_heads
from tests.models.interventions.conftest import Letters

Make = Callable[..., Letters]
TEXT = "abcabd"
TARGET = "logits 3-5 at 2"
SUMMED = [
    pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "encoder-decoder"]),
    pytest.mark.parametrize("norm", ["pre", "none"]),
]


def of_every_sum(test: Callable) -> Callable:
    for mark in SUMMED:
        test = mark(test)
    return test


def taken_out(last: str, part: Tensor) -> Callable[[str, Tensor], Tensor]:
    return lambda address, stream: stream - part if address == last else stream


@of_every_sum
def test_a_head_s_part_is_taken_out_of_the_last_stream_alone(letters: Make, kind: str, norm: str) -> None:
    lm = letters(kind, norm=norm)
    reading = lm.read(TEXT)
    plain, side = lm.trace(reading), lm.config.stacks[-1]
    found = direct_heads(lm, reading, TARGET)
    assert {stack.split(".")[0] for stack in found.effects} == {side}
    for stack, effects in found.effects.items():
        name = stack.split(".")[1]
        for layer in range(2):
            for head in range(2):
                w_o = lm.projection(stack, layer)[head]
                part = plain[f"{side}.{layer}.{name}.z"][head] @ w_o
                last = f"{side}.1.resid_post"
                without = lm.trace(reading, edit=taken_out(last, part))
                after = without["logits"][2]
                expected = float(after[3] - after[5]) - found.before
                assert float(effects[layer, head]) == pytest.approx(expected, abs=1e-10)


def test_a_head_of_the_last_layer_has_no_other_way(letters: Make) -> None:
    lm = letters("decoder-only", feed_forward=False)
    reading = lm.read(TEXT)
    direct, whole = direct_heads(lm, reading, TARGET), sweep_heads(lm, reading, TARGET)
    one, other = direct.effects["decoder.self"], whole.effects["decoder.self"]
    torch.testing.assert_close(one[1], other[1], atol=1e-10, rtol=1e-8)
    assert (one[0] - other[0]).abs().min() > 1e-6


@of_every_sum
def test_the_parts_add_up_to_the_logits(letters: Make, kind: str, norm: str) -> None:
    lm = letters(kind, norm=norm)
    reading = lm.read(TEXT)
    plain = lm.trace(reading)
    for at in range(3):
        names, values = parts_of_logits(lm, reading, at)
        torch.testing.assert_close(values.sum(0), plain["logits"][at], atol=1e-10, rtol=1e-8)
        n_heads = sum(name.split(" ")[-2:-1] == ["head"] for name in names)
        assert n_heads == 4 * (2 if kind == "encoder-decoder" else 1) and names[-1] == "bias"
        assert len(names) == len(set(names)) == n_heads + 4


def test_what_is_no_sum_is_refused(letters: Make) -> None:
    lm = letters("decoder-only", norm="post")
    sentence = (
        "the stream of 'letters' is no plain sum of what its layers add, since norms or other layers stand "
        "between; choose a model with pre-norm"
    )
    with pytest.raises(ValueError) as error:
        direct_heads(lm, lm.read(TEXT), TARGET)
    assert str(error.value) == sentence
    with pytest.raises(ValueError) as error:
        parts_of_logits(lm, lm.read(TEXT), 0)
    assert str(error.value) == sentence
    pooled = letters("encoder-only", pooling="mean")
    with pytest.raises(ValueError, match="the output of 'letters' is not read at each position by a matrix"):
        parts_of_logits(pooled, pooled.read(TEXT), 0)
    with pytest.raises(ValueError, match="position 6 is beyond the 6 tokens of the decoder; give 0 to 5"):
        parts_of_logits(lm, lm.read(TEXT), 6)
