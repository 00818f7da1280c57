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


LOOK = """
import os, sys

class Finder:
    def find_spec(self, name, *_):
        if name == "torch":
            print(os.environ.get("OMP_WAIT_POLICY"), os.environ.get("KMP_BLOCKTIME"), flush=True)
            os._exit(0)

sys.meta_path.insert(0, Finder())
"""
"""Says what OpenMP would read when torch is imported, and ends there: importing it takes seconds."""


@pytest.mark.parametrize(
    "program",
    [
        "import attention_lab.models.engine.transformer",
        "import runpy; sys.argv += ['tasks']; "
        "runpy.run_module('attention_lab.models.training', run_name='__main__')",
        "import attention_lab.models.runs.worker, torch",
        "import attention_lab.pages.shared.cache, torch",
        "import benchmarks.training",
    ],
)
def test_whatever_imports_torch_says_before_that_idle_threads_sleep(program: str):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_"))}
    ended = subprocess.run(
        [sys.executable, "-c", LOOK + program], env=kept, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["PASSIVE", "0"]


def test_waiting_threads_sleep():
    found = spins("-c", "import attention_lab.models, torch")
    assert found and found <= {"0", "0ms"}


def test_who_chose_a_policy_keeps_it():
    found = spins("-c", "import attention_lab.models, torch", OMP_WAIT_POLICY="ACTIVE", KMP_BLOCKTIME="200")
    assert found and not found & {"0", "0ms"}
