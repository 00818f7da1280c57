"""Several servers behind one address, as `make serve` starts them, while a test or a measurement lasts."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tools.background import ROOT, free_port

PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Served:
    """The servers that were started, and where they answer."""

    url: str
    metrics: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def servers(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.metrics}/health", timeout=10) as answer:
            return list(json.load(answer)["servers"])

    def kill(self, port: int) -> None:
        """Kills the server at a port, as the system kills one that takes too much memory."""
        for process in psutil.Process(self.process.pid).children():
            if f"{port}" in process.cmdline():
                process.send_signal(signal.SIGKILL)
                return
        raise LookupError(f"no server at port {port}")


@contextlib.contextmanager
def served(folder: Path, *options: str, workers: int = 2) -> Iterator[Served]:
    """Starts so many servers; the block begins when all answer."""
    port, metrics = free_port(), free_port()
    command = [sys.executable, "-m", "tools.serving", "--workers", str(workers), "--port", str(port)]
    command += ["--metrics", f"127.0.0.1:{metrics}", *options]
    here = {"ATTENTION_LAB_RUNS": str(folder / "runs"), "ATTENTION_LAB_DATA": str(folder / "data")}
    log = folder / "serving.txt"
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | here, stdout=out, stderr=out)
    found = Served(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{metrics}", process, log)
    try:
        until(lambda: answers(found.url), lambda: log.read_text())
        yield found
    finally:
        process.terminate()
        process.wait(timeout=60)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def until(holds: Callable[[], bool], told: Callable[[], object]) -> None:
    """Waits until something holds. Raises AssertionError with what is `told` if it never does."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, told()
        time.sleep(0.1)
