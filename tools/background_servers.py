"""Servers that run while a test or a measurement lasts: one, or several behind one address as for a class."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 120.0
PATIENCE_SECONDS = 120.0
AS_A_SHELL = "-Sn 1024"
"""Of `ulimit`: the files that what is started may open until it asks for more, as in most shells."""


@dataclass(frozen=True)
class Server:
    """What was started, and where it answers."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path


@dataclass(frozen=True)
class Served(Server):
    """Several servers behind one address; metrics: the address of their numbers."""

    metrics: str

    def servers(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.metrics}/health", timeout=10) as answer:
            return list(json.load(answer)["servers"])

    def kill(self, port: int) -> None:
        """Kills the server at a port, as the system kills one that takes too much memory."""
        for process in psutil.Process(self.process.pid).children():
            if process.status() != psutil.STATUS_ZOMBIE and f"{port}" in process.cmdline():
                process.send_signal(signal.SIGKILL)
                return
        raise LookupError(f"no server at port {port}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(command: Sequence[str], port: int, folder: Path, log: Path, **settings: str) -> Iterator[Server]:
    """Run `command` in `folder` until the block ends; enter the block when the Streamlit at `port` answers.

    `settings` are variables of its environment.

    Raises RuntimeError with what the server printed if it stops or does not answer within two minutes.
    """
    # The Streamlit of a measurement must not see settings meant for another one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    with _started(command, folder, log, environment | settings) as process:
        server = Server(f"http://127.0.0.1:{port}", process, log)
        end = time.monotonic() + START_SECONDS
        while not answers(f"{server.url}/_stcore/health"):
            if time.monotonic() > end or process.poll() is not None:
                printed = log.read_text()
                raise RuntimeError(f"the server at {server.url} did not start; it printed:\n{printed}")
            time.sleep(0.05)
        yield server


@contextlib.contextmanager
def serving_the_app(log: Path, *, files: str = AS_A_SHELL, **settings: str) -> Iterator[Server]:
    """This folder's app, started as `make run` starts it, on a free port; its training runs are its own.

    `files` are options of `ulimit`, `settings` more variables of its environment.
    """
    port = free_port()
    command = [sys.executable, "-m", "attention_lab", "--port", str(port)]
    with serving(under(files, command), port, ROOT, log, **_own_folders(log.parent), **settings) as server:
        yield server


@contextlib.contextmanager
def served(folder: Path, *options: str, workers: int = 2) -> Iterator[Served]:
    """Starts so many servers, as `make serve` does; the block begins when all answer."""
    port, metrics = free_port(), free_port()
    command = [sys.executable, "-m", "tools.serving", "--workers", str(workers), "--port", str(port)]
    command += ["--metrics", f"127.0.0.1:{metrics}", *options]
    log = folder / "serving.txt"
    with _started(under(AS_A_SHELL, command), ROOT, log, os.environ | _own_folders(folder)) as process:
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(url), lambda: log.read_text())
        yield Served(url, process, log, f"http://127.0.0.1:{metrics}")


def under(files: str, command: Sequence[str]) -> list[str]:
    """The command with these options of `ulimit`."""
    return ["sh", "-c", f'ulimit {files}; exec "$@"', "sh", *command]


@contextlib.contextmanager
def _started(
    command: Sequence[str], folder: Path, log: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield process
        if (code := process.poll()) is not None:
            raise RuntimeError(f"{command} ended by itself, with {code}; it printed:\n{log.read_text()}")
    finally:
        process.terminate()
        process.wait(timeout=60)


def _own_folders(folder: Path) -> dict[str, str]:
    return {"ATTENTION_LAB_RUNS": str(folder / "runs"), "ATTENTION_LAB_DATA": str(folder / "data")}


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def until(holds: Callable[[], bool], report: Callable[[], object]) -> None:
    """Waits until something holds. Raises AssertionError with the `report` if it never does."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, report()
        time.sleep(0.1)


def notebooks_environment(folder: Path) -> dict[str, str]:
    """Of a server of notebooks that keeps all in a folder and imports the package from this repository."""
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    return os.environ | own | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "ipython")}


@contextlib.contextmanager
def serving_notebooks(module: str, *options: str, folder: Path) -> Iterator[str]:
    """The address of a server of notebooks, JupyterLab's or marimo's."""
    port, log = free_port(), folder / "log.txt"
    command = [sys.executable, "-m", module, *options, "--port", str(port)]
    with _started(command, folder, log, notebooks_environment(folder)):
        end = time.monotonic() + START_SECONDS
        while not answers(f"http://127.0.0.1:{port}"):
            if time.monotonic() > end:
                raise TimeoutError(f"{module} does not answer:\n{log.read_text()}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
