"""Run folders made by hand, as the training loop writes them: no training, no processes."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.folder import METRICS, SAMPLES, RunFolder, create_run
from attention_lab.models.training.config import run_config
from attention_lab.models.zoo.folders import PROBE
from attention_lab.pages.shared.training.runs import Run

STEPS = (0, 1, 10, 100)
TOKENS = list("abcdabcd")
MakeRun = Callable[..., Run]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runs' folder of this test alone."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def record(step: int, *, validated: bool = False) -> dict:
    found = {"step": step, "loss": 1 / step, "learning_rate": 0.001, "tokens_per_second": 5_000.0}
    if validated:
        found["validation"] = {"loss": 2 / step, "second half": step / 100}
    return found


def patterns(step: int) -> dict[str, np.ndarray]:
    """Two layers of two heads; the last head becomes an induction head as the steps go on."""
    n = len(TOKENS)
    uniform = np.tri(n) / np.tri(n).sum(-1, keepdims=True)
    perfect = np.eye(n)[[0, 0, 0, 0, 1, 2, 3, 4]]
    share = step / STEPS[-1]
    heads = np.stack([uniform, (1 - share) * uniform + share * perfect])
    return {
        "decoder.0.self.pattern": np.stack([uniform, uniform]).astype(np.float16),
        "decoder.1.self.pattern": heads.astype(np.float16),
    }


@pytest.fixture
def make_run(root: Path) -> MakeRun:
    """Function that makes a run of a task, with records and snapshots of a run of 100 steps."""

    def make(task: str = "induction", name: str = "a run", **training) -> Run:
        folder = create_run(run_config(make_task(task), training={"steps": 100, **training}), name=name)
        fill(folder)
        return Run(folder.id, folder)

    return make


def fill(folder: RunFolder) -> None:
    lines = [record(step, validated=step % 10 == 0) for step in range(1, 101)]
    (folder.path / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    samples = {"step": 100, "samples": [{"given": "ab", "made": "<b>ba</b>", "wanted": "ba"}]}
    (folder.path / SAMPLES).write_text(json.dumps(samples) + "\n")
    probe = {"tokens": {"decoder": TOKENS}, "text": "abcdabcd", "picture": None}
    (folder.path / PROBE).write_text(json.dumps(probe))
    (folder.path / "snapshots").mkdir()
    for step in STEPS:
        save_file(patterns(step), folder.path / "snapshots" / f"{step:08d}.safetensors")
