"""The folder of a run that was refused in the last moment: none is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.runs.folder import RunFolder


@contextmanager
def gone_if(run: RunFolder, *errors: type[Exception]) -> Iterator[None]:
    """Inside, one of these errors takes the run's new folder away again."""
    try:
        yield
    except errors:
        with suppress(OSError):
            run.delete()
        raise
