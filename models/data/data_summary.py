"""Describes a task's data before training, as plain values that a page can hold without torch."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..byte_units import readable
from .tables import Source
from .text_files import title_of


@dataclass(frozen=True)
class TokenPreview:
    """A token as it is read. special: it stands for no text. target: the token asked for there, "" for none.
    unknown: it stands for what the vocabulary lacks.
    """

    token: str
    special: bool = False
    target: str = ""
    unknown: bool = False


@dataclass(frozen=True)
class ExamplePreview:
    """An example. sides: the tokens that "encoder" and "decoder" read. answer: the one right answer, if there
    is one to the whole. text: as a person's file has it. more: tokens that are read and not shown.
    """

    sides: dict[str, tuple[TokenPreview, ...]]
    answer: str = ""
    text: str = ""
    more: int = 0


@dataclass(frozen=True)
class DataSummary:
    """A task's data. source: the file it was read from, if there is one. sizes: of each part, in `unit`; None
    where examples are made at random, without end. classes: how many examples have each answer, of all parts
    or of those that were drawn. lengths: how many examples are of up to `ends` tokens, of those measured.
    room: the tokens that the model reads of one; cut: the share of examples that have more. padding: the
    share of what training reads, in batches of `batch_size`, that is padding. unknown: the share of held-out
    tokens that the vocabulary lacks. None where there is no such thing. pictures: [picture, row, column].
    """

    source: Source | None = None
    sizes: dict[str, int | None] = field(default_factory=dict)
    unit: str = "examples"
    classes: dict[str, int] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    measured: int = 0
    median: float = 0.0
    longest: int = 0
    room: int | None = None
    cut: float | None = None
    padding: float | None = None
    batch_size: int = 0
    vocabulary: int | None = None
    unknown: float | None = None
    examples: tuple[ExamplePreview, ...] = ()
    pictures: np.ndarray | None = None
    labels: tuple[str, ...] = ()


def for_batches(summary: DataSummary, size: int) -> DataSummary | None:
    """What was seen, for batches of this size; None where the data must be read again to measure padding."""
    if summary.batch_size in (0, size):
        return summary
    same = summary.padding is None or summary.unit == "characters"  # pieces of a long text are of one length
    return replace(summary, batch_size=size) if same else None


def sentences(source: Source) -> list[str]:
    """What was found out about a file, and what of it is not used."""
    lines = [f"{source.name}: {readable(source.n_bytes)}, read as {title_of(source.codec)}."]
    if not source.columns:
        return [*lines, f"{source.rows:,} lines."]
    head = "The first row names the columns" if source.how.header == "yes" else "No row names the columns"
    lines.append(
        f"Columns are parted by {_MARKS[source.how.separator]}. {head}: {', '.join(source.columns)}."
    )
    roles = ", ".join(f"{role.replace('_', ' ')} is “{name}”" for role, name in source.chosen.items())
    lines.append(f"{roles[:1].upper()}{roles[1:]}.")
    first = source.first
    parts = [
        f"{count:,} {reason}" + (f" (first: line {first[reason]:,})" if reason in first else "")
        for reason, count in source.left_out.items()
    ]
    left_out = f"; left out: {', '.join(parts)}" if parts else "; none is left out"
    lines.append(f"{source.rows:,} rows, {source.n_used:,} of them used{left_out}.")
    return lines


_MARKS = {"comma": "commas", "semicolon": "semicolons", "tab": "tabs", "bar": "bars"}
