"""Compares two passes over the same tokens, to tell what edits did."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..engine.address import Address
from ..engine.trace import Trace


class Patterns(NamedTuple):
    """How far each head's pattern moved: the largest difference of a weight, and the mean over its queries of
    the total variation distance (half the sum of the absolute differences of a row).
    """

    largest: Float[Tensor, "layer head"]
    variation: Float[Tensor, "layer head"]


class Output(NamedTuple):
    """One output at one position: its number and its name, its probability before and after."""

    number: int
    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Comparison:
    """What one pass has against another.

    kl: KL(before || after) of the outputs' probabilities, in nats (base e), a position each. best_before,
    best_after: the likeliest output there, by its number. patterns: by stack, such as "encoder.self".
    stream: by "encoder" and "decoder", the change of the residual stream where it enters the first layer and
    where it leaves each, relative to what it was: the L2 norm of the difference over that of before. Where
    traces lack what a part needs, it is empty.
    """

    kl: Float[Tensor, " position"]
    best_before: Int[Tensor, " position"]
    best_after: Int[Tensor, " position"]
    patterns: dict[str, Patterns]
    stream: dict[str, Float[Tensor, "_ _"]]
    before: Trace
    after: Trace
    names: tuple[str, ...] = ()

    def outputs(self, position: int = -1, n: int = 10) -> list[Output]:
        """The likeliest outputs at a position: the n of before and the n of after, in the order of before."""
        traces = (self.before, self.after)
        rows = [_log_probabilities(trace["logits"][position]).exp() for trace in traces]
        n = min(n, len(rows[0]))
        chosen = {int(at) for row in rows for at in row.topk(n).indices}
        ordered = sorted(chosen, key=lambda at: (-float(rows[0][at]), at))
        return [Output(at, self.name(at), float(rows[0][at]), float(rows[1][at])) for at in ordered]

    def name(self, number: int) -> str:
        """What an output stands for; its number where no names were given."""
        return self.names[number] if number < len(self.names) else str(int(number))


def compare(before: Trace, after: Trace, names: Sequence[str] = ()) -> Comparison:
    """What `after` has against `before`, two traces of the same tokens; names: of the logits' columns.

    Raises ValueError for traces of different tokens.
    """
    _check(before, after)
    kl, best_before, best_after = _outputs(before, after)
    patterns = _patterns(before, after)
    places = {side: list(_places(before, after, side)) for side in ("encoder", "decoder")}
    stream = {
        side: torch.stack([_moved(before[address], after[address]) for address in addresses])
        for side, addresses in places.items()
        if addresses
    }
    return Comparison(kl, best_before, best_after, patterns, stream, before, after, tuple(names))


def _check(before: Trace, after: Trace) -> None:
    for side in sorted({*before.tokens, *after.tokens}):
        one, other = before.tokens.get(side, []), after.tokens.get(side, [])
        if one != other:
            differ = sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))
            raise ValueError(
                f"the {side}'s tokens differ in {differ} of {max(len(one), len(other))} places; compare "
                "traces of one reading, e.g. reading = lm.read(text), then lm.trace(reading) and "
                "lm.trace(reading, edits=[...])"
            )
    for address in before:
        if address in after and before[address].shape != after[address].shape:
            raise ValueError(
                f"{address} is {list(before[address].shape)} before and {list(after[address].shape)} after; "
                "compare traces of one model"
            )


def _log_probabilities(logits: Tensor) -> Tensor:
    return logits.double().log_softmax(dim=-1)


def _outputs(before: Trace, after: Trace) -> tuple[Tensor, Tensor, Tensor]:
    if "logits" not in before or "logits" not in after:
        return torch.zeros(0), torch.zeros(0, dtype=torch.long), torch.zeros(0, dtype=torch.long)
    kl = []
    for one, other in zip(before["logits"], after["logits"], strict=True):  # a row at a time: many outputs
        p, q = _log_probabilities(one), _log_probabilities(other)
        kl.append((p.exp() * (p - q)).nansum().clamp(min=0))
    return torch.stack(kl), before["logits"].argmax(dim=-1), after["logits"].argmax(dim=-1)


def _patterns(before: Trace, after: Trace) -> dict[str, Patterns]:
    patterns: dict[str, list[tuple[Tensor, Tensor]]] = {}
    for address in before:
        if address.endswith(".pattern") and address in after:
            moved = (after[address].double() - before[address].double()).abs()
            row = (moved.flatten(1).amax(dim=-1), moved.sum(-1).mean(-1) / 2)
            patterns.setdefault(Address.parse(address).family, []).append(row)
    return {
        stack: Patterns(*(torch.stack(part) for part in zip(*rows, strict=True)))
        for stack, rows in patterns.items()
    }


def _places(before: Trace, after: Trace, side: str) -> Iterator[str]:
    """Where the stream is looked at: it enters the first layer, and leaves each."""
    entered = False
    for address in before:
        where = Address.parse(address)
        if where.stack != side or address not in after:
            continue
        first = where.part == "resid_pre" and not entered
        entered = entered or first
        if first or where.part == "resid_post":
            yield address


def _moved(before: Tensor, after: Tensor) -> Tensor:
    moved, was = (after.double() - before.double()).norm(dim=-1), before.double().norm(dim=-1)
    return torch.where(moved == 0, 0.0, moved / was)
