"""The servers' metrics for Prometheus, and the answer to whether all is well, on a second port."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from models.runs.folder import list_runs
from models.runs.status import read_status
from tools.serving.workers import Place


class _Servers:
    """Health, memory and restarts of each server, and the runs in the folder that all share."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("attention_lab_server_up", "1 where a server answers.", labels=["server"])
        memory = GaugeMetricFamily(
            "attention_lab_memory_bytes", "Resident memory of a server.", labels=["server"]
        )
        restarts = CounterMetricFamily(
            "attention_lab_restarts", "How often a server was started anew.", labels=["server"]
        )
        for at, place in enumerate(self._places):
            up.add_metric([str(at)], float(place.worker.look()))
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
        now = time.monotonic()
        told = [
            {
                "port": place.worker.port,
                "well": place.worker.look(),
                "seconds": round(now - place.worker.started),
                "restarts": place.restarts,
            }
            for place in places
        ]
        return JSONResponse({"servers": told}, 200 if any(each["well"] for each in told) else 503)

    app = Starlette(routes=[Route("/metrics", metrics), Route("/health", health)])
    server = uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
