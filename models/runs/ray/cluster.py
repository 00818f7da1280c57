"""The Ray cluster that runs may go to: its address, whether it answers, and the tickets for its dispatcher.

Ray is not imported here.
"""

import hashlib
import os
import socket
import stat
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cachetools import TTLCache, cached

from ...files import FileError, read_json, write_json
from ..queue import NoRoom

VARIABLE = "ATTENTION_LAB_RAY"
"""Variable of the environment: a cluster's address, host:port, or "auto" for the one of this machine."""
ANSWER_SECONDS = 3.0
ASKED_SECONDS = 3.0
_KNOWN = "ray/ray_current_cluster"  # where `ray start` notes its cluster, in Ray's temporary folder
_FOREIGN = (
    f"{VARIABLE}='auto', but others could have written Ray's note of this machine's cluster; give its "
    "host:port"
)
_MOST_CHARACTERS = 300


def setting() -> str:
    """The cluster that the environment names; "" for none."""
    return os.environ.get(VARIABLE, "").strip()


def address() -> str:
    """The cluster's host:port. Raises NoRoom, with the remedy, where none is there or Ray is missing."""
    if find_spec("ray") is None:
        raise NoRoom(f"{VARIABLE}={setting()!r}, but Ray is not installed: make install-ray")
    place = stated_address()
    host, port = _parts(place)
    if not _recent_answer(place):
        raise NoRoom(
            f"no Ray cluster answers at {host}:{port} ({VARIABLE}={setting()!r}); start it "
            f"(ray start --head), or unset {VARIABLE} to train here"
        )
    return place


def stated_address() -> str:
    """The cluster's address, whether or not it answers. Raises NoRoom where "auto" names none."""
    name = setting()
    return os.environ.get("RAY_ADDRESS", "") or _address_in_note() if name == "auto" else name


def answers(address: str) -> bool:
    """Whether something listens at host:port."""
    try:
        with socket.create_connection(_parts(address), timeout=ANSWER_SECONDS):
            return True
    except OSError:
        return False


@cached(TTLCache(16, ttl=ASKED_SECONDS))
def _recent_answer(address: str) -> bool:
    """The last answer, if it is fresh: a page that is drawn again must not wait for it each time."""
    return answers(address)


def is_here(address: str) -> bool:
    """Whether the address is that of this machine's loopback."""
    return _parts(address)[0] in ("127.0.0.1", "localhost", "::1")


def ticket_folder(root: Path, address: str) -> Path:
    """The folder beside the runs in which a cluster's dispatcher finds what it is to do."""
    return root / ".ray" / hashlib.sha256(address.encode()).hexdigest()[:16]


def _address_in_note() -> str:
    """The address in Ray's own note. Ray lets everybody write to the note's folder, and so anybody may put a
    note there; but only this account and root can make one that is theirs.
    """
    path = Path(os.environ.get("RAY_TMPDIR", "/tmp"), _KNOWN)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            facts = os.fstat(file.fileno())
            is_ours = (
                stat.S_ISREG(facts.st_mode) and facts.st_uid in (0, os.geteuid()) and facts.st_nlink == 1
            )
            if not is_ours or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise NoRoom(_FOREIGN)
            return file.read(_MOST_CHARACTERS).strip()
    except FileNotFoundError:
        raise NoRoom(
            f"{VARIABLE}='auto', but no Ray cluster runs here; start one (ray start --head), or give its "
            "host:port"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise NoRoom(_FOREIGN) from None


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address.startswith("ray://") or not host or not port.isdecimal() or int(port) > 65_535:
        raise NoRoom(f"{VARIABLE}={address[:100]!r} is no address of a Ray cluster; give host:port, or auto")
    return host, int(port)


# Tickets: a file for each run, which stays until the run has ended there
# Whoever follows a dispatcher that was killed finds in them the runs that the cluster has or owes.

TICKETS = "tickets"


@dataclass
class Ticket:
    """A run that the cluster is to train. parent: the process whose end pauses it, as `Identity` writes it,
    or "". attempt: that of the run when the cluster was given it last; 0 before the first time. tries:
    after workers and dispatchers that were lost.
    """

    path: Path
    run_id: str
    parent: str = ""
    attempt: int = 0
    tries: int = 0

    def write(self) -> None:
        """Keeps what the ticket says. Raises WriteError."""
        values = {"run": self.run_id, "parent": self.parent, "attempt": self.attempt, "tries": self.tries}
        write_json(self.path, values)

    def drop(self) -> None:
        """Takes it away: the cluster has no more to do with the run."""
        self.path.unlink(missing_ok=True)


def leave(ticket_folder: Path, run_id: str, parent: str) -> None:
    """Leaves a ticket in a dispatcher's folder. Raises OSError."""
    (ticket_folder / TICKETS).mkdir(parents=True, exist_ok=True)
    Ticket(ticket_folder / TICKETS / f"{time.time_ns():020d}-{run_id}.json", run_id, parent).write()


def any_in(ticket_folder: Path) -> bool:
    """Whether the cluster has anything to do."""
    return any((ticket_folder / TICKETS).glob("*.json"))


def tickets(ticket_folder: Path) -> list[Ticket]:
    """All tickets, the oldest first; a damaged one is removed."""
    whole = []
    for path in sorted((ticket_folder / TICKETS).glob("*.json")):
        try:
            values = read_json(path)
            counts = (int(values.get(name, 0)) for name in ("attempt", "tries"))
            ticket = Ticket(path, str(values["run"]), str(values["parent"]), *counts)
        except FileNotFoundError:
            continue  # taken away just now
        except (FileError, OSError, ValueError, KeyError, TypeError):
            path.unlink(missing_ok=True)
        else:
            whole.append(ticket)
    return whole
