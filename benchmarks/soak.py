"""Many visitors wander over all pages for an hour: `make soak`.

    python -m benchmarks.soak [--visitors 50] [--minutes 60] [--seed 0]

Prints the server's memory, threads and open files every minute; what a visitor did before a traceback; and in
the end whether more is left than should be. The exit status is 1 if anything was wrong.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks.setting import print_table
from benchmarks.wanderer import Wanderer
from tools.background_servers import Server, serving_the_app

AT_MOST_MORE_MB = 100
AT_MOST_MORE_LEFT = 8  # threads or files: the server's own pools grow with use, up to a few
SECONDS_OF_THOUGHT = (0.2, 3.0)
REMEMBERED = 5  # steps before a fault
SETTLE_SECONDS = 150.0  # Streamlit keeps the session of a visitor who has left for at least two minutes


@dataclass(frozen=True)
class Use:
    """What the server holds at a moment."""

    minutes: float
    megabytes: float
    threads: int
    files: int
    steps: int


@dataclass
class Soak:
    """What was seen of the server, and every fault with the steps that led to it."""

    server: Server
    seconds: float
    settle: float = SETTLE_SECONDS
    uses: list[Use] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self) -> None:
        self.start = time.monotonic()
        self.process = psutil.Process(self.server.process.pid)

    @property
    def over(self) -> bool:
        return time.monotonic() - self.start > self.seconds

    def look(self) -> Use:
        with self.process.oneshot():
            use = Use(
                (time.monotonic() - self.start) / 60, self.process.memory_info().rss / 1e6,
                self.process.num_threads(), self.process.num_fds(), self.steps,
            )  # fmt: skip
        self.uses.append(use)
        return use

    def coming(self) -> connect:
        address = "ws" + self.server.url.removeprefix("http") + "/_stcore/stream"
        return connect(address, max_size=None, ping_interval=None, subprotocols=[Subprotocol("streamlit")])

    async def wander(self, generator: random.Random) -> None:
        """One visitor, who comes again when it has left."""
        while not self.over:
            done: deque[str] = deque(maxlen=REMEMBERED)
            try:
                async with self.coming() as socket:
                    visitor = Wanderer(socket, generator)
                    while not self.over and generator.random() > 0.02:
                        done.append(await visitor.step())
                        self.steps += 1
                        if visitor.faults:
                            raise RuntimeError(visitor.faults[0])
                        await asyncio.sleep(generator.uniform(*SECONDS_OF_THOUGHT))
            except Exception as error:  # this is a finding; the other visitors go on
                self.faults.append(f"{type(error).__name__}: {error}\n    after " + "\n    then ".join(done))

    async def watch(self) -> None:
        while not self.over:
            await asyncio.sleep(min(60.0, self.seconds / 10))
            use = self.look()
            print(f"{use.minutes:5.1f} min: {use.megabytes:.0f} MB, {use.threads} threads, "
                  f"{use.files} files, {use.steps} steps, {len(self.faults)} faults", flush=True)  # fmt: skip

    async def everyone(self, visitors: int, seed: int) -> None:
        self.look()
        wandering = (self.wander(random.Random(seed * 1_000 + at)) for at in range(visitors))
        await asyncio.gather(self.watch(), *wandering)
        await asyncio.sleep(self.settle)
        async with self.coming() as socket:  # Streamlit lets go of those who have left when another comes
            await Wanderer(socket, random.Random(seed)).go("")
        self.look()

    def complaints(self) -> list[str]:
        """What was wrong, in sentences: faults, growth after the first tenth, what visitors left behind."""
        tenth = next(use for use in self.uses if use.minutes >= self.seconds / 600)
        last = self.uses[-1]
        found = list(self.faults)
        if last.megabytes - tenth.megabytes > AT_MOST_MORE_MB:
            found.append(f"{last.megabytes - tenth.megabytes:.0f} MB more than after the first tenth")
        for name in ("threads", "files"):
            more = getattr(last, name) - getattr(tenth, name)
            if more > AT_MOST_MORE_LEFT:
                found.append(f"{more} {name} more than after the first tenth, though everyone has left")
        return found


def soak(visitors: int, seconds: float, seed: int, folder: Path, settle: float = SETTLE_SECONDS) -> Soak:
    """Lets visitors wander. settle: seconds after which nothing of them should be left."""
    with serving_the_app(folder / "soak.txt") as server:
        found = Soak(server, seconds, settle)
        asyncio.run(found.everyone(visitors, seed))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = soak(options.visitors, 60 * options.minutes, options.seed, Path(folder))
    rows = [
        [f"{use.minutes:.1f}", f"{use.megabytes:.0f}", use.threads, use.files, use.steps]
        for use in found.uses
    ]
    print_table("Soak", ["minutes", "MB", "threads", "files", "steps"], rows)
    complaints = found.complaints()
    print("\n" + ("\n".join(complaints) or "Nothing was wrong."))
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
