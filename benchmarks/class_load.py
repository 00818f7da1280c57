"""What a class asks of a small server: `make bench-load`.

    python -m benchmarks.class_load [--visitors 200] [--changes 10] [--workers 1 2]

Each visitor changes a control every two seconds (benchmarks/visitors.py) on servers behind a proxy, as
`make serve` starts them. The visitors run on the same machine, so their own processor time is told, too.
"""

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import servers
from benchmarks.setting import print_table, verdict
from benchmarks.visitors import Report, measure
from tools.background_servers import Served, Server, served

AT_MOST_P95_MS = 500
CHANGES_A_SECOND = 0.5  # of one visitor
FIRST_VISITORS = 20
LARGE_CLASS = 500
BUSY = 0.7  # the share of its processors that a server should use at most, so that nobody waits long


@dataclass(frozen=True)
class Load:
    """What was measured on so many servers."""

    workers: int
    report: Report
    cpu_ms: float  # of the servers and the proxy, per change
    own_cpu_ms: float  # of the visitors, per change
    megabytes: float  # more than before the visitors came

    @property
    def row(self) -> list[str]:
        seconds = self.report.seconds
        p95 = verdict(self.report.percentile_ms(95), AT_MOST_P95_MS) if seconds else "nothing measured"
        numbers = (self.cpu_ms, self.own_cpu_ms, self.megabytes / self.report.users)
        return [
            f"{self.workers} servers", p95, f"{len(self.report.errors)}", *(f"{n:.1f}" for n in numbers)
        ]  # fmt: skip


def load(workers: int, visitors: int, changes: int, folder: Path) -> Load:
    query = servers.untrained(32)
    with served(folder, workers=workers) as found:
        measure(found.url, users=FIRST_VISITORS, changes=1, query=query, slider="Seed")
        cpu, own, memory = processor_seconds(found), time.process_time(), megabytes(found)
        report = measure(found.url, users=visitors, changes=changes, query=query, slider="Seed")
        done = max(1, len(report.seconds))
        cpu, own = processor_seconds(found) - cpu, time.process_time() - own
        return Load(workers, report, 1e3 * cpu / done, 1e3 * own / done, megabytes(found) - memory)


def processor_seconds(found: Server) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in everything(found))


def megabytes(found: Served) -> float:
    return sum(process.memory_info().rss for process in everything(found)) / 1e6


def everything(found: Server) -> list[psutil.Process]:
    """The servers, the proxy and what watches over them."""
    first = psutil.Process(found.process.pid)
    return [first, *first.children(recursive=True)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--visitors", type=int, default=200)
    parser.add_argument("--changes", type=int, default=10, help="changes by each visitor")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    found = []
    for workers in options.workers:
        with tempfile.TemporaryDirectory() as folder:
            found.append(load(workers, options.visitors, options.changes, Path(folder)))
            print(found[-1].report, flush=True)
    title = f"{options.visitors} visitors, each changing a control every 2 s, on {os.cpu_count()} processors"
    columns = ["", "p95, ms", "errors", "CPU ms a change", "the visitors' own", "MB a visitor"]
    print_table(title, columns, [each.row for each in found])
    best = min(found, key=lambda each: each.cpu_ms)
    needed = LARGE_CLASS * CHANGES_A_SECOND * best.cpu_ms / 1e3 / BUSY
    print(
        f"\nA class of {LARGE_CLASS}: {LARGE_CLASS * CHANGES_A_SECOND:.0f} changes a second at "
        f"{best.cpu_ms:.0f} ms of a processor each keep {needed:.1f} processors {BUSY:.0%} busy."
    )


if __name__ == "__main__":
    main()
