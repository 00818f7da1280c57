"""The trace: it holds what the glossary says, changes nothing, and its numbers fit together."""

import gc
import weakref
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.engine.positions import has_bias
from attention_lab.models.engine.size import addresses
from attention_lab.models.engine.trace import GLOSSARY
from tests.models.kinds import KINDS, of_every_model

Make = Callable[..., Transformer]
Edit = Callable[[str, Tensor], Tensor]
SOURCE, TARGET = torch.tensor([[3, 1, 4, 10, 5, 9, 0]]), torch.tensor([[2, 6, 5, 0]])


def inputs(model: Transformer) -> list[Tensor]:
    return [SOURCE, TARGET] if model.config.kind == "encoder-decoder" else [SOURCE]


def traced(model: Transformer, edit: Edit | None = None, **options: Any) -> tuple[Tensor, Trace]:
    trace = Trace(edit=edit, **options)
    return model(*inputs(model), trace=trace), trace


def test_every_row_of_the_glossary_is_used_and_said_once():
    sizes: dict[str, Any] = {"n_layers": 1, "n_heads": 2, "d_model": 4, "vocab_size": 5, "max_len": 4}
    configs = [
        ModelConfig(kind=kind, positions="alibi", gated=True, n_experts=2, **sizes, **more)
        for kind in KINDS
        for more in ({"head_gate": "head"}, {"differential": True, "depth_attention": True})
    ]
    recorded = {a for config in configs for a in addresses(config)}
    stacks = ["encoder", "decoder"]
    rows = [{e.address.format(stack=stack, layer=0) for stack in stacks} & recorded for e in GLOSSARY]
    assert all(rows)
    assert set().union(*rows) == recorded
    assert (
        len({e.address for e in GLOSSARY}) == len(GLOSSARY) == len({e.address: e.meaning for e in GLOSSARY})
    )
    assert Trace.glossary() == GLOSSARY


@pytest.mark.parametrize(
    "more", [{"head_gate": "head"}, {"differential": True, "depth_attention": True}], ids=str
)
def test_shapes_are_those_of_the_glossary(make: Make, more: dict[str, Any]):
    model = make(
        "encoder-decoder",
        positions="alibi",
        gated=True,
        **more,
        d_head=3,
        d_ff=17,
        n_experts=3,
        target_vocab_size=7,
    )
    _, trace = traced(model)
    for entry, stack in product(GLOSSARY, ["encoder", "decoder"]):
        address = entry.address.format(stack=stack, layer=1)
        if address not in trace:
            is_off = address.endswith((".lambda", ".difference", ".depth")) and "differential" not in more
            assert is_off or (stack, "cross" in address) == ("encoder", True)
            continue
        own = 7 if stack == "encoder" else 4
        sizes = {"head": 2, "d_head": 3, "d_model": 8, "d_ff": 3 * 17, "expert": 3, "vocab": 7}
        sizes |= {"query": 4 if address == "logits" else own, "key": 7 if "cross" in address else own}
        n_sublayers, at = (2, 2 + ("ff" in address)) if stack == "encoder" else (3, 2 + 2 * ("ff" in address))
        sizes |= {"pair": 1, "2 * d_head": 6, "source": n_sublayers + at + ("cross" in address)}
        if "differential" in more and address.endswith((".v", ".z", ".head_out")):
            sizes["d_head"] = 6
        words = entry.shape.strip("[]").split(", ")
        assert list(trace[address].shape) == [sizes[word] for word in words], address


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("norm", "residual"), [("pre", True), ("post", True), ("none", False)])
def test_residual_identities(make: Make, kind: str, norm: str, residual: bool):
    model = make(kind, norm=norm, residual=residual)
    logits, trace = traced(model)
    for stack, i in product(model.config.stacks, range(2)):
        at, layer = f"{stack}.{i}", getattr(model, stack).layers[i]
        steps = [("resid_pre", "self.out", "resid_self", layer.self_norm)]
        if layer.cross_norm is not None:
            steps.append(("resid_self", "cross.out", "resid_cross", layer.cross_norm))
        steps.append((steps[-1][2], "ff.out", "resid_post", layer.ff_norm))
        for before, added, after, layer_norm in steps:
            total = trace[f"{at}.{before}"] * residual + trace[f"{at}.{added}"]
            expected = layer_norm(total) if norm == "post" else total
            torch.testing.assert_close(trace[f"{at}.{after}"], expected, rtol=0, atol=1e-12)
        if i:
            assert torch.equal(trace[f"{at}.resid_pre"], trace[f"{stack}.0.resid_post"])
    last = trace[f"{stack}.1.resid_post"]
    out = getattr(model, stack).norm(last) if norm == "pre" else last
    torch.testing.assert_close(trace[f"{stack}.norm"], out, rtol=0, atol=1e-12)
    torch.testing.assert_close(trace["logits"], model.unembed(trace[f"{stack}.norm"]), rtol=0, atol=1e-12)
    assert torch.equal(trace["logits"], logits[0])


@of_every_model("pre", "post")
def test_attention_identities(make: Make, kind: str, norm: str, positions: str):
    model = make(kind, norm=norm, positions=positions, d_head=4, attention_scale=0.4)
    _, trace = traced(model)
    for address in [a.removesuffix(".q") for a in trace if a.endswith(".q")]:
        q, k, v, scores, pattern, z, out = (
            trace[f"{address}.{name}"] for name in ("q", "k", "v", "scores", "pattern", "z", "out")
        )
        allowed = scores.isfinite()
        expected = 0.4 * q @ k.mT
        assert (f"{address}.bias" in trace) == (has_bias(positions) and "self" in address)
        if f"{address}.bias" in trace:
            assert (trace[f"{address}.bias"] != 0).any()
            expected = expected + trace[f"{address}.bias"]
        torch.testing.assert_close(scores[allowed], expected[allowed], rtol=0, atol=1e-12)
        assert (pattern[~allowed] == 0).all()
        torch.testing.assert_close(pattern.sum(dim=-1), torch.ones(pattern.shape[:2]).double())
        torch.testing.assert_close(pattern, scores.softmax(dim=-1))
        torch.testing.assert_close(z, pattern @ v, rtol=0, atol=1e-12)
        stack, i, which, *_ = address.split(".")
        attention = getattr(getattr(model, stack).layers[int(i)], f"{which}_attention")
        side_by_side = z.transpose(0, 1).flatten(1)  # [query, head * d_head]
        torch.testing.assert_close(out, attention.out_proj(side_by_side), rtol=0, atol=1e-12)


def test_feed_forward_and_embedding_identities(make: Make):
    model = make("decoder-only", activation="gelu")
    _, trace = traced(model)
    for i, layer in enumerate(model.decoder.layers):
        at = f"decoder.{i}.ff"
        torch.testing.assert_close(trace[f"{at}.post"], F.gelu(trace[f"{at}.pre"]))
        torch.testing.assert_close(trace[f"{at}.out"], layer.feed_forward.linear_out(trace[f"{at}.post"]))
    torch.testing.assert_close(trace["decoder.embed"], model.embedding.weight[SOURCE[0]] * 8**0.5)
    torch.testing.assert_close(
        trace["decoder.0.resid_pre"], model.decoder.positions(trace["decoder.embed"][None])[0]
    )


def test_encode_then_decode_records_what_forward_does(make: Make):
    model, trace = make("encoder-decoder"), Trace()
    memory = model.encode(SOURCE, trace=trace)
    model.decode(TARGET, memory, SOURCE, trace=trace)
    _, whole = traced(model)
    assert list(trace) == list(whole)
    assert all(torch.equal(trace[address], whole[address]) for address in whole)


def test_with_reduce_one_layers_matrices_exist_at_a_time(make: Make):
    """No reference outlives its layer: 1,024 tokens cost one layer's matrices, not all layers'."""
    matrices: list[weakref.ref[torch.UntypedStorage]] = []
    alive: list[int] = []

    def watch(address: str, tensor: Tensor) -> None:
        if address.endswith(("scores", "pattern")):
            matrices.append(weakref.ref(tensor.untyped_storage()))
        alive.append(sum(matrix() is not None for matrix in matrices))

    model = make("encoder-only", n_layers=6)
    gc.disable()
    try:
        with torch.no_grad():
            traced(model, reduce=watch)
    finally:
        gc.enable()
    assert len(matrices) == 12
    assert max(alive) <= 2


def test_a_trace_keeps_no_autograd_graph(make: Make):
    _, trace = traced(make("encoder-decoder"))
    assert not any(trace[address].requires_grad for address in trace)


def test_an_unknown_address_names_near_ones(make: Make):
    _, trace = traced(make("encoder-only"))
    assert "encoder.0.self.pattern" in trace
    assert "encoder.0.self.patern" not in trace
    with pytest.raises(KeyError, match=r"at 'encoder\.0\.self\.patern'; near it are encoder\.0\."):
        trace["encoder.0.self.patern"]
    with pytest.raises(KeyError, match=r"nothing is recorded at '\?'; see trace\.keys\(\)"):
        trace["?"]


def test_one_trace_holds_one_prompt(make: Make):
    model = make("encoder-decoder")
    with pytest.raises(ValueError) as error:
        model(SOURCE.expand(3, -1), TARGET.expand(3, -1), trace=Trace())
    assert str(error.value) == "batch=3, but a trace holds one prompt; trace tokens[i : i + 1], row by row"
    _, trace = traced(model)
    with pytest.raises(ValueError) as error:
        model(SOURCE, TARGET, trace=trace)
    assert str(error.value) == "encoder.embed is recorded already; give each prompt its own Trace()"


def test_a_trace_needs_whole_sequences(make: Make):
    model = make("decoder-only")
    with pytest.raises(ValueError) as error:
        model.decode(SOURCE, cache=model.new_cache(), trace=Trace())
    assert str(error.value) == "trace given with a cache, but a trace shows whole sequences; leave cache out"


def test_a_trace_prints_what_it_holds_with_shapes_and_as_a_tree(make: Make):
    trace = Trace(lambda address, x: x.sum().item() if address == "logits" else x)
    trace.tokens = {"encoder": ["<b>"] * SOURCE.shape[1], "decoder": ["b"] * TARGET.shape[1]}
    make("encoder-decoder")(SOURCE, TARGET, trace=trace)
    first, *lines = repr(trace).splitlines()
    assert (
        first == f"Trace of {SOURCE.shape[1]} tokens in the encoder, {TARGET.shape[1]} tokens in the decoder"
    )
    shapes = {name: shape for name, shape in (line.split(maxsplit=1) for line in lines)}
    assert next(iter(shapes)) == "encoder.embed" and shapes["logits"] == "float"
    told = {name.replace("0,1", str(layer)) for name in shapes for layer in (0, 1)}
    assert told == set(trace.keys())
    for name, shape in shapes.items():
        numbers, words = shape.split("]", 1) if shape != "float" else ("[", "")
        assert numbers == "[" or numbers == str(list(trace[name.replace("0,1", "1")].shape))[:-1]
        assert words in {"", *(f" {entry.shape}" for entry in Trace.glossary())}
    assert shapes["decoder.0,1.cross.pattern"].endswith("] [head, query, key]")
    tree = trace._repr_html_()
    assert tree.count("<code>") == len(trace.keys()) + tree.count("<details>") and "<b>" not in tree
    assert repr(Trace()) == "Trace"


# A trace that edits: what follows is computed from the edited value, and nothing else changes.


ROUNDING = {"rtol": 1e-10, "atol": 1e-10}  # of float64, over a few hundred sums


def at(address: str, change: Callable[[Tensor], Tensor]) -> Edit:
    return lambda here, tensor: change(tensor) if here == address else tensor


def noise(tensor: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    return tensor + torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype)


@of_every_model("pre", "post")
def test_a_trace_changes_no_number_and_editing_nothing_no_bit(
    make: Make, kind: str, norm: str, positions: str
):
    model = make(kind, norm=norm, positions=positions)
    plain, results = model(*inputs(model)), []
    plain_gradients = torch.autograd.grad(plain.square().sum(), list(model.parameters()))
    for edit in (None, lambda _, tensor: tensor):
        logits, trace = traced(model, edit)
        gradients = torch.autograd.grad(logits.square().sum(), list(model.parameters()))
        assert list(trace.keys()) == list(trace) == addresses(model.config)
        torch.testing.assert_close([logits, *gradients], [plain, *plain_gradients], **ROUNDING)
        results.append([logits, *gradients, *(trace[address] for address in trace)])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


@of_every_model("pre", "post")
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


def test_reduce_sees_the_edited_value(make: Make):
    _, trace = traced(
        make("encoder-only"),
        at("encoder.0.self.pattern", torch.zeros_like),
        reduce=lambda address, tensor: tensor.sum().item() if address.endswith("pattern") else None,
    )
    assert trace["encoder.0.self.pattern"] == 0
    assert trace["encoder.1.self.pattern"] == pytest.approx(2 * 7)
    assert list(trace) == ["encoder.0.self.pattern", "encoder.1.self.pattern"]


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
        (lambda _: None, "edit gave NoneType for encoder.0.self.z; return a tensor, or the given one"),
        (lambda z: z.tolist(), "edit gave list for encoder.0.self.z; return a tensor, or the given one"),
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
