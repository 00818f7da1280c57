"""What is asked of a cluster's dispatcher: a file for each run, which stays until the run has ended there.

So whoever follows a dispatcher that was killed knows the runs that the cluster has or owes, and goes on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from models.files import FileError, read_json, write_json

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
        said = {"run": self.run_id, "parent": self.parent, "attempt": self.attempt, "tries": self.tries}
        write_json(self.path, said)

    def drop(self) -> None:
        """Takes it away: the cluster has no more to do with the run."""
        self.path.unlink(missing_ok=True)


def leave(office: Path, run_id: str, parent: str) -> None:
    """Leaves a ticket in a dispatcher's folder. Raises OSError."""
    (office / TICKETS).mkdir(parents=True, exist_ok=True)
    Ticket(office / TICKETS / f"{time.time_ns():020d}-{run_id}.json", run_id, parent).write()


def any_in(office: Path) -> bool:
    """Whether the cluster has anything to do."""
    return any((office / TICKETS).glob("*.json"))


def tickets(office: Path) -> list[Ticket]:
    """All tickets, the oldest first; a damaged one is removed."""
    found = []
    for path in sorted((office / TICKETS).glob("*.json")):
        try:
            said = read_json(path)
            ticket = Ticket(path, str(said["run"]), str(said["parent"]))
            ticket.attempt, ticket.tries = int(said.get("attempt", 0)), int(said.get("tries", 0))
        except FileNotFoundError:
            continue  # taken away just now
        except (FileError, OSError, ValueError, KeyError, TypeError):
            path.unlink(missing_ok=True)
        else:
            found.append(ticket)
    return found
