"""Asks a model of transformers, when it is opened, whether what is recorded of it is what it computes.

Every identity that pages rely on is tried on a few tokens: what fails is not offered. That an accessor of
attention is proved by replacing patterns is nnterp's idea (Dumas, 2025).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from ...engine.capture import ROUNDING
from ...engine.trace import Trace
from ..model import Attention
from .layout import LayerModules, Layout
from .recorder import Recorder


def answer_of(output: Any) -> Tensor:
    """Returns the logits, or the last stream of a model without any."""
    logits = getattr(output, "logits", None)
    return output[0] if logits is None else logits


def tolerance_of(dtype: torch.dtype) -> float:
    """Says how far a number of this format may be from its copy in a trace, which is float32."""
    return max(ROUNDING[dtype], ROUNDING[torch.float32])


def check_pattern(pattern: Tensor, shape: Sequence[int], tolerance: float, *, sinks: bool = False) -> None:
    """Raises ValueError unless these are weights [head, query, key] of this shape: each in [0, 1], each row
    summing to 1, or to less beside sinks.
    """
    if tuple(pattern.shape) != tuple(shape):
        raise ValueError(
            f"its weights have the shape {tuple(pattern.shape)}, not {tuple(shape)} [head, query, key]"
        )
    least, most = float(pattern.min()), float(pattern.max())
    if not (least >= -tolerance and most <= 1 + tolerance):
        raise ValueError(f"its weights go from {least:.3g} to {most:.3g}, not from 0 to 1")
    sums = pattern.cpu().double().sum(-1)  # a device may have no float64
    wrong = sums > 1 + tolerance if sinks else (sums - 1).abs() > tolerance
    if bool(wrong.any()):
        raise ValueError(
            f"rows of its weights sum to {float(sums.min()):.3g} to {float(sums.max()):.3g}, not to 1"
        )


class Proof(NamedTuple):
    """Tells which claims of a layout hold.

    linear: the attentions whose output projection is a matrix, such as "decoder.0.self". why_not_added: why
    the outputs that layers add cannot be shown; "" where they can. ends: whether the last stream of each
    stack has a vector for each token. is_causal: whether no query weighs a later key.
    """

    linear: frozenset[str]
    why_not_added: str
    ends: bool
    is_causal: bool

    @property
    def note(self) -> str:
        why = self.why_not_added
        return f"What its layers add to their stream cannot be shown: {why}." if why else ""

    def restrict(self, whole: Layout) -> Layout:
        """Returns the layout without the modules whose claims do not hold."""
        layers = []
        for layer in whole.layers:
            out = {kind: module for kind, module in layer.out.items() if f"{layer.at}.{kind}" in self.linear}
            lost: dict[str, Any] = {"added": None, "ff": None} if self.why_not_added else {}
            layers.append(replace(layer, out=out, **lost))
        return whole._replace(layers=layers, ends=self.ends)


@torch.no_grad()
def prove(
    net: nn.Module, whole: Layout, attentions: dict[str, Attention], run: Callable[[], Any]
) -> tuple[Proof, Tensor]:
    """Tries every claim of a layout; returns the claims that hold, and the answer of the recorded model.

    run: lets the model read a few tokens. Raises ValueError where its patterns, queries, keys, values or
    scores are not what they are taken for.
    """
    tolerance = tolerance_of(next(p.dtype for p in net.parameters() if p.is_floating_point()))
    trace, answer = _traced(whole, run, None)
    for layer in whole.layers:
        for kind in layer.calls:
            _check_attention(trace, layer, kind, attentions[f"{layer.stack}.{kind}"], tolerance)
    blank, other = _traced(whole, run, lambda address, x: x * 0 if address.endswith(".pattern") else x)
    if any(float(blank[a].abs().max()) > 0 for a in blank if a.endswith(".z")) or torch.equal(answer, other):
        raise ValueError("replacing its weights changes nothing that it computes")
    linear = frozenset(address for layer in whole.layers for address in _linear(layer, trace, tolerance))
    why = _why_not_added(whole, trace, run, answer, tolerance)
    patterns = [trace[f"{layer.at}.self.pattern"] for layer in whole.layers]
    is_causal = all(float(pattern.triu(1).abs().max()) == 0 for pattern in patterns)
    return Proof(linear, why, _ends(whole, trace, answer, tolerance), is_causal), answer


def _ends(whole: Layout, trace: Trace, answer: Tensor, tolerance: float) -> bool:
    """Says whether each stack ends with a vector for each token; without logits, these are the answer."""
    for stack in whole.stacks:
        end, last = trace[f"{stack}.norm"], whole.of(stack)[-1]
        if end.shape != trace[f"{last.at}.resid_post"].shape:
            return False
    last_stream = answer[0].float().cpu()
    return last_stream.shape != end.shape or _near(end, last_stream, tolerance)


def _traced(whole: Layout, run: Callable[[], Any], edit: Any) -> tuple[Trace, Tensor]:
    trace = Trace(edit=edit)
    with Recorder(trace, whole).recording():
        return trace, answer_of(run())


def _check_attention(
    trace: Trace, layer: LayerModules, kind: str, about: Attention, tolerance: float
) -> None:
    at, call = f"{layer.at}.{kind}", layer.calls[kind]
    names = ("q", "k", "v", "scores", "pattern", "z")
    missing = [name for name in names if f"{at}.{name}" not in trace]
    if missing:
        raise ValueError(f"{layer.path} computed no {missing[0]} that could be heard")
    q, k, v, scores, pattern, z = (trace[f"{at}.{name}"] for name in names)
    check_pattern(
        pattern, (call.n_heads, call.n_queries, call.n_keys), tolerance, sinks=about.normalizer != "softmax"
    )
    for address in (f"{layer.at}.resid_pre", f"{layer.at}.resid_post"):
        if trace[address].shape[0] != call.n_queries:
            raise ValueError(f"{layer.path} reads or makes {trace[address].shape[0]} vectors of its tokens")
    k, v = (each.repeat_interleave(len(q) // len(each), dim=0) for each in (k, v))
    products = call.scale * q @ k.mT
    products = products + trace[f"{at}.bias"] if f"{at}.bias" in trace else products
    products = products if about.cap is None else about.cap * torch.tanh(products / about.cap)
    visible = scores > -torch.inf
    same = {
        "scores are not its scaled products of queries and keys": (products[visible], scores[visible]),
        "weights are not the softmax of its scores": (scores.softmax(-1), pattern),
        "z is not its weights times its values": (pattern @ v, z),
    }
    if about.normalizer != "softmax":
        del same["weights are not the softmax of its scores"]
    for wrong, (first, second) in same.items():
        if not _near(first, second, tolerance):
            raise ValueError(f"in {layer.path}, its {wrong}")


def _linear(layer: LayerModules, trace: Trace, tolerance: float) -> Iterator[str]:
    """Yields the attentions whose output projection is a matrix and a bias; others quantise."""
    for kind, module in layer.out.items():
        weight: Any = module.weight
        z = trace[f"{layer.at}.{kind}.z"].transpose(0, 1).flatten(1).to(weight)
        projected = z @ weight if isinstance(module, Conv1D) else z @ weight.T
        projected = projected if module.bias is None else projected + module.bias
        if _near(projected, module(z[None])[0], tolerance):
            yield f"{layer.at}.{kind}"


def _near(first: Tensor, second: Tensor, tolerance: float) -> bool:
    return float((first - second).abs().max()) <= tolerance * max(1.0, float(second.abs().max()))


def _why_not_added(
    whole: Layout, trace: Trace, run: Callable[[], Any], answer: Tensor, tolerance: float
) -> str:
    """Says why the recorded outputs are not those that layers add; "" where they are."""
    for layer in whole.layers:
        if layer.added is None:
            return f"{layer.path} does more to the stream than add and normalise"
        parts = [trace[f"{layer.at}.{kind}.out"] for kind in layer.added.sites]
        before, after = trace[f"{layer.at}.resid_pre"], trace[f"{layer.at}.resid_post"]
        if layer.added.plain and not _near(before + sum(parts), after, tolerance):
            return f"they do not sum to what leaves {layer.path}"
    # Every second layer loses what it attends, the others their feed-forward: two passes tell of both.
    zeroed: set[str] = set()
    makers: list[nn.Module] = []
    for at, layer in enumerate(whole.layers):
        assert layer.added is not None
        for kind, modules in layer.added.makers.items():
            if modules and (kind == "ff") == bool(at % 2):
                zeroed.add(f"{layer.at}.{kind}.out")
                makers.append(modules[-1])
    if len({id(layer.module) for layer in whole.layers}) < len(whole.layers) or not zeroed:
        return ""  # a hook cannot tell the calls of one module apart
    edited = _traced(whole, run, lambda address, x: x * 0 if address in zeroed else x)[1]
    with ExitStack() as opened:
        for module in makers:
            opened.callback(module.register_forward_hook(_silence).remove)
        silenced = answer_of(run())
    if not _near(edited, silenced, tolerance) or torch.equal(edited, answer):
        return "without these parts it answers differently than without their modules"
    return ""


def _silence(module: nn.Module, args: Any, output: Any) -> Any:
    """Replaces a module's first output by zeros, as a forward hook."""
    return output * 0 if isinstance(output, Tensor) else type(output)((output[0] * 0, *output[1:]))
