"""Direct effects: what a head does past later layers, and logits as a sum of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from attention_lab.models import load_model
from attention_lab.models.interventions.head_paths import direct_heads, parts_of_logits, path
from tests.models.interventions.conftest import Letters
from tests.models.zoo.hub import families

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
    sentence = "the stream of 'letters' is no plain sum of its layers; choose a model with pre-norm"
    with pytest.raises(ValueError) as error:
        direct_heads(lm, lm.read(TEXT), TARGET)
    assert str(error.value) == sentence
    with pytest.raises(ValueError) as error:
        parts_of_logits(lm, lm.read(TEXT), 0)
    assert str(error.value) == sentence
    pooled = letters("encoder-only", pooling="mean")
    with pytest.raises(ValueError, match="the output of 'letters' is not read at each position by a matrix"):
        parts_of_logits(pooled, pooled.read(TEXT), 0)
    for at in (6, -7):
        said = f"position {at} is beyond the 6 tokens of the decoder; give -6 to 5"
        with pytest.raises(ValueError, match=said):
            parts_of_logits(lm, TEXT, at)


def test_a_text_is_read_as_elsewhere(letters: Make) -> None:
    lm = letters("decoder-only")
    reading = lm.read(TEXT)
    by_reading = [
        direct_heads(lm, reading, TARGET).effects["decoder.self"],
        parts_of_logits(lm, reading, 5).values,
        path(lm, reading, "decoder.0.self heads 1: zero", "decoder.1.self heads 0")["logits"],
    ]
    by_text = [
        direct_heads(lm, TEXT, TARGET).effects["decoder.self"],
        parts_of_logits(lm, TEXT).values,  # at the last position
        path(lm, TEXT, "decoder.0.self heads 1: zero", "decoder.1.self heads 0")["logits"],
    ]
    assert all(one.equal(other) for one, other in zip(by_reading, by_text, strict=True))
    assert parts_of_logits(lm, TEXT, -6).values.equal(parts_of_logits(lm, TEXT, 0).values)
    both = direct_heads(lm, [TEXT, TEXT[::-1]], "logits c-e").effects["decoder.self"]
    each = [direct_heads(lm, text, "logits c-e").effects["decoder.self"] for text in (TEXT, TEXT[::-1])]
    torch.testing.assert_close(both, (each[0] + each[1]) / 2)
    for call in (direct_heads, parts_of_logits):
        with pytest.raises(ValueError, match="Trace is nothing to read; give a text, its token ids, or what"):
            call(lm, lm.trace(TEXT), TARGET)


TEXT_OF_PATHS, OTHER = "abcabd", "fbgabc"


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only"])
@pytest.mark.parametrize("norm", ["pre", "none"])
@pytest.mark.parametrize("through", ["qkv", "q", "kv"])
@pytest.mark.parametrize("feed_forward", ["recomputed", "frozen"])
@torch.no_grad()
def test_a_receiver_hears_of_a_sender_by_the_stream_alone(
    letters: Make, kind: str, norm: str, through: str, feed_forward: str
) -> None:
    lm = letters(kind, norm=norm, positions="none")
    side, reading = lm.config.stacks[0], lm.read(TEXT_OF_PATHS)
    plain, other = lm.trace(reading), lm.trace(OTHER)
    w_o = lm.projection(f"{side}.self", 0)[1]
    moved = (other[f"{side}.0.self.z"][1] - plain[f"{side}.0.self.z"][1]) @ w_o
    first, layer = (lm.model.get_submodule(f"{side}.layers.{at}") for at in range(2))
    stream = plain[f"{side}.1.resid_pre"] + moved
    if feed_forward == "recomputed":
        entering = plain[f"{side}.0.resid_self"] + moved
        stream = entering + first.feed_forward(first.ff_norm(entering)[None])[0]
    heard = layer.self_norm(stream)  # an identity where there is no norm
    attention = layer.self_attention
    inputs = {name: getattr(attention, f"{name}_proj")(heard).view(6, 2, 4).transpose(0, 1) for name in "qkv"}

    def put_in(address: str, value: Tensor) -> Tensor:
        *_, name = address.split(".")
        if address not in {f"{side}.1.self.{each}" for each in through}:
            return value
        return torch.stack([inputs[name][0], value[1]])

    expected = lm.trace(reading, edit=put_in)
    ends = f'{side}.0.self heads 1: from "{OTHER}"', f"{side}.1.self heads 0"
    found = path(lm, reading, *ends, through=list(through), feed_forward=feed_forward)
    assert feed_forward == "frozen" or path(lm, reading, *ends, through=list(through))["logits"].equal(
        found["logits"]
    )
    torch.testing.assert_close(found["logits"], expected["logits"], atol=1e-10, rtol=1e-8)
    assert (found["logits"] - plain["logits"]).abs().max() > 1e-6
    assert found[f"{side}.1.resid_pre"].equal(plain[f"{side}.1.resid_pre"])


def test_a_path_leads_from_the_encoder_into_cross_attention(letters: Make) -> None:
    lm = letters("encoder-decoder")
    reading = lm.read(TEXT_OF_PATHS)
    plain = lm.trace(reading)
    found = path(lm, reading, "encoder.0.self heads 1: zero", "decoder.1.cross heads 0")
    assert found["decoder.1.cross.k"][1].equal(plain["decoder.1.cross.k"][1])
    assert (found["decoder.1.cross.k"][0] - plain["decoder.1.cross.k"][0]).abs().max() > 1e-6
    assert found["decoder.1.cross.q"].allclose(plain["decoder.1.cross.q"], atol=1e-12)
    unheard = path(lm, reading, "encoder.0.self heads 1: zero", "decoder.1.self heads 0")
    torch.testing.assert_close(unheard["logits"], plain["logits"], atol=1e-12, rtol=0)


REFUSED = {
    ("encoder.1.self heads 0: zero", "encoder.0.self heads 1"): (
        "encoder.0.self heads 1 comes before encoder.1.self heads 0, so nothing can go from there to it; "
        "name a later receiver"
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
        path(lm, lm.read(TEXT_OF_PATHS), *ends)
    assert str(error.value) == sentence


def test_other_inputs_and_streams_are_refused(letters: Make) -> None:
    ends = ("encoder.0.self heads 1: zero", "encoder.1.self heads 0")
    lm = letters("encoder-only")
    with pytest.raises(ValueError, match="is not of q, k and v; name at least one of them"):
        path(lm, lm.read(TEXT_OF_PATHS), *ends, through=["z"])
    with pytest.raises(ValueError, match="feed_forward='off' is neither 'recomputed' nor 'frozen'; give one"):
        path(lm, lm.read(TEXT_OF_PATHS), *ends, feed_forward="off")
    with pytest.raises(ValueError, match="is no plain sum of its layers"):
        path(letters("encoder-only", norm="post"), lm.read(TEXT_OF_PATHS), *ends)


@contextmanager
def hooked(*hooks: tuple[nn.Module, Callable[[nn.Module, object, Tensor], Tensor | None]]) -> Iterator[None]:
    with ExitStack() as opened:
        for module, hook in hooks:
            opened.enter_context(module.register_forward_hook(hook))
        yield


@pytest.mark.parametrize("feed_forward", ["recomputed", "frozen"])
@torch.no_grad()
def test_gpt2_of_transformers_gives_the_same_by_plain_hooks(tmp_path: Path, feed_forward: str) -> None:
    """Wang et al. 2022, appendix B: freeze the other heads, keep what the receiver reads, and put it in."""
    lm = load_model(f"hf:{families.save('gpt2', tmp_path, n_layer=4)}")
    net, reading = lm.net, lm.read("the cat sat")
    layers, d_model, d_head = net.transformer.h, 32, 8
    attentions, others = [layer.attn for layer in layers], [layer.mlp for layer in layers]
    plain: dict[nn.Module, Tensor] = {}

    def keep(module: nn.Module, _inputs: object, out: Tensor | tuple[Tensor, ...]) -> None:
        plain[module] = (out if isinstance(out, Tensor) else out[0]).clone()

    with hooked(*((part.c_proj, keep) for part in (*attentions, *others))):
        before = net(*reading.inputs).logits[0]

    def frozen(module: nn.Module, _inputs: object, _out: Tensor) -> Tensor:
        return plain[module]

    def without(module: nn.Module, inputs: object, _out: Tensor) -> Tensor:  # head 1 of the sending layer
        z = inputs[0].clone()
        z[..., d_head : 2 * d_head] = 0
        return z @ module.weight + module.bias

    read: list[Tensor] = []
    held = [part.c_proj for part in (*attentions[1:], *(others if feed_forward == "frozen" else []))]
    with hooked(
        (attentions[0].c_proj, without),
        *((module, frozen) for module in held),
        (attentions[3].c_attn, lambda _m, _i, out: read.append(out.clone())),
    ):
        net(*reading.inputs)

    def put_in(_module: nn.Module, _inputs: object, out: Tensor) -> Tensor:  # q, k and v of head 2
        made = out.clone()
        for start in (0, d_model, 2 * d_model):
            mine = slice(start + 2 * d_head, start + 3 * d_head)
            made[..., mine] = read[0][..., mine]
        return made

    with hooked((attentions[3].c_attn, put_in)):
        expected = net(*reading.inputs).logits[0]
    found = path(
        lm, reading, "decoder.0.self heads 1: zero", "decoder.3.self heads 2", feed_forward=feed_forward
    )
    torch.testing.assert_close(found["logits"], expected, atol=1e-5, rtol=1e-5)
    assert (expected - before).abs().max() > 1e-3
