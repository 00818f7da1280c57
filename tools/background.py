"""Servers that run while a test or a measurement lasts."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    url: str
    process: subprocess.Popen[bytes]
    log: Path


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(command: Sequence[str], port: int, folder: Path, log: Path, **settings: str) -> Iterator[Server]:
    """Run `command` in `folder` until the block ends; enter the block when the Streamlit at `port` answers.

    `settings` are variables of its environment.

    Raises RuntimeError with what the server printed if it stops or does not answer within a minute.
    """
    # The Streamlit of a measurement must not see settings meant for another one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    environment |= settings
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT)
    server = Server(f"http://127.0.0.1:{port}", process, log)
    try:
        wait_until_healthy(server)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextlib.contextmanager
def serving_the_app(log: Path, **settings: str) -> Iterator[Server]:
    """This folder's app, started as `make run` starts it, on a free port; its training runs are its own.

    `settings` are more variables of its environment.
    """
    port = free_port()
    here = {"ATTENTION_LAB_RUNS": str(log.parent / "runs"), "ATTENTION_LAB_DATA": str(log.parent / "data")}
    command = [sys.executable, str(ROOT / "tools" / "serve.py"), "--port", str(port)]
    with serving(command, port, ROOT, log, **here, **settings) as server:
        yield server


def wait_until_healthy(server: Server) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the server at {server.url} did not start; it printed:\n{server.log.read_text()}")
