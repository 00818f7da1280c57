"""A run at one of its steps, as a side: the patterns of its probe that were kept while it trained."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from models.contrast.side import Side
from models.data.tasks import Reading
from models.engine.trace import Trace
from models.runs.folder import RunFolder
from models.zoo.model import Attention, Model


class RecordedModel(Model):
    """A run at a step: of its weights then nothing is left, but what its heads did on the probe.

    It reads nothing else, whatever the text, and its trace holds patterns alone.
    """

    pooled = None

    def __init__(
        self, name: str, tokens: dict[str, list[str]], text: str, patterns: Mapping[str, Tensor]
    ) -> None:
        self.name = name
        self._tokens, self._text, self._patterns = tokens, text, dict(patterns)

    @property
    def max_len(self) -> int:
        return max(map(len, self._tokens.values()))

    def attention(self, stack: str) -> Attention:
        side, _, kind = stack.partition(".")
        mine = [
            pattern
            for address, pattern in self._patterns.items()
            if address.split(".")[0] == side and address.endswith(f".{kind}.pattern")
        ]
        if not mine:
            raise ValueError(f"{self.name!r} has no attention {stack!r}; choose one that was recorded")
        n_heads = len(mine[0])
        return Attention(
            n_layers=len(mine), n_heads=n_heads, d_head=0, n_key_heads=n_heads, scales=(), whole=False
        )

    def operations(self, lengths: Any) -> int:
        """None but those of looking at each weight."""
        return sum(pattern.numel() for pattern in self._patterns.values())

    def read(self, text: str = "", **settings: Any) -> Reading:
        return Reading((), {side: list(tokens) for side, tokens in self._tokens.items()}, self._text)

    def compute(self, reading: Reading, trace: Trace) -> None:
        if trace.edits:
            raise ValueError("an edit changes what a model computes, and here is none; leave it out")
        for address, pattern in self._patterns.items():
            trace.record(address, pattern[None])

    def addresses(self) -> Collection[str]:
        """None that could be edited."""
        return ()

    def code(self, text: str, **settings: Any) -> str:
        return f"from models.contrast import at_step\nside = at_step('your-run', step=0)  # {self.name}"


def at_step(folder: Path | str, step: int) -> Side:
    """A run's heads on its probe at a step, as they were kept.

    Raises ValueError for a step without a snapshot, with those that there are; FileError (a ValueError) for
    files that are damaged.
    """
    run = RunFolder(folder)
    known = run.snapshots()
    if step not in known:
        near = ", ".join(map(str, known)) if len(known) <= 40 else f"{known[0]} to {known[-1]}"
        raise ValueError(
            f"step={step} of {run.path.name!r} kept no heads; "
            + (f"choose one of {near}" if known else "open a run that has snapshots")
        )
    probe = run.probe()
    tokens = probe.get("tokens")
    if not isinstance(tokens, dict) or not tokens:
        raise ValueError(f"the run {run.path.name!r} names no tokens of its probe; open another run")
    labels = {str(side): [str(each) for each in given] for side, given in tokens.items()}
    kept = run.snapshot(step)  # in no order, as the file has them
    patterns = {address: kept[address].float() for address in sorted(kept, key=_layer)}
    text = str(probe.get("text", ""))
    return Side(RecordedModel(f"{run.path.name} at step {step:,}", labels, text, patterns), text)


def _layer(address: str) -> tuple[str, int, str]:
    side, layer, rest = address.split(".", 2)
    return side, int(layer), rest
