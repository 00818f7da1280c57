"""A disk that takes its time, for a server and all that it starts: a run trains on and says how it stands,
and no other visitor waits.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from attention_lab.models.runs.folder import RunFolder, list_runs, read_status
from tests.processes.visitor import visiting
from tools.background_servers import Server, serving_the_app

SECONDS = (
    0.4  # for each file that is begun, each that takes its place, and each that is to survive a power cut
)
SLOW = f"""
import os, tempfile, time

def slow(original):
    def later(*given, **more):
        time.sleep({SECONDS})
        return original(*given, **more)
    return later

os.fsync, os.replace, tempfile.mkstemp = map(slow, (os.fsync, os.replace, tempfile.mkstemp))
"""
RUN = "task=reverse&length=4&n_layers=1&n_heads=2&d_model=16&steps=1000000&batch_size=4&threads=1"
START_SECONDS = 120.0  # PyTorch on a busy machine
QUICK_SECONDS = 2.0  # on a machine that trains; alone it takes 0.05


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that imports this before all else, as Python does with a module of this name."""
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW)
    with serving_the_app(tmp_path / "log.txt", PYTHONPATH=str(tmp_path / "slow")) as running:
        yield running


async def until(condition: Callable[[], object], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} seconds"
        await asyncio.sleep(0.1)


def test_on_a_slow_disk_a_run_trains_on_and_nobody_else_waits(server: Server) -> None:
    def run() -> RunFolder:
        return list_runs(server.log.parent / "runs")[0]

    async def train() -> None:
        async with visiting(server.url, "train", RUN) as owner, visiting(server.url, "softmax") as other:
            start = time.monotonic()
            await owner.press("Start")
            assert time.monotonic() - start > 2 * SECONDS  # the disk is slow indeed
            await until(lambda: read_status(run().path).step > 0, START_SECONDS)
            before, waits = read_status(run().path), []
            for seed in range(12):
                await asyncio.sleep(0.3)
                start = time.monotonic()
                await other.set("Seed of the random numbers", seed + 1)
                waits.append(time.monotonic() - start)
            assert sorted(waits)[len(waits) // 2] < QUICK_SECONDS, waits
            await until(lambda: read_status(run().path).step > before.step, START_SECONDS)
            assert read_status(run().path).state == "running"
            await owner.run(BackMsg())
            await owner.press("Pause")
            await until(lambda: read_status(run().path).state == "paused", 15)
            assert not any("Error" in line for line in [*owner.said, *other.said]), (owner.said, other.said)

    asyncio.run(train())
    checkpoint = run().checkpoint()
    assert checkpoint is not None and checkpoint.step > 0
    assert not list(run().path.rglob(".*.tmp"))
    assert "Traceback" not in server.log.read_text()
