"""Importing models comes before torch, and keeps its idle threads from spinning."""

import os
import re
import subprocess
import sys

import pytest


def spins(*words: str, **chosen: str) -> set[str]:
    """How long idle threads spin, as OpenMP's runtime says when Python is called with these words."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_"))}
    ended = subprocess.run(
        [sys.executable, *words],
        env={**kept, **chosen, "OMP_DISPLAY_ENV": "VERBOSE"},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(re.findall(r"(?:GOMP_SPINCOUNT|KMP_BLOCKTIME) ?= ?'(\w+)", ended.stderr))  # GNU's or Intel's


@pytest.mark.parametrize(
    "words",
    [
        ["-c", "import models, torch"],
        ["-m", "models.training", "tasks"],
        ["-c", "import models.runs.worker, torch"],
        ["-c", "import pages.shared.cache, torch"],
        ["-c", "import benchmarks.training"],
    ],
    ids=lambda words: words[-1],
)
def test_waiting_threads_sleep(words: list[str]):
    found = spins(*words)
    assert found and found <= {"0", "0ms"}


def test_who_chose_a_policy_keeps_it():
    found = spins("-c", "import models, torch", OMP_WAIT_POLICY="ACTIVE", KMP_BLOCKTIME="200")
    assert found and not found & {"0", "0ms"}
