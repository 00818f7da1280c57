"""Sweeps: every head switched off alone, every position of every layer patched, and what each does.

All of it is batched: a batch holds the text once for each edit, and each row is edited where it enters an
output projection (heads) or a layer (the stream). So one pass of so many rows does what so many passes would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from models.data.tasks import Example, Reading
from models.interventions.applied import before_the_same_answer
from models.interventions.rows import Change, Job, changing
from models.interventions.score import scores_of
from models.interventions.subject import Heads, Subject
from models.interventions.target import Target

MOST_TOKENS = 1_024
"""Tokens of a batch, all rows together; enough for all cores, and few enough to be stopped."""
CHANGES = ("zero", "mean")
Told = Callable[[float], object]


@runtime_checkable
class Sweepable(Subject, Protocol):
    """A model whose modules are known, and which reads a batch of one text."""

    def attention(self, stack: str) -> Heads: ...
    def projections(self) -> Mapping[str, nn.Module]: ...
    def layers(self) -> Mapping[str, nn.Module]: ...
    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor: ...
    def examples(self) -> Sequence[Example]: ...


@dataclass(frozen=True)
class Sweep:
    """What each edit alone does to the target: its number after less the number before.

    effects: of heads by stack, such as "encoder.self", [layer, head]; of patches by "encoder" and "decoder",
    [layer, position], where the stream enters the layer. layers: by the same names, the number of each row.
    """

    target: Target
    before: float
    effects: dict[str, Tensor]
    layers: dict[str, list[int]]

    @classmethod
    def of(
        cls, target: Target, before: float, found: Sequence[float], rows: Sequence[tuple[str, int, int]]
    ) -> Sweep:
        """The numbers that were found, in rows: each a name, a layer's number, and how many are of it."""
        effects: dict[str, list[Tensor]] = {}
        layers: dict[str, list[int]] = {}
        left = iter(found)
        for name, layer, count in rows:
            row = torch.tensor([next(left) for _ in range(count)], dtype=torch.float64) - before
            effects.setdefault(name, []).append(row)
            layers.setdefault(name, []).append(layer)
        return cls(target, before, {name: torch.stack(each) for name, each in effects.items()}, layers)


@torch.no_grad()
def sweep_heads(
    model: Sweepable,
    reading: Reading,
    target: Target | str,
    *,
    change: str = "zero",
    told: Told = lambda share: None,
) -> Sweep:
    """Every head's z at zero, or at its mean over the positions, alone. told: hears which share is done, and
    may raise to end it. Raises ValueError for a target that is not there, or a model whose parts are hidden.
    The target "score" is of held-out examples of the model's task; what is read does not matter then.
    """
    if change not in CHANGES:
        raise ValueError(f"change={change!r} is unknown; choose one of {', '.join(CHANGES)}")
    modules = model.projections()
    jobs, rows = [], []
    for address in modules:
        side, layer, kind = address.split(".")
        n_heads = model.attention(f"{side}.{kind}").n_heads
        rows.append((f"{side}.{kind}", int(layer), n_heads))
        jobs += [Job(address, _switched(head, n_heads, change)) for head in range(n_heads)]
    target = Target.read(target) if isinstance(target, str) else target
    if target.kind == "score":
        before, *found = scores_of(model, modules, jobs, told, most_tokens=MOST_TOKENS)
    else:
        target, before, found = values_of(model, reading, target, modules, jobs, told)
    return Sweep.of(target, before, found, rows)


@torch.no_grad()
def sweep_positions(
    model: Sweepable,
    reading: Reading,
    target: Target | str,
    text: str,
    *,
    told: Told = lambda share: None,
    **settings: Any,
) -> Sweep:
    """The stream that enters each layer at each position, alone, as it is in another text (causal tracing,
    Meng et al. 2022). Raises ValueError as `sweep_heads` does, and for a text of another length.
    """
    other = before_the_same_answer(model.read(text, **settings), reading)
    modules, sides = model.layers(), {address.split(".")[0] for address in model.layers()}
    for side in sorted(sides):
        here, there = len(reading.tokens[side]), len(other.tokens[side])
        if here != there:
            raise ValueError(
                f"the other text has {there} tokens and this one {here}, and positions are put one to one; "
                "give a text of as many tokens"
            )
    wanted = [f"{address}.resid_pre" for address in modules]
    source = model.trace(other, reduce=lambda a, x: x if a in wanted else None)
    jobs = [
        Job(address, _patched(position, source[f"{address}.resid_pre"][position]))
        for address in modules
        for position in range(len(reading.tokens[address.split(".")[0]]))
    ]
    target, before, found = values_of(model, reading, target, modules, jobs, told)
    places = (address.split(".") for address in modules)
    rows = [(side, int(layer), len(reading.tokens[side])) for side, layer in places]
    return Sweep.of(target, before, found, rows)


def values_of(
    model: Sweepable,
    reading: Reading,
    target: Target | str,
    modules: Mapping[str, nn.Module],
    jobs: Sequence[Job],
    told: Told,
    *,
    leaving: bool = False,
) -> tuple[Target, float, list[float]]:
    """The target, its number without any edit, and with each; leaving: as in `changing`."""
    target = Target.read(target) if isinstance(target, str) else target
    whole = model.logits(reading, 1, None)[0]
    target.check(reading, *whole.shape)
    plain = whole if target.position is None else whole[[target.position]]
    before = float(target.values(plain[None], plain, reading)[0])
    longest = max(len(tokens) for tokens in reading.tokens.values())
    n_rows = max(1, MOST_TOKENS // longest)
    found: list[float] = []
    for first in range(0, len(jobs), n_rows):
        told(first / len(jobs))
        part = jobs[first : first + n_rows]
        with changing(modules, part, leaving=leaving):
            logits = model.logits(reading, len(part), target.position)
        found += target.values(logits, plain, reading).tolist()
    return target, before, found


def _switched(head: int, n_heads: int, change: str) -> Change:
    """A row of all heads' z side by side, without one."""

    def changed(z: Tensor) -> Tensor:
        made, size = z.clone(), z.shape[-1] // n_heads
        mine = slice(head * size, (head + 1) * size)
        made[:, mine] = z[:, mine].mean(dim=0) if change == "mean" else 0
        return made

    return changed


def _patched(position: int, value: Tensor) -> Change:
    def changed(stream: Tensor) -> Tensor:
        made = stream.clone()
        made[position] = value.to(stream)
        return made

    return changed
