"""Path patching, beside the same done by hand with the model's own modules."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from models.interventions.path import path
from tests.models.interventions.conftest import Letters

Make = Callable[..., Letters]
TEXT, OTHER = "abcabd", "fbgabc"


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only"])
@pytest.mark.parametrize("norm", ["pre", "none"])
@pytest.mark.parametrize("through", ["qkv", "q", "kv"])
@torch.no_grad()
def test_a_receiver_hears_of_a_sender_by_the_stream_alone(
    letters: Make, kind: str, norm: str, through: str
) -> None:
    lm = letters(kind, norm=norm, positions="none")
    side, reading = lm.config.stacks[0], lm.read(TEXT)
    plain, other = lm.trace(reading), lm.trace(OTHER)
    w_o = lm.projection(f"{side}.self", 0)[1]
    moved = (other[f"{side}.0.self.z"][1] - plain[f"{side}.0.self.z"][1]) @ w_o
    layer = lm.model.get_submodule(f"{side}.layers.1")
    heard = layer.self_norm(plain[f"{side}.1.resid_pre"] + moved)  # an identity where there is no norm
    attention = layer.self_attention
    inputs = {name: getattr(attention, f"{name}_proj")(heard).view(6, 2, 4).transpose(0, 1) for name in "qkv"}

    def put_in(address: str, value: Tensor) -> Tensor:
        *_, name = address.split(".")
        if address not in {f"{side}.1.self.{each}" for each in through}:
            return value
        return torch.stack([inputs[name][0], value[1]])

    expected = lm.trace(reading, edit=put_in)
    found = path(
        lm, reading, f'{side}.0.self heads 1: from "{OTHER}"', f"{side}.1.self heads 0", through=list(through)
    )
    torch.testing.assert_close(found["logits"], expected["logits"], atol=1e-10, rtol=1e-8)
    assert (found["logits"] - plain["logits"]).abs().max() > 1e-6
    assert found[f"{side}.1.resid_pre"].equal(plain[f"{side}.1.resid_pre"])


def test_a_path_leads_from_the_encoder_into_cross_attention(letters: Make) -> None:
    lm = letters("encoder-decoder")
    reading = lm.read(TEXT)
    plain = lm.trace(reading)
    found = path(lm, reading, "encoder.0.self heads 1: zero", "decoder.1.cross heads 0")
    assert found["decoder.1.cross.k"][1].equal(plain["decoder.1.cross.k"][1])
    assert (found["decoder.1.cross.k"][0] - plain["decoder.1.cross.k"][0]).abs().max() > 1e-6
    assert found["decoder.1.cross.q"].allclose(plain["decoder.1.cross.q"], atol=1e-12)
    unheard = path(lm, reading, "encoder.0.self heads 1: zero", "decoder.1.self heads 0")
    torch.testing.assert_close(unheard["logits"], plain["logits"], atol=1e-12, rtol=0)


REFUSED = {
    ("encoder.1.self heads 0: zero", "encoder.0.self heads 1"): (
        "encoder.0.self heads 1 is computed before encoder.1.self heads 0, so nothing can go from there to "
        "it; name a later receiver"
    ),
    ("encoder.0.ff: zero", "encoder.1.self heads 1"): (
        "encoder.0.ff: a path goes from heads to heads; write such as encoder.0.self heads 2"
    ),
    ("encoder.0.self heads 1: zero", "encoder.1.self heads 7"): (
        "encoder.1.self heads 7: head 7 is not there; give 0 to 1"
    ),
}


@pytest.mark.parametrize(("ends", "sentence"), REFUSED.items())
def test_ends_that_no_path_joins_are_refused(letters: Make, ends: tuple[str, str], sentence: str) -> None:
    lm = letters("encoder-only")
    with pytest.raises(ValueError) as error:
        path(lm, lm.read(TEXT), *ends)
    assert str(error.value) == sentence


def test_other_inputs_and_streams_are_refused(letters: Make) -> None:
    ends = ("encoder.0.self heads 1: zero", "encoder.1.self heads 0")
    lm = letters("encoder-only")
    with pytest.raises(ValueError, match="is not of q, k and v; name at least one of them"):
        path(lm, lm.read(TEXT), *ends, through=["z"])
    with pytest.raises(ValueError, match="is no plain sum of what its layers add"):
        path(letters("encoder-only", norm="post"), lm.read(TEXT), *ends)
