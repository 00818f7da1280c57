"""A backend that trains a run at once, in the process of the test."""

import json
import time
from pathlib import Path

from attention_lab.models.runs.folder import METRICS, Cause, RunFolder, Status, read_status, write_status
from attention_lab.models.runs.recording import train_into
from attention_lab.models.training.config import RunConfig


class AtOnce:
    """Runs end where they are submitted. curves: gives, for a run's config.json, held-out scores by step that
    are written in place of a training; such a run goes on until it is stopped or has been looked at once.
    """

    def __init__(self, root: Path, curves=None) -> None:
        self.root, self.curves = root, curves
        self.submitted: list[str] = []
        self.most_live = 0

    def check(self, config: RunConfig) -> int:
        return 1_000

    def submit(self, run_id: str, *, keep_going: bool = False) -> None:
        self.submitted.append(run_id)
        run = RunFolder(self.root / run_id)
        if self.curves is None:
            train_into(run, run.config())
            return self._note(run_id, "finished")
        curve = self.curves(run.description())
        lines = [{"step": step, "loss": 1.0, "validation": score} for step, score in curve.items()]
        (run.path / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return self._note(run_id, "running")

    def status(self, run_id: str) -> Status:
        said = json.loads((self.root / run_id / "status.json").read_text())
        if said["state"] == "running":
            self._note(run_id, "finished")
            live = [json.loads(path.read_text())["state"] for path in self.root.glob("*/status.json")]
            self.most_live = max(self.most_live, 1 + live.count("running"))
            return Status(state="running")
        return read_status(self.root / run_id)

    def stop(self, run_id: str, *, ask: str = "stop") -> None:
        self._note(run_id, "stopped", cause=Cause.PERSON)

    def _note(self, run_id: str, state: str, sentence: str = "", cause: Cause = Cause.NONE) -> None:
        status = Status(state=state, sentence=sentence, cause=cause, heartbeat=time.time())
        write_status(self.root / run_id, status)
