"""Two sides beside each other: every head's pattern and what comes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks import Reading
from ..engine.address import Address
from ..engine.trace import Trace
from .alignment import Aligned, align_sides
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


class Output(NamedTuple):
    """An output by its name, and its probability on each side; None where the side has no such output."""

    name: str
    a: float | None
    b: float | None


@dataclass(frozen=True)
class Outputs:
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
        """The n likeliest of a, then of b those that are others; outputs of one name count together."""
        pair = self.aligned.pairs[place]
        names = dict.fromkeys(
            self.named[side][column] if self.named[side] else str(column)
            for side, at in enumerate(pair)
            if at is not None
            for column in self.logs[side][at].topk(min(n, self.logs[side].shape[1])).indices.tolist()
        )
        return [
            Output(name, *(self._probability(side, at, name) for side, at in enumerate(pair)))
            for name in names
        ]

    def _probability(self, side: int, at: int | None, name: str) -> float | None:
        columns = self._columns[side].get(name)
        return None if at is None or columns is None else float(self.logs[side][at, columns].exp().sum())

    @cached_property
    def _columns(self) -> list[dict[str, list[int]]]:
        """The columns of each side by their names, or by their numbers where they have none."""
        both: list[dict[str, list[int]]] = [{}, {}]
        for columns, names, logs in zip(both, self.named, self.logs, strict=True):
            for column, name in enumerate(names or map(str, range(logs.shape[1]))):
                columns.setdefault(name, []).append(column)
        return both


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
    `variation` defines it; as many layers and heads as both have, NaN for a layer that does not
    attend in both. outputs: None where `note` says why they cannot be compared.
    """

    sides: tuple[Side, Side]
    readings: tuple[Reading, Reading]
    traces: tuple[Trace, Trace]
    aligned: Mapping[str, Aligned]
    moved: Mapping[str, Float[Tensor, "layer head"]]
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
def contrast(a: Side, b: Side) -> Contrast:
    """Both sides read, traced and compared.

    Raises ValueError, with a sentence, where a side cannot be read, and where the tokens cannot be aligned.
    """
    first = a.read()
    readings = (first, first if a.reads_like(b) else b.read())
    trace = a.trace(first, reduce=_kept)
    traces = (trace, trace if b is a else b.trace(readings[1], reduce=_kept))
    aligned, left_out = align_sides((a, b), readings)
    moved = _moved(traces, aligned)
    outputs, note = _outputs((a, b), readings, traces, aligned)
    note_text = " ".join(filter(None, (left_out, note)))
    return Contrast((a, b), readings, traces, aligned, moved, outputs, note_text)


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


def _moved(traces: tuple[Trace, Trace], aligned: Mapping[str, Aligned]) -> dict[str, Tensor]:
    """The distance of each head to its namesake, by stack."""
    moved: dict[str, list[Tensor]] = {}
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
        row, rows = variation(pair[0], pair[1], queries), moved.setdefault(where.family, [])
        rows += [torch.full_like(row, torch.nan)] * (where.layer - len(rows))  # such as linear attention
        rows.append(row)
    return {stack: torch.stack(rows) for stack, rows in moved.items()}


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
