"""A trace that edits: what follows is computed from the edited value, and nothing else changes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from models import Trace, Transformer
from models.config import POSITION_SCHEMES
from models.engine.trace import addresses, record

Make = Callable[..., Transformer]
Edit = Callable[[str, Tensor], Tensor]
SOURCE, TARGET = torch.tensor([[3, 1, 4, 10, 5, 9, 0]]), torch.tensor([[2, 6, 5, 0]])
KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]
every_model = [
    pytest.mark.parametrize("kind", KINDS),
    pytest.mark.parametrize("norm", ["pre", "post"]),
    pytest.mark.parametrize("positions", POSITION_SCHEMES),
]
ROUNDING = {"rtol": 1e-10, "atol": 1e-10}  # of float64, over a few hundred sums


def of_every_model(test: Callable) -> Callable:
    for mark in every_model:
        test = mark(test)
    return test


def traced(model: Transformer, edit: Edit | None = None, **options: Any) -> tuple[Tensor, Trace]:
    trace = Trace(edit=edit, **options)
    inputs = [SOURCE, TARGET] if model.config.kind == "encoder-decoder" else [SOURCE]
    return model(*inputs, trace=trace), trace


def at(address: str, change: Callable[[Tensor], Tensor]) -> Edit:
    return lambda here, tensor: change(tensor) if here == address else tensor


def noise(tensor: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    return tensor + torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype)


@of_every_model
def test_editing_nothing_changes_no_bit(make: Make, kind: str, norm: str, positions: str):
    model = make(kind, norm=norm, positions=positions)
    results = []
    for edit in (None, lambda _, tensor: tensor):
        logits, trace = traced(model, edit)
        gradients = torch.autograd.grad(logits.square().sum(), list(model.parameters()))
        results.append([logits, *gradients, *(trace[address] for address in trace)])
    assert len(results[0]) == 1 + len(list(model.parameters())) + len(addresses(model.config))
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


@of_every_model
def test_an_edit_acts_on_all_that_follows_and_on_nothing_before(
    make: Make, kind: str, norm: str, positions: str
):
    """At every address: what was computed before is the same to the bit, the logits are others."""
    model = make(kind, norm=norm, positions=positions, n_layers=1)
    with torch.no_grad():
        _, plain = traced(model)
        for address in addresses(model.config):
            logits, trace = traced(model, at(address, noise))
            before = list(trace)[: list(trace).index(address)]
            assert all(torch.equal(trace[earlier], plain[earlier]) for earlier in before), address
            assert torch.equal(trace[address], noise(plain[address])), address
            assert torch.equal(trace["logits"], logits[0])
            assert (trace["logits"] - plain["logits"]).abs().max() > 1e-6, address


@of_every_model
@pytest.mark.parametrize("head", [0, 1])
def test_zeroing_a_heads_z_equals_removing_its_columns_of_the_output_projection(
    make: Make, kind: str, norm: str, positions: str, head: int
):
    model = make(kind, norm=norm, positions=positions, d_head=6)
    keep = torch.ones(2, 1, 1, dtype=torch.float64).index_fill(0, torch.tensor(head), 0.0)
    attentions = {
        f"{stack}.{i}.{which}": getattr(layer, f"{which}_attention")
        for stack in model.config.stacks
        for i, layer in enumerate(getattr(model, stack).layers)
        for which in ("self", "cross")
        if getattr(layer, f"{which}_attention") is not None
    }
    with torch.no_grad():
        for address, attention in attentions.items():
            zeroed, _ = traced(model, at(f"{address}.z", lambda z: z * keep))
            whole, others = attention.out_proj.weight, slice(6) if head else slice(6, None)
            attention.out_proj.weight = torch.nn.Parameter(whole[:, others])
            hook = attention.out_proj.register_forward_pre_hook(lambda _, args, o=others: args[0][..., o])
            removed, _ = traced(model)
            hook.remove()
            attention.out_proj.weight = whole
            torch.testing.assert_close(zeroed, removed, **ROUNDING)
            assert (zeroed - traced(model)[0]).abs().max() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_set_by_hand_gives_its_mean_of_the_values(make: Make, kind: str):
    stack = kind.split("-")[0]
    _, trace = traced(make(kind), at(f"{stack}.1.self.pattern", lambda p: p.roll(1, dims=-1)))
    pattern, v = trace[f"{stack}.1.self.pattern"], trace[f"{stack}.1.self.v"]
    torch.testing.assert_close(pattern.roll(-1, dims=-1), trace[f"{stack}.1.self.scores"].softmax(dim=-1))
    torch.testing.assert_close(trace[f"{stack}.1.self.z"], pattern @ v, **ROUNDING)


def test_edited_scores_give_their_softmax_behind_a_mask_too(make: Make):
    """An edit may open keys that the mask closed, and close all keys of a query, whose pattern then is 0."""

    def opened(scores: Tensor) -> Tensor:
        scores = scores.masked_fill(scores == -torch.inf, 0.5)
        return scores.index_fill(1, torch.tensor(2), -torch.inf)

    _, trace = traced(make("decoder-only"), at("decoder.0.self.scores", opened))
    scores, pattern = trace["decoder.0.self.scores"], trace["decoder.0.self.pattern"]
    assert (pattern[:, [0, 1, 3, 4, 5, 6]] > 0).all()
    assert (pattern[:, 2] == 0).all()
    open_rows = scores[:, [0, 1, 3, 4, 5, 6]].softmax(dim=-1)
    torch.testing.assert_close(pattern[:, [0, 1, 3, 4, 5, 6]], open_rows, **ROUNDING)
    assert trace["logits"].isfinite().all()


def test_scores_follow_edited_queries_keys_and_biases(make: Make):
    for name in ("q", "k", "bias"):
        _, trace = traced(
            make("encoder-only", positions="transformer-xl"), at(f"encoder.0.self.{name}", noise)
        )
        q, k, bias, scores = (trace[f"encoder.0.self.{part}"] for part in ("q", "k", "bias", "scores"))
        expected = (q @ k.mT / 2 + bias)[..., :6]  # d_head is 4; the last key is padding
        torch.testing.assert_close(scores[..., :6], expected, **ROUNDING)


def test_values_of_another_prompt_may_be_put_in(make: Make):
    """Activation patching: with another prompt's last stream, the logits are that prompt's."""
    model, other = make("decoder-only"), Trace()
    model(torch.tensor([[7, 7, 8, 2]]), trace=other)
    patched = Trace(edit=at("decoder.1.resid_post", lambda _: other["decoder.1.resid_post"]))
    assert torch.equal(model(TARGET, trace=patched)[0], other["logits"])


def test_reduce_sees_the_edited_value(make: Make):
    _, trace = traced(
        make("encoder-only"),
        at("encoder.0.self.pattern", torch.zeros_like),
        reduce=lambda address, tensor: tensor.sum().item() if address.endswith("pattern") else None,
    )
    assert trace["encoder.0.self.pattern"] == 0
    assert trace["encoder.1.self.pattern"] == pytest.approx(2 * 7)
    assert list(trace) == ["encoder.0.self.pattern", "encoder.1.self.pattern"]


def test_edit_is_asked_once_for_each_address_in_the_order_of_computation(make: Make):
    model, asked = make("encoder-decoder", positions="alibi"), {}

    def note(address: str, tensor: Tensor) -> Tensor:
        assert address not in asked
        asked[address] = tensor.shape
        return tensor

    _, trace = traced(model, note)
    assert list(asked) == addresses(model.config)
    assert asked == {address: trace[address].shape for address in trace}


def test_gradients_flow_through_edits(make: Make):
    """They reach what the edit computes from, and pass by what it throws away."""
    model = make("encoder-only")
    gate = torch.ones(2, 1, 1, dtype=torch.float64, requires_grad=True)

    def gated(gate: Tensor) -> Tensor:
        return traced(model, at("encoder.0.self.z", lambda z: z * gate))[0]

    torch.testing.assert_close(gated(gate), model(SOURCE), **ROUNDING)
    assert torch.autograd.gradcheck(gated, [gate])
    logits, trace = traced(model, at("encoder.0.self.pattern", torch.zeros_like))
    logits.sum().backward()
    attention = model.encoder.layers[0].self_attention
    assert attention.q_proj.weight.grad is None
    assert attention.v_proj.weight.grad.abs().max() == 0
    assert model.encoder.layers[1].self_attention.q_proj.weight.grad.abs().max() > 0
    assert not any(trace[address].requires_grad for address in trace)


def test_nothing_is_asked_without_an_edit():
    tensor = torch.ones(1, 2)
    assert record(None, "z", tensor) is tensor
    assert Trace().record("logits", tensor) is tensor
    assert Trace(edit=lambda _, given: given).record("logits", tensor) is tensor


def test_a_model_that_recomputes_in_training_is_traced_once(make: Make):
    model = make("decoder-only").train()
    model.recompute = True
    logits, trace = traced(model, at("decoder.0.ff.out", noise))
    logits.sum().backward()
    assert list(trace) == addresses(model.config)


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda _: None,
            "edit gave NoneType for encoder.0.self.z; return a tensor, or the given one",
        ),
        (
            lambda z: z.tolist(),
            "edit gave list for encoder.0.self.z; return a tensor, or the given one",
        ),
        (
            lambda z: z[:1],
            "edit gave float64 [1, 7, 4] on cpu for encoder.0.self.z, which is float64 [2, 7, 4] on cpu; "
            "return a tensor of the same shape, type and device",
        ),
        (
            lambda z: z.float(),
            "edit gave float32 [2, 7, 4] on cpu for encoder.0.self.z, which is float64 [2, 7, 4] on cpu; "
            "return a tensor of the same shape, type and device",
        ),
    ],
    ids=["none", "list", "shape", "type"],
)
def test_what_cannot_take_the_place_is_refused(make: Make, mode: Callable, change: Callable, sentence: str):
    with mode(), pytest.raises(ValueError) as error:
        traced(make("encoder-only"), at("encoder.0.self.z", change))
    assert str(error.value) == sentence


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad])
def test_a_change_in_place_is_refused(make: Make, mode: Callable):
    """Without positions, the stream that enters the first layer is the embeddings' own memory."""
    with mode(), pytest.raises(ValueError) as error:
        traced(make("encoder-only", positions="none"), at("encoder.0.resid_pre", lambda x: x.mul_(2)))
    assert str(error.value) == (
        "edit changed encoder.0.resid_pre in place, which may change what came before it; "
        "return a new tensor, e.g. change tensor.clone()"
    )
