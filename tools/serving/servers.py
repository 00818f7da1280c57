"""Runs the servers behind the proxy, restarts those that end or hang, and serves their metrics."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import psutil
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from attention_lab.models.runs.folder import list_runs, read_status
from tools.background_servers import ROOT, free_port
from tools.serving.proxy import HEALTH

START_SECONDS = 120.0
HANGS_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0


@dataclass
class Worker:
    """One server: its process, and when it last said that it was well."""

    port: int
    process: subprocess.Popen[bytes]
    started: float = field(default_factory=time.monotonic)
    well_at: float | None = None
    computed: float = 0.0
    moved_at: float = field(default_factory=time.monotonic)

    @classmethod
    def start(cls, port: int, settings: Mapping[str, str]) -> Worker:
        """Starts a server. settings: variables of its environment."""
        command = [sys.executable, "-m", "attention_lab", "--port", str(port)]
        return cls(port, subprocess.Popen(command, env=os.environ | settings, cwd=ROOT))

    def answers_now(self) -> bool:
        """Asks the server whether it is well; a hung one is asked again, until it has a `problem`."""
        if self.process.poll() is None and _answers(self.port):
            self.well_at = time.monotonic()
            return True
        return False

    def problem(self) -> str | None:
        """Why it is lost: its process has ended, or has not answered for too long. None where it is not, or
        still starts: on a busy machine this may take minutes, in which it computes little.
        """
        if (status := self.process.poll()) is not None:
            return f"The server at port {self.port} has ended, with {status}; its lines above say why."
        now = time.monotonic()
        if self.well_at is not None:
            silent, most = now - self.well_at, HANGS_SECONDS
        else:
            with suppress(psutil.Error):
                seconds = sum(psutil.Process(self.process.pid).cpu_times()[:2])
                if seconds > self.computed:
                    self.computed, self.moved_at = seconds, now
            silent, most = now - self.moved_at, START_SECONDS
        if silent <= most:
            return None
        what = "not answered" if self.well_at else "neither answered nor computed"
        return f"The server at port {self.port} has {what} for {silent:.0f} seconds; it is stopped."

    @property
    def resident(self) -> int:
        """Bytes of memory that its process holds; 0 where it has just ended."""
        try:
            return int(psutil.Process(self.process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def is_too_large(self, limit: int) -> bool:
        """Whether it holds more than `limit` bytes although it had time to release what its start took."""
        return time.monotonic() - self.started > STEADY_SECONDS and self.resident > limit

    def stop(self, seconds: float = 10.0) -> None:
        """Asks it to end, and ends it after so many seconds."""
        self.process.terminate()
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Place:
    """The place of one server, whichever process fills it now."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self.worker = Worker.start(free_port(), settings)
        self.restarts = 0
        self._failures = 0
        self._not_before = 0.0

    def replace(self) -> Worker:
        """Starts a new server beside the present one, which goes on; returns the old one."""
        before, self.worker = self.worker, Worker.start(free_port(), self._settings)
        return before

    def mend(self) -> None:
        """Starts a lost server anew where it was, after a pause that doubles while it keeps failing."""
        worker = self.worker
        if worker.answers_now() and time.monotonic() - worker.started > STEADY_SECONDS:
            self._failures = 0
        problem = worker.problem()
        if problem is None or time.monotonic() < self._not_before:
            return
        print(problem, flush=True)
        worker.stop()
        self.worker = Worker.start(worker.port, self._settings)
        self.restarts += 1
        self._not_before = time.monotonic() + min(LONGEST_PAUSE_SECONDS, 2.0**self._failures)
        self._failures += 1


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{HEALTH}", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


# Metrics for Prometheus, and the answer to a health check, on a second port


class _Servers:
    """Health, memory and restarts of each server, and the runs in the folder that all share."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places

    def collect(self) -> Iterator[Metric]:
        each = ["server"]
        up = GaugeMetricFamily("attention_lab_server_up", "1 where a server answers.", labels=each)
        memory = GaugeMetricFamily("attention_lab_memory_bytes", "Resident memory of a server.", labels=each)
        began = "How often a server was started anew."
        restarts = CounterMetricFamily("attention_lab_restarts", began, labels=each)
        for at, place in enumerate(self._places):
            up.add_metric([str(at)], float(place.worker.answers_now()))
            restarts.add_metric([str(at)], place.restarts)
            memory.add_metric([str(at)], place.worker.resident)
        runs = GaugeMetricFamily("attention_lab_runs", "Training runs by their state.", labels=["state"])
        for state, count in Counter(read_status(run.path).state for run in list_runs()).items():
            runs.add_metric([state], count)
        yield from (up, memory, restarts, runs)


def serve_metrics(places: Sequence[Place], host: str, port: int) -> None:
    """Answers /metrics and /health there, on a thread that ends with the process."""

    def metrics(_request: Request) -> Response:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
        registry.register(_Servers(places))
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    def health(_request: Request) -> JSONResponse:
        now, states = time.monotonic(), []
        for place in places:
            worker, seconds = place.worker, round(now - place.worker.started)
            well = {"port": worker.port, "well": worker.answers_now()}
            states.append({**well, "seconds": seconds, "restarts": place.restarts})
        return JSONResponse({"servers": states}, 200 if any(each["well"] for each in states) else 503)

    app = Starlette(routes=[Route("/metrics", metrics), Route("/health", health)])
    server = uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
