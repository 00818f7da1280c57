"""Two sides beside each other: every head's pattern and what comes out; a head at several values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks import Reading
from ..engine.address import Address
from ..engine.trace import Trace
from .alignment import Aligned, align_sides
from .knob import Knob
from .side import Side


def on_places(
    pattern: Float[Tensor, "head query key"], queries: Aligned, keys: Aligned, side: int
) -> Float[Tensor, "head place other"]:
    """Patterns of side 0 (a) or 1 (b) on the places of both, weights as they are; NaN at its gaps."""
    rows, columns = (
        torch.tensor([-1 if pair[side] is None else pair[side] for pair in each.pairs])
        for each in (queries, keys)
    )
    cells = pattern.double()[:, rows.clamp(min=0)][:, :, columns.clamp(min=0)]
    return cells.masked_fill((rows < 0)[:, None] | (columns < 0), torch.nan)


def variation(
    a: Float[Tensor, "head place other"], b: Float[Tensor, "head place other"], queries: Aligned
) -> Float[Tensor, " head"]:
    """The mean total variation distance of heads laid on the same places: of every query that both have,
    half the sum over all keys of |a - b|, where a key that one side lacks has the weight 0 there.

    So all weight on gaps counts as moved. NaN where no query is on both sides.
    """
    rows = torch.tensor(queries.both, dtype=torch.long)
    differences = (a[:, rows].nan_to_num(0) - b[:, rows].nan_to_num(0)).abs()
    return differences.sum(dim=-1).mean(dim=-1) / 2


def on_gaps(
    pattern: Float[Tensor, "head place other"], queries: Aligned, keys: Aligned
) -> Float[Tensor, " head"]:
    """The mean weight, over the queries that both sides have, on keys that the other side lacks."""
    rows = torch.tensor(queries.both, dtype=torch.long)
    lacking = torch.tensor([None in pair for pair in keys.pairs], dtype=torch.bool)
    return pattern[:, rows][:, :, lacking].nan_to_num(0).sum(dim=-1).mean(dim=-1)


class Output(NamedTuple):
    """An output by its name, and its probability on each side; None where the side has no such output."""

    name: str
    a: float | None
    b: float | None


class Outputs(NamedTuple):
    """The outputs of both sides at some places. named: of the columns of each side's probabilities.

    kl: KL(a || b) in nats, a place each; NaN at gaps and everywhere where the names differ. note: what of
    them cannot be compared, as a sentence.
    """

    aligned: Aligned
    named: tuple[tuple[str, ...], tuple[str, ...]]
    logs: tuple[Float[Tensor, "_ _"], Float[Tensor, "_ _"]]
    kl: Float[Tensor, " place"]
    note: str = ""

    def top(self, place: int, n: int = 10) -> list[Output]:
        """The n likeliest of a and the n likeliest of b, in the order of a, then of b alone."""
        rows = [
            {} if at is None else _by_name(self.named[side], self.logs[side][at].exp())
            for side, at in enumerate(self.aligned.pairs[place])
        ]
        chosen = [name for row in rows for name in sorted(row, key=lambda each: -row[each])[:n]]
        first, other = rows
        order = sorted(
            dict.fromkeys(chosen), key=lambda name: (-first.get(name, -1.0), -other.get(name, -1.0))
        )
        return [Output(name, first.get(name), other.get(name)) for name in order]


def compare_outputs(
    logits: tuple[Tensor, Tensor], names: tuple[Sequence[str], Sequence[str]], aligned: Aligned
) -> Outputs:
    """The outputs of two traces whose last tokens are aligned; one row each where all positions are pooled.

    Raises ValueError where one side answers at each position and the other once.
    """
    rows = [len(each) for each in logits]
    if rows != [len(aligned.a), len(aligned.b)]:
        if rows != [1, 1]:
            raise ValueError("one side answers at each position, the other once for all")
        aligned = Aligned(("",), ("",), ((0, 0),))
    labels = tuple(tuple(each) for each in names)
    logs = [
        each[:, : len(name) or None].double().log_softmax(dim=-1)
        for each, name in zip(logits, labels, strict=True)
    ]
    kl = torch.full((len(aligned),), torch.nan, dtype=torch.float64)
    comparable = labels[0] == labels[1] and logs[0].shape[1] == logs[1].shape[1]
    if comparable:
        for place in aligned.both:
            i, j = aligned.pairs[place]
            p, q = logs[0][i], logs[1][j]
            kl[place] = (p.exp() * (p - q)).nansum().clamp(min=0)
    note = "" if comparable else (
        "The two sides choose between different outputs, so only those of the same name are compared, "
        "without KL divergence."
    )  # fmt: skip
    return Outputs(aligned, (labels[0], labels[1]), (logs[0], logs[1]), kl, note)


def _by_name(names: Sequence[str], row: Tensor) -> dict[str, float]:
    """Probabilities by name; those of columns without a name by their number, those of one name together."""
    values: dict[str, float] = {}
    for number, value in enumerate(row.tolist()):
        name = names[number] if number < len(names) else str(number)
        values[name] = values.get(name, 0.0) + value
    return values


class HeadPair(NamedTuple):
    """The pattern of a head of each side on the same places, and b less a; NaN where a side has a gap."""

    a: Float[Tensor, "query key"]
    b: Float[Tensor, "query key"]
    difference: Float[Tensor, "query key"]
    queries: Aligned
    keys: Aligned


@dataclass(frozen=True)
class Contrast:
    """What two sides have in common and apart.

    aligned: the tokens of the encoder and of the decoder, of those that both have. moved: by stack, such as
    "encoder.self", how far each head of a is from the head of the same address in b, [layer, head], as
    `distance.variation` defines it; as many layers and heads as both have, NaN for a layer that does not
    attend in both. gaps: the mean weight that these heads put on tokens which the other side lacks, [layer,
    head, side]. outputs: None where `note` says why they cannot be compared.
    """

    sides: tuple[Side, Side]
    readings: tuple[Reading, Reading]
    traces: tuple[Trace, Trace]
    aligned: Mapping[str, Aligned]
    moved: Mapping[str, Float[Tensor, "layer head"]]
    gaps: Mapping[str, Float[Tensor, "layer head 2"]]
    outputs: Outputs | None
    note: str = ""

    def laid(self, address: str, head: int, address_b: str = "", head_b: int | None = None) -> HeadPair:
        """The pattern of a head of a, by an address such as "encoder.0.self", and of one of b: of the same
        address and number where they are left out. Raises ValueError where a side has no such head.
        """
        other = (address_b or address, head if head_b is None else head_b)
        return head_pair(self.aligned, self.traces, (address, head), other)


def head_pair(
    aligned: Mapping[str, Aligned], traces: tuple[Trace, Trace], a: tuple[str, int], b: tuple[str, int]
) -> HeadPair:
    """A head of each side, an address and a number, on the same places. Raises ValueError as `Contrast.laid`
    does.
    """
    sides = zip(_sides(a[0]), _sides(b[0]), strict=True)
    queries, keys = (aligned.get(one) if one == other else None for one, other in sides)
    if queries is None or keys is None:
        raise ValueError(
            f"{a[0]} and {b[0]} look from or at tokens that are not aligned; choose two attentions of one "
            "kind that both sides have"
        )
    patterns = [
        on_places(_pattern(traces[at], *which, "ab"[at]), queries, keys, at)[0]
        for at, which in enumerate((a, b))
    ]
    return HeadPair(patterns[0], patterns[1], patterns[1] - patterns[0], queries, keys)


@torch.no_grad()
def contrast(a: Side, b: Side, *, begun: Contrast | None = None) -> Contrast:
    """Both sides read, traced and compared. begun: another contrast, whose first side is not traced again
    where it is this one's.

    Raises ValueError, with a sentence, where a side cannot be read, and where the tokens cannot be aligned.
    """
    known = begun is not None and begun.sides[0] is a
    first = begun.readings[0] if begun is not None and known else a.read()
    readings = (first, first if a.reads_like(b) else b.read())
    trace = begun.traces[0] if begun is not None and known else a.trace(first, reduce=_kept)
    traces = (trace, trace if b is a else b.trace(readings[1], reduce=_kept))
    aligned, left_out = align_sides((a, b), readings)
    moved, gaps = _heads(traces, aligned)
    outputs, note = _outputs((a, b), readings, traces, aligned)
    note_text = " ".join(filter(None, (left_out, note)))
    return Contrast((a, b), readings, traces, aligned, moved, gaps, outputs, note_text)


def _kept(address: str, value: Tensor) -> Tensor | None:
    return value if address == "logits" or address.endswith(".pattern") else None


def _sides(address: str) -> tuple[str, str]:
    """The side of the queries and of the keys of an attention."""
    where = Address.parse(address)
    if where.part not in ("self", "cross"):
        raise ValueError(f"{address[:40]!r} is no address of an attention; write one such as encoder.0.self")
    return where.stack, where.keys_stack


def _pattern(trace: Trace, address: str, head: int, side: str) -> Tensor:
    """The pattern of one head, [1, query, key]. Raises ValueError where it is not there."""
    whole = f"{address}.pattern"
    pattern = trace[whole] if whole in trace else None  # noqa: SIM401 (a trace has no get)
    if pattern is None or not 0 <= head < len(pattern):
        known = sorted({each.removesuffix(".pattern") for each in trace if each.endswith(".pattern")})
        rule = (
            f"its attentions are {', '.join(known)}"
            if pattern is None
            else f"it has heads 0 to {len(pattern) - 1}"
        )
        raise ValueError(f"side {side} has no head {head} at {address}: {rule}; choose one of them")
    return pattern[[head]]


def _heads(
    traces: tuple[Trace, Trace], aligned: Mapping[str, Aligned]
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The distance of each head to its namesake, and its weight on gaps, by stack."""
    moved: dict[str, list[Tensor]] = {}
    gaps: dict[str, list[Tensor]] = {}
    a, b = traces
    for address in a:
        if not address.endswith(".pattern") or address not in b:
            continue
        where = Address.parse(address)
        queries, keys = aligned.get(where.stack), aligned.get(where.keys_stack)
        if queries is None or keys is None:
            continue
        n = min(len(a[address]), len(b[address]))
        pair = [on_places(trace[address][:n], queries, keys, at) for at, trace in enumerate(traces)]
        apart = variation(pair[0], pair[1], queries)
        alone = torch.stack([on_gaps(each, queries, keys) for each in pair], dim=-1)
        for rows, row in ((moved, apart), (gaps, alone)):
            mine = rows.setdefault(where.family, [])
            mine += [torch.full_like(row, torch.nan)] * (where.layer - len(mine))  # such as linear attention
            mine.append(row)
    both = ({at: torch.stack(rows) for at, rows in each.items()} for each in (moved, gaps))
    return next(both), next(both)


def _outputs(
    sides: tuple[Side, Side],
    readings: tuple[Reading, Reading],
    traces: tuple[Trace, Trace],
    aligned: Mapping[str, Aligned],
) -> tuple[Outputs | None, str]:
    """The outputs beside each other, or the sentence why not."""
    last = {list(reading.tokens)[-1] for reading in readings}
    if any("logits" not in trace for trace in traces):
        return None, "One side has no outputs: only patterns are compared."
    if len(last) > 1 or not last & set(aligned):
        return None, "The two sides answer at different tokens: their outputs cannot be compared."
    names = [side.reader.names(reading) for side, reading in zip(sides, readings, strict=True)]
    if not all(names):
        return None, "One side's outputs have no names, so they are left out."
    try:
        logits = (traces[0]["logits"], traces[1]["logits"])
        return compare_outputs(logits, (names[0], names[1]), aligned[last.pop()]), ""
    except ValueError as error:
        return None, f"{error}."


Progress = Callable[[float], object]
MOST_VALUES = 16
MOST_CELLS = 1_000_000
"""Weights of all frames together: what a browser draws and a message holds."""


@dataclass(frozen=True)
class Frame:
    """A value, and the head there (`laid.b`) beside the head without the knob (`laid.a`); head: its number
    there. Where the value cannot be had, laid is None and said the sentence why.
    """

    value: str
    laid: HeadPair | None
    head: int
    said: str = ""


@torch.no_grad()
def strip(
    side: Side,
    knob: Knob,
    values: Sequence[str],
    address: str,
    head: int,
    *,
    progress: Progress = lambda share: None,
) -> list[Frame]:
    """A frame for each value of a knob, of a head by an address such as "encoder.0.self".

    Where a knob changes the number of heads, the head is the one that owns the first channel of the given
    one. progress: hears which share is done, and may raise to end it. Raises ValueError for too many values
    or weights, and for a head that is not there.
    """
    reading = side.read()
    whole = f"{address}.pattern"

    def only(at: str, value: Tensor) -> Tensor | None:
        return value if at == whole else None

    trace = side.trace(reading, reduce=only)
    n_heads = len(trace[whole]) if whole in trace else 0
    n_cells = trace[whole].numel() // n_heads if n_heads else 0
    if not 1 <= len(values) <= MOST_VALUES:
        raise ValueError(f"{len(values)} values: a strip has 1 to {MOST_VALUES}; name so many")
    if len(values) * n_cells > MOST_CELLS:
        raise ValueError(
            f"{len(values)} patterns of {n_cells:,} weights are more than {MOST_CELLS:,}; give "
            "fewer values, or a shorter text"
        )
    frames = []
    for at, value in enumerate(values):
        progress(at / len(values))
        try:
            other = knob.applied(side, value)
            read = reading if other.reads_like(side) else other.read()
            turned = trace if other is side else other.trace(read, reduce=only)
            n_turned = len(turned[whole]) if whole in turned else 0
            mine = head * n_turned // n_heads if n_heads else head
            aligned, _ = align_sides((side, other), (reading, read))
            laid = head_pair(aligned, (trace, turned), (address, head), (address, mine))
            frames.append(Frame(value, laid, mine))
        except ValueError as error:
            frames.append(Frame(value, None, head, f"{error}"))
    progress(1.0)
    return frames
