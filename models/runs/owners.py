"""The owner of a run, kept in a file of its own in the run's folder, and who may do what with it.

Where one person has the machine for themselves, that person may do everything. In a class a run belongs to
the visitor who started it; others see it where its owner shares it, and only owner and teacher change it.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ..files import FileError, read_json_if_any, write_json
from ..zoo.folders import CONFIG, run_path

OWNER = "owner.json"
VERSION = 1


class NotAllowed(ValueError):  # noqa: N818 (it is the page's answer, not a fault)
    """An act that this visitor may not do; the text says who may."""


@dataclass(frozen=True)
class Visitor:
    """Who asks. id: a hash of their browser's cookie; "" for a program, or a browser without cookies.

    all_rights: true for a teacher, and for whoever has the machine for themselves.
    """

    id: str = ""
    all_rights: bool = False


MACHINE = Visitor(all_rights=True)
"""A program on this machine, such as the command line: it has no limit of its own."""
PERSON = Visitor("person", all_rights=True)
"""Whoever has the app for themselves, on 127.0.0.1."""


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """owner: the visitor's id, "" for a run without an owner. shared: every visitor may look at the run.

    minutes: how long it trains before it pauses; 0 is no limit.
    """

    owner: str = ""
    shared: bool = False
    minutes: int = 0


def ownership_of(folder: Path) -> Ownership:
    """The ownership of the run in `folder`; a damaged file gives no visitor a right."""
    try:
        values = read_json_if_any(folder / OWNER, newest=VERSION)
    except FileError:
        return Ownership()
    owner, shared, minutes = values.get("owner"), values.get("shared"), values.get("minutes")
    return Ownership(
        owner=owner if isinstance(owner, str) else "",
        shared=shared is True,
        minutes=minutes if type(minutes) is int and minutes > 0 else 0,
    )


def write_owned(folder: Path, ownership: Ownership) -> None:
    """Writes the file of a run's owner. Raises WriteError where the disk refuses."""
    write_json(folder / OWNER, {"version": VERSION, **asdict(ownership)})


def share(folder: Path, *, shared: bool) -> None:
    """Decides whether all visitors may look at a run, or its owner alone. Raises WriteError."""
    write_owned(folder, replace(ownership_of(folder), shared=shared))


def is_of(folder: Path, visitor: Visitor) -> bool:
    """Whether the run is this visitor's own."""
    return bool(visitor.id) and ownership_of(folder).owner == visitor.id


def may_change(folder: Path, visitor: Visitor) -> bool:
    """Whether a visitor may stop, rename, share, delete, export the run and train it further."""
    return visitor.all_rights or is_of(folder, visitor)


def may_see(folder: Path, visitor: Visitor) -> bool:
    """Whether a visitor may look at the run and open its model."""
    return may_change(folder, visitor) or ownership_of(folder).shared


def visible_run(run_id: str, visitor: Visitor) -> Path | None:
    """The folder of a run, whose id comes from outside, where a visitor may look at it."""
    try:
        folder = run_path(run_id)
    except FileError:
        return None
    return folder if (folder / CONFIG).is_file() and may_see(folder, visitor) else None


def check(folder: Path, visitor: Visitor, act: str) -> None:
    """Raises NotAllowed where a visitor may not change the run. act: what was asked, such as "delete it"."""
    if not may_change(folder, visitor):
        raise NotAllowed(f"this run is another visitor's: only its owner and a teacher may {act}")
