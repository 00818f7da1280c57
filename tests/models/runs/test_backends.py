"""What the process of a run finds in its environment when it imports torch."""

import json
import sys
import time
from pathlib import Path

import pytest

from models.runs import jobs
from models.runs.folder import LOG

NAMES = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "KMP_BLOCKTIME")
REPORT = f"""
import json, os
import models.runs.worker
print(json.dumps([os.environ.get(name) for name in {NAMES}]))
"""


@pytest.mark.parametrize(("chosen", "policy"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")])
def test_a_worker_has_not_the_servers_one_thread_and_its_idle_threads_sleep(
    chosen: dict[str, str], policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in {"OMP_NUM_THREADS": "1", **chosen}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(jobs, "WORKER", [sys.executable, "-c", REPORT])
    jobs._start(tmp_path, None)
    end = time.monotonic() + 60
    while not (said := (tmp_path / LOG).read_text()).endswith("\n"):
        assert time.monotonic() < end, "the process says nothing"
        time.sleep(0.02)
    assert json.loads(said) == [None, policy, "0"]
