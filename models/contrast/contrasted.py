"""Two sides beside each other: their tokens aligned, every head's pattern, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from models.contrast.aligned import Aligned
from models.contrast.distance import laid, on_gaps, variation
from models.contrast.outputs import Outputs, compared
from models.contrast.paired import paired
from models.contrast.side import Side
from models.data.tasks import Reading
from models.engine.trace import Trace


class Laid(NamedTuple):
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

    def laid(self, address: str, head: int, address_b: str = "", head_b: int | None = None) -> Laid:
        """The pattern of a head of a, by an address such as "encoder.0.self", and of one of b: of the same
        address and number where they are left out. Raises ValueError where a side has no such head.
        """
        other = (address_b or address, head if head_b is None else head_b)
        return laid_heads(self.aligned, self.traces, (address, head), other)


def laid_heads(
    aligned: Mapping[str, Aligned],
    traces: tuple[Trace, Trace],
    a: tuple[str, int],
    b: tuple[str, int],
) -> Laid:
    """A head of each side, an address and a number, on the same places. Raises ValueError as `Contrast.laid`
    does.
    """
    queries, keys = _places(aligned, a[0], b[0])
    patterns = [
        laid(_pattern(traces[at], *which, "ab"[at]), queries, keys, at)[0] for at, which in enumerate((a, b))
    ]
    return Laid(patterns[0], patterns[1], patterns[1] - patterns[0], queries, keys)


def _places(aligned: Mapping[str, Aligned], a: str, b: str) -> tuple[Aligned, Aligned]:
    """The aligned tokens of the queries and of the keys of two attentions."""
    found = [
        aligned.get(one) if one == other else None for one, other in zip(_sides(a), _sides(b), strict=True)
    ]
    if found[0] is None or found[1] is None:
        raise ValueError(
            f"{a} and {b} look from or at tokens that are not aligned; choose two attentions of one kind, in "
            "stacks that both sides have"
        )
    return found[0], found[1]


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
    aligned, left_out = paired((a, b), readings)
    moved, gaps = _heads(traces, aligned)
    outputs, note = _outputs((a, b), readings, traces, aligned)
    said = " ".join(filter(None, (left_out, note)))
    return Contrast((a, b), readings, traces, aligned, moved, gaps, outputs, said)


def _kept(address: str, value: Tensor) -> Tensor | None:
    return value if address == "logits" or address.endswith(".pattern") else None


def _sides(address: str) -> tuple[str, str]:
    """The side of the queries and of the keys of an attention."""
    parts = address.split(".")
    if len(parts) != 3:
        raise ValueError(f"{address[:40]!r} is no address of an attention; write one such as encoder.0.self")
    side, _, kind = parts
    return side, "encoder" if kind == "cross" else side


def _pattern(trace: Trace, address: str, head: int, side: str) -> Tensor:
    """The pattern of one head, [1, query, key]. Raises ValueError where it is not there."""
    whole = f"{address}.pattern"
    found = trace[whole] if whole in trace else None  # noqa: SIM401 (a trace has no get)
    if found is None or not 0 <= head < len(found):
        known = sorted({each.removesuffix(".pattern") for each in trace if each.endswith(".pattern")})
        rule = (
            f"its attentions are {', '.join(known)}"
            if found is None
            else f"it has heads 0 to {len(found) - 1}"
        )
        raise ValueError(f"side {side} has no head {head} at {address}: {rule}; choose one of them")
    return found[[head]]


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
        side, layer, kind, _ = address.split(".")
        query_side, key_side = _sides(address.removesuffix(".pattern"))
        queries, keys = aligned.get(query_side), aligned.get(key_side)
        if queries is None or keys is None:
            continue
        n = min(len(a[address]), len(b[address]))
        pair = [laid(trace[address][:n], queries, keys, at) for at, trace in enumerate(traces)]
        apart = variation(pair[0], pair[1], queries)
        alone = torch.stack([on_gaps(each, queries, keys) for each in pair], dim=-1)
        for rows, row in ((moved, apart), (gaps, alone)):
            mine = rows.setdefault(f"{side}.{kind}", [])
            mine += [torch.full_like(row, torch.nan)] * (int(layer) - len(mine))  # such as linear attention
            mine.append(row)
    return {at: torch.stack(rows) for at, rows in moved.items()}, {
        at: torch.stack(rows) for at, rows in gaps.items()
    }


def _outputs(
    sides: tuple[Side, Side],
    readings: tuple[Reading, Reading],
    traces: tuple[Trace, Trace],
    aligned: Mapping[str, Aligned],
) -> tuple[Outputs | None, str]:
    """The outputs beside each other, or the sentence why not."""
    last = {list(reading.tokens)[-1] for reading in readings}
    if any("logits" not in trace for trace in traces):
        return None, "One of the two sides has no outputs, so only patterns stand beside each other."
    if len(last) > 1 or not last & set(aligned):
        return None, "The two sides answer at different tokens, so their outputs have no common place."
    names = [side.reader.names(reading) for side, reading in zip(sides, readings, strict=True)]
    if not all(names):
        return None, "The outputs of one of the two sides are no choice between names, so they are left out."
    try:
        logits = (traces[0]["logits"], traces[1]["logits"])
        return compared(logits, (names[0], names[1]), aligned[last.pop()]), ""
    except ValueError as error:
        return None, f"{error}."
