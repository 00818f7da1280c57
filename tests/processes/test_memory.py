"""What a process that trains takes, against what was said before it started."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from attention_lab.models.data.tasks import make_task
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from attention_lab.models.training.memory import memory_bytes

training = {"threads": 1, "batch_size": 64, "steps": 2, "held_out": 8}
run = run_config(make_task("reverse"), training=training)
print(list(Training(run))[-1].memory, memory_bytes(run))
"""


WIDE = """
import re
from dataclasses import dataclass
import torch
from attention_lab.models.data.tasks import Batch, Reading, Task
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from attention_lab.models.training.memory import memory_bytes

@dataclass(frozen=True, kw_only=True)
class Wide(Task):
    name, title, kind, see = "wide", "many outputs", "decoder-only", ""
    def required_sizes(self): return {"vocab_size": 4_000, "max_len": 128, "pad_id": None}
    def batch(self, generator, size, *, held_out=False):
        ids = torch.randint(4_000, (size, 128), generator=generator)
        return Batch((ids,), ids)
    def probe(self): return Reading((torch.zeros(1, 4, dtype=torch.long),), {"decoder": list("abcd")})
    def read(self, text): return self.probe()
    def outputs(self): return ()

training = {"threads": 1, "batch_size": 4, "steps": 2, "held_out": 256, "n_snapshots": 2}
run = run_config(Wide(), sizes={"d_model": 16}, training=training)
steps = Training(run)
validated = steps.verdict(), next(steps)
# Of this program alone: what getrusage tells begins with the peak of the process that started it.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(1024 * int(peak[1]), memory_bytes(run))
"""
"""256 examples at once would have 524 MB of logits."""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_validating_takes_no_more_than_training():
    done = subprocess.run([sys.executable, "-c", WIDE], cwd=ROOT, capture_output=True, text=True, check=True)
    taken, said = map(int, done.stdout.split())
    assert taken < 1.4 * said, (taken, said)


def test_the_process_of_a_small_run_takes_about_as_much_as_said():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    taken, said = map(int, done.stdout.split())
    assert taken == pytest.approx(said, rel=0.5)
