"""What a process that trains takes, against what was said before it started."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from models.data.tasks import make_task
from models.training.config import run_config
from models.training.loop import Training
from models.training.memory import estimate

training = {"threads": 1, "batch_size": 64, "steps": 2, "held_out": 8}
run = run_config(make_task("reverse"), training=training)
print(list(Training(run))[-1].memory, estimate(run).memory_bytes)
"""


def test_the_process_of_a_small_run_takes_about_as_much_as_said():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    taken, said = map(int, done.stdout.split())
    assert taken == pytest.approx(said, rel=0.5)
