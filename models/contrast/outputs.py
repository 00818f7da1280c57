"""What two sides make of the same places: the probabilities of their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from models.contrast.aligned import Aligned


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


def compared(
    logits: tuple[Tensor, Tensor], names: tuple[Sequence[str], Sequence[str]], aligned: Aligned
) -> Outputs:
    """The outputs of two traces whose last tokens are aligned; one row each where all positions are pooled.

    Raises ValueError where one side answers at each position and the other once.
    """
    rows = [len(each) for each in logits]
    if rows != [len(aligned.a), len(aligned.b)]:
        if rows != [1, 1]:
            raise ValueError(
                "one side answers at each position and the other once for all, so no place is both's"
            )
        aligned = Aligned(("",), ("",), ((0, 0),))
    named = tuple(tuple(each) for each in names)
    logs = [
        each[:, : len(name) or None].double().log_softmax(dim=-1)
        for each, name in zip(logits, named, strict=True)
    ]
    kl = torch.full((len(aligned),), torch.nan, dtype=torch.float64)
    comparable = named[0] == named[1] and logs[0].shape[1] == logs[1].shape[1]
    if comparable:
        for place in aligned.both:
            i, j = aligned.pairs[place]
            p, q = logs[0][i], logs[1][j]
            kl[place] = (p.exp() * (p - q)).nansum().clamp(min=0)
    note = "" if comparable else (
        "The two sides choose between different outputs, so only those of the same name stand beside each "
        "other, and no KL divergence is taken."
    )  # fmt: skip
    return Outputs(aligned, (named[0], named[1]), (logs[0], logs[1]), kl, note)


def _by_name(names: Sequence[str], row: Tensor) -> dict[str, float]:
    """Probabilities by name; those of columns without a name by their number, those of one name together."""
    found: dict[str, float] = {}
    for number, value in enumerate(row.tolist()):
        name = names[number] if number < len(names) else str(number)
        found[name] = found.get(name, 0.0) + value
    return found
