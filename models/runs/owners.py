"""Whose a run is, in a file of its own in the run's folder, and who may do what with it.

Where one person has the machine for themselves, that person may do everything. In a class a run belongs to
the visitor who started it; others see it where its owner shares it, and only owner and teacher change it.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from models.files import FileError, read_json_if_any, write_json

OWNER = "owner.json"
VERSION = 1


class NotAllowed(ValueError):  # noqa: N818 (it is the page's answer, not a fault)
    """Something that only others may do; the text says who."""


@dataclass(frozen=True)
class Visitor:
    """Who asks. id: a hash of what their browser keeps; "" for a program, or a browser that keeps nothing.

    all_rights: a teacher's, and those of whoever has the machine for themselves.
    """

    id: str = ""
    all_rights: bool = False


MACHINE = Visitor(all_rights=True)
"""A program on this machine, such as the command line: it has no limit of its own."""
PERSON = Visitor("person", all_rights=True)
"""Whoever has the app for themselves, on 127.0.0.1."""


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """The run's owner by the visitor's id, "" for the machine's own; whether all may look at it.

    minutes: so long it trains before it pauses, 0 for as long as it takes.
    """

    owner: str = ""
    shared: bool = False
    minutes: int = 0


def owned(folder: Path) -> Ownership:
    """Whose the run in `folder` is; a file that is damaged or changed by hand gives nobody a right."""
    try:
        said = read_json_if_any(folder / OWNER, newest=VERSION)
    except FileError:
        return Ownership()
    owner, shared, minutes = said.get("owner"), said.get("shared"), said.get("minutes")
    return Ownership(
        owner=owner if isinstance(owner, str) else "",
        shared=shared is True,
        minutes=minutes if type(minutes) is int and minutes > 0 else 0,
    )


def write_owned(folder: Path, ownership: Ownership) -> None:
    """Raises WriteError where the disk refuses."""
    write_json(folder / OWNER, {"version": VERSION, **asdict(ownership)})


def share(folder: Path, *, shared: bool) -> None:
    """Lets all visitors look at a run, or its owner alone. Raises WriteError."""
    write_owned(folder, replace(owned(folder), shared=shared))


def is_of(folder: Path, visitor: Visitor) -> bool:
    """Whether the run is this visitor's own."""
    return bool(visitor.id) and owned(folder).owner == visitor.id


def may_change(folder: Path, visitor: Visitor) -> bool:
    """Whether a visitor may stop, rename, share, delete, export the run and train it further."""
    return visitor.all_rights or is_of(folder, visitor)


def may_see(folder: Path, visitor: Visitor) -> bool:
    """Whether a visitor may look at the run and open its model."""
    return may_change(folder, visitor) or owned(folder).shared


def check(folder: Path, visitor: Visitor, act: str) -> None:
    """Raises NotAllowed where a visitor may not do this; `act` as in "delete it"."""
    if not may_change(folder, visitor):
        raise NotAllowed(f"this run is another visitor's: only its owner and a teacher may {act}")
