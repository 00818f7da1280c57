"""Edits of any module by its path, in models and in captured modules, beside hooks on that module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention_lab.models import capture, load_model
from attention_lab.models.contrast import Side, knobs
from attention_lab.models.interventions import Edit
from tests.models.interventions.conftest import Letters
from tests.models.interventions.plain import on_output
from tests.models.zoo.hub import families

Make = Callable[..., Letters]
TEXT, OTHER = "abcabd", "fbgabc"
PATH = "encoder.layers.1.feed_forward"
CHANGES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "zero": lambda x, other: 0 * x,
    "scale 0.5": lambda x, other: 0.5 * x,
    "mean": lambda x, other: x.mean(dim=1, keepdim=True).expand_as(x),
    f'from "{OTHER}"': lambda x, other: other,
}


def given(lm: Letters, path: str, text: str) -> Tensor:
    """What a module gives while the text is read."""
    found: list[Tensor] = []
    with on_output(lm.model.get_submodule(path), lambda x: found.append(x) or x):  # type: ignore[func-returns-value]
        lm.trace(text)
    return found[0]


@pytest.mark.parametrize("kind", ["encoder-only", "encoder-decoder"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_module_s_edit_is_a_hook_on_it(letters: Make, kind: str, change: str) -> None:
    lm = letters(kind)
    plain, other = lm.trace(TEXT), given(lm, PATH, OTHER)
    with on_output(lm.model.get_submodule(PATH), lambda x: CHANGES[change](x, other)):
        expected = lm.trace(TEXT)
    found = lm.trace(TEXT, edits=[f'module "{PATH}": {change}'])
    assert list(found) == list(plain)
    for address in ("encoder.1.resid_post", "logits"):
        torch.testing.assert_close(found[address], expected[address])
        assert not torch.allclose(found[address], plain[address])
    same = lm.trace(TEXT, edits=[f"encoder.1.ff: {change}"])["logits"]
    torch.testing.assert_close(found["logits"], same)
    assert not any(module._forward_hooks for module in lm.model.modules())


def test_some_positions_and_functions_and_gradients_of_what_a_module_gives(letters: Make) -> None:
    lm = letters("encoder-only")
    lines = lm.trace(TEXT, edits=[f'module "{PATH}" at 2,4-5: scale -3'], grad="logits 3-5 at 0")

    def flipped(value: Tensor) -> Tensor:
        assert value.shape == (6, 8)
        return torch.cat([value[:2], -3 * value[2:3], value[3:4], -3 * value[4:]])

    for edits in ([(f'module "{PATH}"', flipped)], [("encoder.1.ff", flipped)]):
        found = lm.trace(TEXT, edits=edits, grad="logits 3-5 at 0")  # type: ignore[arg-type]
        torch.testing.assert_close(found["logits"], lines["logits"])
        torch.testing.assert_close(found.grads["encoder.0.self.z"], lines.grads["encoder.0.self.z"])
    heads = lm.trace(TEXT, edits=[("encoder.0.self heads 1", lambda z: 2 * z)])
    torch.testing.assert_close(
        heads["logits"], lm.trace(TEXT, edits=["encoder.0.self heads 1: scale 2"])["logits"]
    )


def test_a_line_of_a_module_is_read_and_written_alike() -> None:
    for line in ('module "model.layers.3.mlp" at 4-6: scale 0.5', 'module "a": zero'):
        assert str(Edit.read(line)) == line == str(Edit.read(line.replace(" ", "  ")))


REFUSED = {
    'module "encoder.layers.1.feed": zero': 'no such module; did you mean encoder.layers',
    'module "nowhere": zero': "'letters' has no such module; its paths are those of net.named_modules",
    f'module "{PATH}": uniform': "'uniform' does not fit module .*; what a module gives takes zero, scale",
    f'module "{PATH}" heads 1: zero': "has no heads of its own; leave heads out",
    f'module "{PATH}": from "abc"': "the other text has 3 tokens, this one 6",
    f'module "{PATH}": fn': "'fn' is no change",
    'module "encoder.norm" extra: zero': "names no place",
}  # fmt: skip


@pytest.mark.parametrize(("line", "said"), REFUSED.items())
def test_what_is_no_edit_of_a_module_is_refused(letters: Make, line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        letters("encoder-only").trace(TEXT, edits=[line])


def test_a_function_that_gives_another_shape_is_refused(letters: Make) -> None:
    with pytest.raises(ValueError, match=r"edit gave float64 \[6\] on cpu for module "):
        letters("encoder-only").trace(TEXT, edits=[(f'module "{PATH}"', lambda x: x[:, 0])])


def test_another_thread_s_pass_is_left_alone(letters: Make) -> None:
    lm = letters("encoder-only")
    plain, seen = lm.trace(TEXT)["logits"], list[Tensor]()

    def beside(value: Tensor) -> Tensor:
        other = Thread(target=lambda: seen.append(lm.trace(TEXT)["logits"]))
        other.start()
        other.join()
        return 0 * value

    edited = lm.trace(TEXT, edits=[(f'module "{PATH}"', beside)])["logits"]
    assert seen[0].equal(plain) and not edited.equal(plain)


def test_a_model_writes_under_edits_of_its_modules() -> None:
    lm = load_model("translator")
    text = "the animal did not cross the street because it was too tired"
    path = "encoder.layers.1.self_attention"
    by_line = lm.answer(text, edits=[f'module "{path}": zero']).answer
    assert by_line != lm.read(text).answer
    with on_output(lm.model.get_submodule(path), lambda made: 0 * made):
        assert by_line == lm.answer(text).answer
    assert by_line == lm.answer(text, edits=["encoder.1.self.out: zero"]).answer


@pytest.mark.parametrize(
    ("family", "path"), [("gpt2", "transformer.h.1.mlp"), ("bert", "bert.encoder.layer.0")]
)
def test_modules_of_transformers_are_edited_as_by_a_hook(family: str, path: str, tmp_path: Path) -> None:
    lm = load_model(f"hf:{families.save(family, tmp_path)}")
    reading = lm.read(families.TEXT)

    def halved(made: Any) -> Any:
        return 0.5 * made if isinstance(made, Tensor) else (0.5 * made[0], *made[1:])

    with on_output(lm.net.get_submodule(path), halved), torch.no_grad():
        expected = lm.net(reading.inputs[0]).logits[0]
    found = lm.trace(reading, edits=[f'module "{path}": scale 0.5'])["logits"]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(found, lm.trace(reading)["logits"], atol=1e-3)


def test_a_module_that_is_called_again_has_no_one_value_in_another_text(tmp_path: Path) -> None:
    lm = load_model(f"hf:{families.save('albert', tmp_path)}")
    path = "albert.encoder.albert_layer_groups.0.albert_layers.0.ffn"
    with pytest.raises(ValueError, match="runs more than once in a pass"):
        lm.trace(families.TEXT, edits=[f'module "{path}": from "{families.TEXT}"'])
    lm.trace(families.TEXT, edits=[f'module "{path}": scale 0.9'])


def test_a_side_with_a_knob_is_edited_too(letters: Make) -> None:
    lm = letters("encoder-only")
    lines = (f'module "{PATH}": zero', "encoder.1.ff: zero")
    sides = [knobs()["temperature"].applied(Side(lm, TEXT, edits=(line,)), "2") for line in lines]
    assert sides[0].editing is not None
    torch.testing.assert_close(sides[0].trace()["logits"], sides[1].trace()["logits"])


class Block(nn.Module):
    """Attention of one's own, with grouped queries."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))

    def forward(self, x: Tensor) -> Tensor:
        q = self.q(x).unflatten(-1, (4, 2)).transpose(1, 2)
        k, v = (each.transpose(1, 2) for each in self.kv(x).unflatten(-1, (2, 2, 2)).unbind(2))
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(z.transpose(1, 2).flatten(2))
        return x + self.mlp(x)


def captured(kind: str) -> tuple[nn.Module, Tensor, str, str]:
    """A module, its input, a part of it, and the beginning of its second attention's address."""
    torch.manual_seed(0)
    if kind == "own":
        return nn.Sequential(Block(), Block()).eval(), torch.randn(1, 5, 8), "1.mlp", "1"
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=kind == "torch")
    shape = (1, 5, 8) if kind == "torch" else (5, 1, 8)
    nested = kind == "torch"
    module = nn.TransformerEncoder(layer, 2, enable_nested_tensor=nested).eval()
    return module, torch.randn(shape), "layers.1.linear2", "encoder.1.self"


@pytest.mark.parametrize("kind", ["own", "torch", "torch, positions first"])
def test_parts_and_heads_of_captured_modules_are_edited(kind: str) -> None:
    module, x, path, attention = captured(kind)
    plain, trace = capture(module, x)
    with on_output(module.get_submodule(path), lambda made: 0.5 * made), torch.enable_grad():
        expected = module(x)  # with gradients: torch's fast path calls no part
    output, edited = capture(module, x, edits=[f'module "{path}": scale 0.5'])
    torch.testing.assert_close(output, expected)
    assert not torch.allclose(output, plain) and list(edited) == list(trace)
    same, _ = capture(module, x, edits=[(f'module "{path}"', lambda made: made)])
    torch.testing.assert_close(same, plain)
    # a head's pattern, by its weights: each row looks at position 0 alone
    place = f"{attention}.pattern"
    output, edited = capture(module, x, edit=lambda at, each: looking_at_first(each) if at == place else each)
    assert edited[f"{attention}.pattern"][1, :, 0].eq(1).all()
    shared = len(edited[f"{attention}.q"]) // len(edited[f"{attention}.v"])
    torch.testing.assert_close(
        edited[f"{attention}.z"][1], edited[f"{attention}.v"][1 // shared, [0]].expand(5, -1)
    )
    torch.testing.assert_close(edited[f"{attention}.z"][0], trace[f"{attention}.z"][0])
    assert not torch.allclose(output, plain)


def looking_at_first(pattern: Tensor) -> Tensor:
    new = pattern.clone()
    new[1] = torch.zeros_like(new[1]).index_fill(1, torch.tensor([0]), 1)
    return new


def test_heads_of_torch_s_layers_are_switched_off_by_the_line_of_our_models() -> None:
    module, x, *_ = captured("torch")
    output, trace = capture(module, x, edits=["encoder.0.self heads 1: zero"])
    with torch.no_grad():
        module.layers[0].self_attn.out_proj.weight[:, 4:] = 0  # type: ignore[index,union-attr]
    torch.testing.assert_close(output, module(x))
    assert (trace["encoder.0.self.z"][1] == 0).all()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ('module "layers.9": zero', "'TransformerEncoder' has no such module; did you mean layers"),
        ('module "layers.0": from "a"', "a module reads no texts; capture it with other inputs"),
        ("encoder.0.self heads 2: zero", "head 2 is not there; give 0 to 1"),
        ("encoder.2.self: zero", "has no layer 2; give 0 to 1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_captured_module_is_refused(edit: str, said: str) -> None:
    module, x, *_ = captured("torch")
    with pytest.raises(ValueError, match=said):
        capture(module, x, edits=[edit])
