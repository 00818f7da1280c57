"""Defines what tasks share whose examples can be counted, or come from a person's own file."""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from jaxtyping import Int
from torch import Tensor

from .. import one_in
from ..tables import HEADERS, SEPARATORS, Source, SplitTable, TableFormat
from ..text_files import AUTO, CHOICES, read_file
from .batch import Batch, Split
from .task import Task, generator_of, option


def draw(n: int, size: int, generator: torch.Generator, *, once: bool) -> Int[Tensor, "drawn"]:
    """`size` numbers below `n`: any, or each `once`, which may be fewer."""
    if once:
        return torch.randperm(n, generator=generator)[:size]
    return torch.randint(n, (size,), generator=generator)


# What tasks of finite data share: three parts without a common example, of which two are read but once.

THREE, TWO = "three", "two"
TEST_SHARE = 10  # one example in ten
_POOL = 16  # batches that are drawn together and sorted by length, so that little is padding
_EPOCHS = 1 << 40  # apart from the seeds of steps
Row = TypeVar("Row")


class PartsOnDemand(dict[Split, list[Row]]):
    """The examples of each part, which are read when they are first asked for."""

    def __init__(self, read: Callable[[Split], list[Row]]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, split: Split) -> list[Row]:
        self[split] = self._read(split)
        return self[split]


@dataclass(frozen=True, kw_only=True)
class Finite(Task):
    """A task whose examples can be counted, and are numbered from 0 in each part.

    `splits` says into what the data is cut. "three": held-out examples, a tenth for a test, and the rest to
    train on; the test part is taken from what "two" trains on, so the held-out part is the same.
    """

    splits: str = option(
        THREE,
        "three: a tenth is kept for a test; two: it is trained on",
        choices=(THREE, TWO),
    )

    @classmethod
    def from_disk(cls, options: dict[str, Any]) -> Task:
        """A run that says nothing of its splits has two."""
        said = options if options.get("splits") in (THREE, TWO) else {**options, "splits": TWO}
        return super().from_disk(said)

    @abstractmethod
    def count(self, split: Split) -> int | None:
        """How many examples a part has; None where they are made at random, without end."""

    @abstractmethod
    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        """The examples of a part that have these numbers; the generator is for what is random in them.

        Where `widths` differ, the same generator gives an example the same whichever others it comes with.
        """

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """Any examples of training; held-out ones come once."""
        split: Split = "held out" if held_out else "training"
        n = self.count(split)
        assert n is not None  # a task whose examples are drawn without numbers has a batch of its own
        numbers = draw(n, size, generator, once=held_out)
        return self.numbered(split, numbers.tolist(), generator)

    def widths(self, split: Split, numbers: Sequence[int]) -> Sequence[Any] | None:
        """What to sort examples by so that like lengths meet in a batch; None where all are of one."""
        return None

    def split_sizes(self) -> dict[Split, int | None]:
        return {split: self.count(split) for split in ("training", "held out", "test")}

    def examples(self, seed: int, size: int, *, split: Split = "held out", at_once: int = 0) -> list[Batch]:
        """Different ones, fewer than `size` where the part has fewer, and of like lengths in a batch."""
        numbers = self.chosen(seed, size, split=split)
        if numbers is None:
            return super().examples(seed, size, split=split, at_once=at_once)
        most = at_once or max(1, len(numbers))
        if not numbers or self.widths(split, [0]) is None:
            whole = self.numbered(split, numbers, generator_of(seed, 1))
            return whole.split(-(-len(whole) // most)) if numbers else []
        pieces = (numbers[at : at + most] for at in range(0, len(numbers), most))
        return [self.numbered(split, piece, generator_of(seed, 1)) for piece in pieces]

    def chosen(self, seed: int, size: int, *, split: Split = "held out") -> list[int] | None:
        """The numbers of `examples`, in their order; None where they are drawn without numbers."""
        n = self.count(split)
        if n is None:
            return None
        return self.sorted(split, torch.randperm(n, generator=generator_of(seed, 0))[:size].tolist())

    def sorted(self, split: Split, numbers: list[int]) -> list[int]:
        """The numbers with examples of like lengths side by side."""
        widths = self.widths(split, numbers)
        if widths is None:
            return numbers
        return [number for _, number in sorted(zip(widths, numbers, strict=True))]

    def batches(self, seed: int, size: int, start: int = 0) -> Iterator[Batch]:
        """Batches of like lengths, where lengths differ: each example comes once an epoch, whose order is
        drawn from the seed and its number. Elsewhere, any examples, drawn anew at each step.
        """
        n = self.count("training")
        if n is None or self.widths("training", [0]) is None:
            yield from super().batches(seed, size, start)
            return
        pool = start // _POOL
        while True:
            numbers = self.sorted("training", _of_epochs(seed, n, pool * _POOL * size, _POOL * size))
            order = torch.randperm(_POOL, generator=generator_of(seed, _EPOCHS + pool)).tolist()
            for step in range(max(start, pool * _POOL), (pool + 1) * _POOL):
                first = order[step % _POOL] * size
                yield self.numbered("training", numbers[first : first + size], generator_of(seed, step))
            pool += 1


def _of_epochs(seed: int, n: int, first: int, count: int) -> list[int]:
    """`count` numbers below n from the `first` on, of an endless row that has each number once an epoch."""
    numbers: list[int] = []
    while len(numbers) < count:
        epoch, at = divmod(first + len(numbers), n)
        order = torch.randperm(n, generator=generator_of(seed, 2 * _EPOCHS + epoch))
        numbers += order[at : at + count - len(numbers)].tolist()
    return numbers


def is_tested(text: str) -> bool:
    """True for one of nine texts that are not held out, which is a tenth of all; the same ones everywhere."""
    return one_in(TEST_SHARE - 1, "test", text)


def without_test(rows: Iterable[Row], key: Callable[[Row], str]) -> tuple[list[Row], list[Row]]:
    """What is trained on, and the test part; rows of one key go to one of them, in any order of the rows.

    Where chance leaves the test part empty, one key of ten or more goes there.
    """
    rows = list(rows)
    keys = {key(row) for row in rows}
    tested = {text for text in keys if is_tested(text)}
    if not tested and len(keys) >= TEST_SHARE:
        tested = {min(keys, key=lambda text: hashlib.sha256(text.encode()).digest())}
    parts: tuple[list[Row], list[Row]] = ([], [])
    for row in rows:
        parts[key(row) in tested].append(row)
    return parts


def cut_pieces(ids: Tensor, numbers: Sequence[int], length: int) -> Tensor:
    """Pieces [piece, length + 1] of a text, which touch but do not overlap in what they ask."""
    first = torch.tensor(numbers, dtype=torch.int64)[:, None] * length
    return ids[first + torch.arange(length + 1)].long()


# What tasks share that read a file of a person's own: its encoding, its marks, its columns.


@dataclass(frozen=True, kw_only=True)
class OwnFile(Task):
    """A task that reads `file`, a path, or where that is empty something else."""

    file: str = option("", "a text file", file=(".txt",))
    encoding: str = option(
        AUTO,
        "how the file's letters were saved; auto: UTF-8, or by its mark",
        choices=CHOICES,
        of="file",
    )

    @cached_property
    def how(self) -> TableFormat:
        """How the file is read, as a person says."""
        return TableFormat(encoding=self.encoding)

    @property
    def own_source(self) -> Source | None:
        """What was read of the file; None without one. Raises ValueError as `read_file` does."""
        return self._read if self.file else None

    @cached_property
    def _read(self) -> Source:
        read = read_file(Path(self.file).expanduser(), self.how.encoding)
        n_lines = read.text.count("\n") + (not read.text.endswith("\n"))
        return Source(read.name, read.n_bytes, read.codec, TableFormat(encoding=read.codec), rows=n_lines)


@dataclass(frozen=True, kw_only=True)
class OwnTable(OwnFile, Finite):
    """A task that reads two columns of a table; `columns` are the options that name them."""

    columns: ClassVar[tuple[str, str]]
    separator: str = option(AUTO, "what parts the columns", choices=(AUTO, *SEPARATORS), of="file")
    header: str = option(AUTO, "whether the first row holds the columns' names", choices=HEADERS, of="file")

    @cached_property
    def how(self) -> TableFormat:
        columns = tuple(getattr(self, name) for name in self.columns)
        return TableFormat(self.encoding, self.separator, self.header, columns)

    @staticmethod
    @abstractmethod
    def read_own(path: Path, how: TableFormat) -> SplitTable:
        """Reads a person's table. Raises ValueError, with value, rule and remedy, for what is none."""

    @abstractmethod
    def n_tokens(self, text: str) -> int:
        """The tokens of a text of a row, if it is read whole, with those that stand around it."""

    @cached_property
    def table(self) -> SplitTable | None:
        """What the person's file has; None without one. Raises ValueError as `read_own` does."""
        return self.read_own(Path(self.file).expanduser(), self.how) if self.file else None

    @property
    def _read(self) -> Source:
        assert self.table is not None and self.table.source is not None  # there is a file where this is asked
        return self.table.source

    @cached_property
    def rows(self) -> dict[Split, Sequence[tuple[str, Any]]]:
        """The rows of each part, none without a file."""
        return self.file_rows

    @property
    def file_rows(self) -> dict[Split, Sequence[tuple[str, Any]]]:
        """Those of the file; in three parts, the test's are taken from training's."""
        if self.table is None:
            return {}
        training, held_out = self.table.training, self.table.held_out
        if self.splits != THREE:
            return {"training": training, "held out": held_out, "test": ()}
        trained, tested = without_test(training, lambda row: row[0])
        return {"training": trained, "held out": held_out, "test": tested}

    def count(self, split: Split) -> int | None:
        return len(self.rows[split]) if self.rows else None

    def widths(self, split: Split, numbers: Sequence[int]) -> list[int] | None:
        """Characters: tokens are counted in as many rows as are read, and no more."""
        if not self.rows:
            return None
        return [sum(map(len, texts_of(self.rows[split][at]))) for at in numbers]

    def prompts_of(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """As the file has it, unless it is too long to be read whole."""
        cut = super().prompts_of(batch, split, numbers)
        if not self.rows or numbers is None:
            return cut
        whole, room = [self.rows[split][at][0] for at in numbers], self.required_sizes()["max_len"]
        return [t if self.n_tokens(t) <= room else short for t, short in zip(whole, cut, strict=True)]


def texts_of(row: tuple[str, Any]) -> list[str]:
    """Those cells of a row that are texts, and no label."""
    return [cell for cell in row if isinstance(cell, str)]


def column(about: str) -> Any:
    """An option that names a column of the file, by its name or as "column 2"."""
    return option("", f"the column of {about}; empty: found by name or place", column_of="file")
