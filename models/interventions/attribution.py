"""Estimates from gradients what edits would do: one pass back in place of a pass for each edit."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks import Reading
from ..engine.address import Address
from ..engine.trace import Trace
from .head_paths import Summed, summed
from .head_sweep import (
    Asked,
    Job,
    Row,
    Sweep,
    Sweepable,
    Target,
    Text,
    head_jobs,
    over_texts,
    position_jobs,
    side_by_side,
    source_of,
)

FLAT = ("kl", "distance", "score")
"""What has no slope where nothing is changed yet, or no gradient at all."""
INPUTS = ("q", "k", "v")


@over_texts
def attribute_heads(
    model: Sweepable,
    text: Text,
    metric: Asked,
    *,
    change: str = "zero",
    other: Text = None,
    by_position: bool = False,
    **settings: Any,
) -> Sweep:
    """Attribution patching (Nanda 2023; Syed et al. 2023): what `sweep_heads` finds of the same arguments, as
    the gradient of the metric at each head's z times what the change makes of z: exact for small changes.

    Raises ValueError as `sweep_heads` does, and for a metric that is flat where nothing is changed.
    """
    reading = model.reading_of(text, settings)
    target = _with_slope(model, reading, metric)
    return _estimated(
        model, reading, target, *head_jobs(model, reading, change, other, by_position, settings, target)
    )


@over_texts
def attribute_positions(model: Sweepable, text: Text, metric: Asked, other: Text, **settings: Any) -> Sweep:
    """The same for the stream that enters each layer at each position: what `sweep_positions` finds."""
    reading = model.reading_of(text, settings)
    target = _with_slope(model, reading, metric)
    return _estimated(model, reading, target, *position_jobs(model, reading, other, settings))


def _with_slope(model: Sweepable, reading: Reading, metric: Asked) -> Target:
    target = Target.read(metric).numbered(model, reading)
    if target.kind in FLAT:
        raise ValueError(
            f"gradients say nothing of {target}, which has no slope where nothing is changed; take a logit, "
            "a probability, the loss or a function"
        )
    return target


def _estimated(
    model: Sweepable, reading: Reading, target: Target, jobs: Sequence[Job], rows: Sequence[Row]
) -> Sweep:
    trace = model.trace(reading, grad=target)
    before, values = float(target.of_pass(trace, reading)), []
    for job in jobs:
        if job.place() not in trace.grads:
            values.append(before)
            continue
        row, grad = (side_by_side(each[job.place()]) for each in (trace, trace.grads))
        values.append(before + float(((job.change(row) - row).double() * grad).sum()))
    return Sweep.of(target, before, values, rows)


def integrated_gradients(
    model: Sweepable,
    text: Text,
    metric: Asked,
    address: str,
    *,
    other: Text = None,
    steps: int = 32,
    **settings: Any,
) -> Tensor:
    """What each number at an address gives to the metric (Sundararajan et al. 2017): its distance from a
    baseline, zero or what another text has there, times the mean gradient on the straight way between them.

    All of them sum to the metric less the metric at the baseline, but for the error of `steps` midpoints.
    Positions of the other text are put as in `sweep_heads`. Raises ValueError as it does, and for an address
    that is not computed.
    """
    reading, target = model.reading_of(text, settings), Target.read(metric)
    plain = model.trace(reading, reduce=lambda a, x: x if a == address else None)
    if address not in plain:
        raise ValueError(f"{address!r} is not computed in {model.name!r}; lm.trace(text) prints what is")
    if steps < 1:
        raise ValueError(f"steps={steps} is no step; give 1 or more")
    here, base = plain[address], torch.zeros_like(plain[address])
    if other is not None:
        source, partners = source_of(model, reading, other, settings, {address})
        mine, theirs = zip(*partners[Address.parse(address).stack], strict=True)
        base = here.clone()
        base[..., list(mine), :] = source[address][..., list(theirs), :]
    total = torch.zeros_like(here)
    for step in range(steps):
        part = (step + 0.5) / steps

        def between(at: str, value: Tensor, part: float = part) -> Tensor:
            return base + part * (here - base) if at == address else value

        total += model.trace(reading, edit=between, grad=target, reduce=_nothing).grads[address]
    return (here - base) * total / steps


def _nothing(address: str, value: Tensor) -> None:
    """Keeps no value."""


class Edge(NamedTuple):
    """What goes from one head to what another reads of it; sender: such as "decoder.0.self"."""

    sender: str
    receiver: str
    effect: Float[Tensor, "sender_head receiver_head"]


@runtime_checkable
class Differentiable(Summed, Protocol):
    """A model with a stream of plain sums, whose pass may be recorded by a trace of one's own."""

    def compute(self, reading: Reading, trace: Trace) -> None: ...


def attribute_edges(
    model: Differentiable,
    text: Text,
    metric: Asked,
    *,
    change: str = "zero",
    other: Text = None,
    **settings: Any,
) -> list[Edge]:
    """Edge attribution patching (Syed et al. 2023): for each head and each later head's q, k and v (a
    receiver is such as "decoder.1.self.q"; k and v by key heads), what the change of the first does to the
    metric through what the second reads of it; exact for small changes.

    It is of self-attention in the stack that answers. Raises ValueError as `attribute_heads` does, and where
    the stream is no plain sum.
    """
    reading = model.reading_of(text, settings)
    target, side = _with_slope(model, reading, metric), list(reading.tokens)[-1]
    plain = summed(model, reading, side)
    moved = _moved(
        model, reading, plain, side, head_jobs(model, reading, change, other, False, settings, target)[0]
    )
    trace = Trace(_nothing, keeps_graph=True)
    trace.tokens = dict(reading.tokens)
    edges = []
    with torch.enable_grad():
        model.compute(reading, trace)
        number, graph = target.of_pass(trace.in_graph(), reading), trace.graph or {}
        layers = [address for address in model.layers() if address.startswith(f"{side}.")]
        for layer in layers:
            entering = graph[f"{layer}.resid_pre"]
            senders = [
                address for address in moved if layers.index(address.rsplit(".", 1)[0]) < layers.index(layer)
            ]
            for name in INPUTS if senders else ():
                read = graph[f"{layer}.self.{name}"]
                (grad,) = torch.autograd.grad(number, read, retain_graph=True)
                each = torch.eye(grad.shape[1]).to(grad)[:, None, :, None, None] * grad  # one head at a time
                # [receiver head, 1, position, d_model]
                (at_entry,) = torch.autograd.grad(
                    read, entering, each, retain_graph=True, is_grads_batched=True
                )
                for sender in senders:
                    effect = torch.einsum("spd,rpd->sr", moved[sender], at_entry[:, 0].double())
                    edges.append(Edge(sender, f"{layer}.self.{name}", effect))
    return edges


def _moved(
    model: Summed, reading: Reading, plain: Trace, side: str, jobs: Sequence[Job]
) -> dict[str, Float[Tensor, "head position d_model"]]:
    """How each head's part of the stream is changed, by attention."""
    moved: dict[str, list[Tensor]] = {}
    for job in jobs:
        where = Address.parse(job.address)
        if where.stack != side:
            continue
        z = plain[job.place()]
        # [position, head, _]
        delta = (job.change(side_by_side(z)) - side_by_side(z)).unflatten(1, (len(z), -1))
        w_o = model.projection(where.family, where.layer)
        assert w_o is not None  # the stream is known to be a sum of its heads
        moved.setdefault(job.address, []).append(torch.einsum("phc,hcd->pd", delta.double(), w_o.double()))
    return {address: torch.stack(rows) for address, rows in moved.items()}
