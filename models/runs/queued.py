"""A run that waits to train, new or resumed, wherever it will: what an earlier process left is gone."""

import time
from pathlib import Path

from models.runs import spent
from models.runs.folder import REQUEST, RunFolder
from models.runs.status import Status, hanging, read_status, write_status


def queue(folder: Path, sentence: str, *, keep_going: bool, node: str = "") -> Status:
    """Writes and returns the status of a run that waits; its step and its seconds stay.

    An earlier process that hangs is killed, its stretch is noted, and what it was asked is forgotten.
    sentence: what the run waits for. node: where it waits, as in its status. Raises FileError where the run's
    config is damaged, and WriteError.
    """
    steps = RunFolder(folder).description()["training"]["steps"]
    before, hung = read_status(folder), hanging(folder)
    if hung is not None:
        hung.kill()
    spent.note_killed(folder)
    (folder / REQUEST).unlink(missing_ok=True)
    now = time.time()
    queued = Status(
        state="queued",
        step=before.step,
        steps=steps,
        seconds=before.seconds,
        sentence=sentence,
        keep_going=keep_going,
        queued_at=now,
        heartbeat=now,
        node=node,
        attempt=before.attempt + 1 if node or before.attempt else 0,
        resumed=before.state == "paused",
    )
    write_status(folder, queued)
    return queued
