"""Serve the app to a class: several servers behind one address.

    python -m tools.serving --workers 4 [--host 0.0.0.0] [--port 8501] [--metrics 127.0.0.1:9102]

SIGHUP starts all servers anew, one after the other, and cuts nobody off in the middle: after `--drain`
seconds their visitors' browsers connect to the new ones. The same happens to a server that holds more memory
than `server_mb` of the limits. SIGTERM or Ctrl+C stops everything.
"""

import argparse
import os
import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from attention_lab.__main__ import is_loopback, why_not
from attention_lab.models.byte_units import MB
from attention_lab.models.limits import in_force
from attention_lab.models.runs.processes import SERVING, this_process
from tools.serving.proxy import LOOPBACK, TRUSTED, Proxy, trusted_networks
from tools.serving.servers import Place, serve_metrics

MOST_WORKERS = 64
LOOK_SECONDS = 1.0
MOST_BYTES = in_force().server_mb * MB


class Serving:
    """The servers and the proxy before them."""

    def __init__(self, host: str, port: int, workers: int, drain: int, folder: Path) -> None:
        self.drain = drain
        self.settings = {
            # One secret for all: a browser's cookies hold on each of them.
            "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
            "PROMETHEUS_MULTIPROC_DIR": str(folder),
            TRUSTED: LOOPBACK,  # to a server, the proxy is Caddy
            SERVING: str(this_process()),  # runs go on while a server is started anew
        } | ({} if is_loopback(host) else {"ATTENTION_LAB_CLASS": "1"})
        self.places = [Place(self.settings) for _ in range(workers)]
        self.proxy = Proxy(host, port, folder, drain_seconds=drain)
        self.stopping, self.renewing = threading.Event(), threading.Event()

    def run(self) -> None:
        """Serves until it is told to stop."""
        try:
            if not self._start_well(self.places):
                sys.exit(0 if self.stopping.is_set() else "A server did not start; the lines above say why.")
            self.proxy.start(self.ports())
            while not self.stopping.wait(LOOK_SECONDS):
                if self.proxy.process and self.proxy.process.poll() is not None:
                    sys.exit("Caddy has ended; its lines above say why.")
                outdated = self.places if self.renewing.is_set() else []
                self.renewing.clear()
                for place in self.places:
                    place.mend()
                    if place in outdated or place.worker.is_too_large(MOST_BYTES):
                        self.renew(place)
        finally:
            self.proxy.stop()
            for place in self.places:
                place.worker.stop()

    def ports(self) -> list[int]:
        return [place.worker.port for place in self.places]

    def renew(self, place: Place) -> None:
        """Starts a server anew; the old one ends once its visitors have had time to leave."""
        before = place.replace()
        if not (self._start_well([place]) and self.proxy.change(self.ports())):
            print("The new server did not start; the lines above say why. The old one goes on.", flush=True)
            place.worker.stop()
            place.worker = before
            return
        self.stopping.wait(self.drain)
        before.stop()

    def _start_well(self, places: Sequence[Place]) -> bool:
        """Waits for these servers; returns whether all of them answer."""
        while not all(place.worker.answers_now() for place in places):
            problems = list(filter(None, (place.worker.problem() for place in places)))
            if problems:
                print(*problems, sep="\n", flush=True)
            if problems or self.stopping.wait(0.2):
                return False
        return True


def main() -> None:
    options = arguments()
    metrics_host, _, metrics_port = options.metrics.rpartition(":")
    try:
        trusted_networks()
    except ValueError as error:
        sys.exit(str(error))
    problem = why_not(options.host, str(options.port)) or why_not(metrics_host, metrics_port)
    if problem:
        sys.exit(problem)
    with tempfile.TemporaryDirectory(prefix="attention-lab-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # before prometheus_client is imported
        serving = Serving(options.host, options.port, options.workers, options.drain, Path(folder))

        def on_signal(number: int, _frame: FrameType | None) -> None:
            (serving.renewing if number == signal.SIGHUP else serving.stopping).set()

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, on_signal)
        serve_metrics(serving.places, metrics_host, int(metrics_port))
        print(f"Attention Lab: http://{options.host}:{options.port} ({options.workers} servers)", flush=True)
        serving.run()


def arguments() -> argparse.Namespace:
    as_it_stands = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_it_stands)
    parser.add_argument("--workers", type=_count, default=2, help=f"servers, at most {MOST_WORKERS}")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--metrics", default="127.0.0.1:9102", help="where /metrics and /health are served")
    parser.add_argument("--drain", type=int, default=30, help="seconds that a visitor of an old server has")
    return parser.parse_args()


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST_WORKERS}")
    return int(text)


if __name__ == "__main__":
    main()
