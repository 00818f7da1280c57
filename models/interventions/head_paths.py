"""Measures what heads do on their direct way to the output, and through one another alone."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks import Reading
from ..engine.address import Address
from ..engine.depth import check_adds
from ..engine.trace import Trace
from ..engine.unembedding import Unembedding
from .edit import Edit, Place
from .edited_pass import Prepared, check_place
from .head_sweep import Asked, Change, Job, Progress, Sweep, Sweepable, Text, over_texts, values_of

TOLERANCE = 1e-4
"""How much of its size the stream may differ from the sum of what was added to it, by rounding."""


@runtime_checkable
class Summed(Sweepable, Protocol):
    """A model whose stream is a plain sum of what its layers add."""

    def projection(self, stack: str, layer: int) -> Tensor | None: ...
    def projection_bias(self, stack: str, layer: int) -> Tensor | None: ...
    def unembedding(self) -> Unembedding: ...


class Parts(NamedTuple):
    """The logits of a position as a sum: what each part of the stream adds to each output, by name such as
    "decoder.0.self head 2", "decoder.0.ff", "decoder.0.resid_pre", or "bias".
    """

    names: list[str]
    values: Float[Tensor, "part output"]


@over_texts
@torch.no_grad()
def direct_heads(
    model: Summed, text: Text, metric: Asked, *, progress: Progress = lambda share: None, **settings: Any
) -> Sweep:
    """What taking each head's z W_O out of the stream that leaves the last layer does to the metric: the part
    of the effect of zeroing it that goes through no later layer. The last norm is computed anew.

    text, metric, settings and what is raised are as in `sweep_heads`; it also refuses a stream that is no
    plain sum.
    """
    reading = model.reading_of(text, settings)
    side = list(reading.tokens)[-1]
    trace = summed(model, reading, side)
    heads = {a: _of_heads(model, trace, a) for a in model.projections() if a.startswith(f"{side}.")}
    layers = model.layers()
    last = [address for address in layers if address.startswith(f"{side}.")][-1]
    jobs = [Job(last, _without(part)) for parts in heads.values() for part in parts]
    target, before, values = values_of(model, reading, metric, layers, jobs, progress, leaving=True)
    places = ((Address.parse(address), len(parts)) for address, parts in heads.items())
    rows = [(where.family, where.layer, (count,)) for where, count in places]
    return Sweep.of(target, before, values, rows)


@torch.no_grad()
def parts_of_logits(model: Summed, text: Text, at: int = -1, **settings: Any) -> Parts:
    """The logits at a position as the sum of what the parts of the stream there add, with the scale of the
    last norm frozen at what it is. text: or its token ids, or a reading. at: below 0 counted from the end.

    Raises ValueError for another position, and where the stream, or the output, is no plain sum.
    """
    reading = model.reading_of(text, settings)
    side = list(reading.tokens)[-1]
    n = len(reading.tokens[side])
    if not -n <= at < n:
        raise ValueError(f"position {at} is beyond the {n} tokens of the {side}; give {-n} to {n - 1}")
    trace = summed(model, reading, side)
    final = trace[_added(trace, side)[-1]]
    own, constant = model.unembedding(), torch.zeros_like(final[at])
    names, rows = [_first(trace, side)], [trace[_first(trace, side)][at]]
    for address in _added(trace, side)[:-1]:
        if address.endswith(".ff.out"):
            names.append(address.removesuffix(".out"))
            rows.append(trace[address][at])
            continue
        attention = address.removesuffix(".out")
        for head, part in enumerate(_of_heads(model, trace, attention)):
            names.append(f"{attention} head {head}")
            rows.append(part[at])
        where = Address.parse(attention)
        bias = model.projection_bias(where.family, where.layer)
        constant = constant if bias is None else constant + bias
    values = own.logits(torch.stack([*rows, constant]), final[at])
    values[-1] += own.constant
    return Parts([*names, "bias"], values)


def _added(trace: Trace, side: str) -> list[str]:
    """Where a trace has what is added to the stream of a side, in order; at last, the stream itself."""
    own = [address for address in trace if address.startswith(f"{side}.")]
    added = [address for address in own if address.endswith((".self.out", ".cross.out", ".ff.out"))]
    return [*added, [address for address in own if address.endswith(".resid_post")][-1]]


def summed(model: Summed, reading: Reading, side: str) -> Trace:
    """The trace of a stream that is the sum of what was added to it. Raises ValueError for any other."""
    check_adds(model, model.name)
    trace = model.trace(reading)
    layers = [a for a in model.layers() if a.startswith(f"{side}.")]
    unknown = next((a for a in layers if f"{a}.self.out" not in trace), None)
    if unknown is not None:
        raise ValueError(
            f"what {unknown} of {model.name!r} adds to its stream is not known; choose another model"
        )
    *added, last = _added(trace, side)
    whole = trace[_first(trace, side)] + sum(trace[address] for address in added)
    if not _near(whole, trace[last]):
        raise ValueError(
            f"the stream of {model.name!r} is no plain sum of its layers; choose a model with pre-norm"
        )
    for address in (a.removesuffix(".out") for a in added if not a.endswith(".ff.out")):
        where = Address.parse(address)
        bias = model.projection_bias(where.family, where.layer)
        heads = _of_heads(model, trace, address).sum(dim=0)
        if not _near(heads if bias is None else heads + bias, trace[f"{address}.out"]):
            raise ValueError(
                f"what {address} of {model.name!r} adds is no sum of its heads; choose another model"
            )
    return trace


def _first(trace: Trace, side: str) -> str:
    """The address of the stream that enters the first of a side's layers."""
    return next(a for a in trace if a.startswith(f"{side}.") and a.endswith(".resid_pre"))


def _near(first: Tensor, second: Tensor) -> bool:
    return float((first - second).abs().max()) <= TOLERANCE * float(second.abs().max())


def _of_heads(model: Summed, trace: Trace, address: str) -> Tensor:
    """What each head adds to the stream, [head, position, d_model]."""
    where = Address.parse(address)
    w_o = model.projection(where.family, where.layer)
    if w_o is None:
        raise ValueError(f"the output projection of {address} is not known; choose another model")
    read = f"{address}.head_out"
    return trace[read if read in trace else f"{address}.z"] @ w_o


def _without(part: Tensor) -> Change:
    return lambda stream: stream - part.to(stream)


INPUTS = ("q", "k", "v")
FEED_FORWARD = ("recomputed", "frozen")
"""What feed-forward layers between the two heads do: hear of the edit, or add what they do without it."""


@torch.no_grad()
def path(
    model: Summed,
    text: Text,
    sender: Edit | str,
    receiver: Place | str,
    *,
    through: Sequence[str] = INPUTS,
    feed_forward: str = "recomputed",
    **settings: Any,
) -> Trace:
    """The pass in which an edit of a head acts on what receiving heads read from the stream, and on nothing
    else: compare it with the pass without any edit.

    text: or its token ids, or a reading. sender: such as "encoder.0.self heads 2: zero". receiver: such as
    "encoder.1.self heads 3". through: which of q, k and v are read anew; k and v that heads share, for all
    that share them. First the sender is edited while what all other heads add is frozen, and with
    feed_forward="frozen" what feed-forward layers add, too (norms are computed anew); then the receiver's q,
    k and v are put into a pass without the edit: steps 2 and 3 of Wang et al. 2022, appendix B. Raises
    ValueError where these do not fit the model, or its stream is no plain sum.
    """
    reading = model.reading_of(text, settings)
    sender = Edit.read(sender) if isinstance(sender, str) else sender
    receiver = Place.read(receiver) if isinstance(receiver, str) else receiver
    own = _attention_of(sender.place)
    at = _attention_of(receiver)
    if not through or not set(through) <= set(INPUTS):
        raise ValueError(f"through={list(through)} is not of q, k and v; name at least one of them")
    if feed_forward not in FEED_FORWARD:
        raise ValueError(
            f"feed_forward={feed_forward!r} is neither 'recomputed' nor 'frozen'; give one of them"
        )
    check_place(model, reading, receiver)
    traces = [summed(model, reading, side) for side in reading.tokens]
    plain = {address: trace[address] for trace in traces for address in trace}
    order = list(plain)
    prepared = Prepared(model, reading, [sender], settings)
    if order.index(f"{own}.out") > order.index(f"{at}.q"):
        raise ValueError(
            f"{receiver} comes before {sender.place}, so nothing can go from there to it; name a later "
            "receiver"
        )
    applied = prepared.applied(reading)

    kinds = (".self.out", ".cross.out", ".ff.out")[: None if feed_forward == "frozen" else 2]

    def frozen(address: str, value: Tensor) -> Tensor:
        if address.endswith(kinds) and address != f"{own}.out":
            return plain[address]
        return applied(address, value)

    read = [f"{at}.{name}" for name in through]
    inputs = model.trace(reading, reduce=lambda address, x: x if address in read else None, edit=frozen)
    n_heads = len(plain[f"{at}.q"])

    def received(address: str, value: Tensor) -> Tensor:
        """What the heads read in place of what they would; of k and v, for the key heads they share."""
        if address not in read:
            return value
        chosen = range(n_heads) if receiver.heads is None else receiver.heads
        mine = sorted({head * len(value) // n_heads for head in chosen})
        new = value.clone()
        new[mine] = inputs[address][mine]
        return new

    return model.trace(reading, edit=received)


def _attention_of(place: Place) -> str:
    """The address of the attention whose heads are meant. Raises ValueError for another place."""
    if place.kind != "heads" or not place.address.endswith(".z") or place.at is not None:
        raise ValueError(f"{place}: a path goes from heads to heads; write such as encoder.0.self heads 2")
    return place.address.removesuffix(".z")
