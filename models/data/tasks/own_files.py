"""What tasks share that read a file of a person's own: its encoding, its marks, its columns."""

from abc import abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from models.data.encodings import AUTO, CHOICES
from models.data.table_shape import HEADERS, SEPARATORS
from models.data.tables import How, Source
from models.data.tasks.options import option
from models.data.tasks.task import Task
from models.data.text_files import read_file

READING = "reading"
"""The entry of what a run keeps of its task that says how its file was read."""


@dataclass(frozen=True, kw_only=True)
class OwnFile(Task):
    """A task that reads `file`, a path, or where that is empty something else.

    What was found out about the file is kept with a run, so that a later version reads it alike.
    """

    file: str = option("", "a text file", file=(".txt",))
    encoding: str = option(
        AUTO, "how the file's letters were saved; auto: as its bytes show", choices=CHOICES, of="file"
    )

    @cached_property
    def how(self) -> How:
        """How the file is read: as a person says, or as a run kept it."""
        return How(encoding=self.encoding)

    @property
    def own_source(self) -> Source | None:
        """What was read of the file; None without one. Raises ValueError as `read_file` does."""
        return self._read if self.file else None

    @cached_property
    def _read(self) -> Source:
        read = read_file(Path(self.file).expanduser(), self.how.encoding)
        n_lines = read.text.count("\n") + (not read.text.endswith("\n"))
        how = How(encoding=read.encoding.codec)
        return Source(read.name, read.n_bytes, read.encoding, how, rows=n_lines)

    def kept_reading(self) -> dict[str, Any]:
        """How the file was read, for what the task has `learnt`; {} without one."""
        if not self.file or "_unsaid" in self.__dict__:
            return {}
        how = self.how if "_kept" in self.__dict__ else self._read.how
        return {READING: {**how.to_json(), "asked": self._asked()}}

    def take_reading(self, learnt: dict[str, Any]) -> None:
        """Takes over what `kept_reading` returned. Runs from before it was kept read by the rules of then.

        Raises ValueError for anything else.
        """
        if READING in learnt:
            how = How.from_json(learnt[READING])
            if learnt[READING].get("asked") == self._asked():
                self.__dict__.update(how=how, _kept=True)
        elif self.file:
            self.__dict__["_unsaid"] = True

    def _asked(self) -> list[str]:
        """The file's name and the options about it: where they change, what was found out counts no more."""
        about = [spec.name for spec in fields(self) if spec.metadata.get("of") == "file"]
        return [Path(self.file).name, *(str(getattr(self, name)) for name in about)]


@dataclass(frozen=True, kw_only=True)
class OwnTable(OwnFile):
    """A task that reads two columns of a table; `columns` are the options that name them."""

    columns: ClassVar[tuple[str, str]]
    separator: str = option(AUTO, "what parts the columns", choices=(AUTO, *SEPARATORS), of="file")
    header: str = option(AUTO, "whether the first row holds the columns' names", choices=HEADERS, of="file")

    @cached_property
    def how(self) -> How:
        if "_unsaid" in self.__dict__:
            return self._before(Path(self.file).expanduser())
        columns = tuple(getattr(self, name) for name in self.columns)
        return How(self.encoding, self.separator, self.header, columns)

    @abstractmethod
    def _before(self, path: Path) -> How:
        """How runs read this file before they kept how they read it."""

    @property
    @abstractmethod
    def _read(self) -> Source: ...


def column(about: str) -> Any:
    """An option that names a column of the file, by its name or as "column 2"."""
    return option("", f"the column of {about}, by its name; empty: as names or places say", column_of="file")
