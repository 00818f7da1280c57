"""Whether a slider waits while another visitor's long text is read: `make bench-load`.

    python -m benchmarks.long_beside [--tokens 32768] [--changes 40]

One visitor moves a slider of a lab part. The other has a document read all the while, a new one every few
seconds, so that reading never ends. The same changes without anybody beside come first, on the same server.
"""

import argparse
import asyncio
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks.percentile import percentile
from benchmarks.setting import print_table
from benchmarks.visitors import Visitor, random_value
from tools.background_servers import serving_the_app

AT_MOST_MORE_MS = 200
PAGE, SLIDER = "masks", "Words"
PAUSE_SECONDS = 0.5
READ_SECONDS = 20.0
"""A document of 32,768 tokens takes longer on two cores."""


@dataclass
class Reader(Visitor):
    """A visitor of the page of long texts. told: what the page says of how far it is."""

    field: str = ""
    told: str = ""

    def read(self, answer: ForwardMsg) -> None:
        super().read(answer)
        if answer.WhichOneof("type") == "delta" and answer.delta.WhichOneof("type") == "new_element":
            element = answer.delta.new_element
            if element.WhichOneof("type") == "text_area":
                self.field = element.text_area.id
            if element.WhichOneof("type") == "progress":
                self.told = element.progress.text

    async def give(self, text: str) -> None:
        """Has another document read. Raises RuntimeError where the page does not begin to."""
        self.told = ""
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add(id=self.field)
        state.string_value = text
        await self.rerun(message)
        if not self.told:
            raise RuntimeError("the page of long texts does not read the document")


async def socket(url: str) -> ClientConnection:
    address = "ws" + url.removeprefix("http") + "/_stcore/stream"
    return await connect(
        address, max_size=None, ping_interval=None, subprotocols=[Subprotocol("streamlit")]
    )  # fmt: skip


async def keep_reading(url: str, tokens: int, begun: list[float]) -> None:
    reader = Reader(await socket(url), "model=untrained", None, page="documents")
    await reader.load()
    for number in range(1_000):
        await reader.give(f"document{number} " + "to be or not to be " * ((tokens - 1) // 6))
        begun.append(time.perf_counter())
        await asyncio.sleep(READ_SECONDS)


async def moved(visitor: Visitor, changes: int) -> list[float]:
    """Seconds from each change of the slider to the end of the answer."""
    generator, seconds = random.Random(0), list[float]()
    for _ in range(changes):
        await asyncio.sleep(PAUSE_SECONDS)
        assert visitor.slider is not None
        value = random_value(visitor.slider, generator)
        start = time.perf_counter()
        await visitor.move_slider(value)
        seconds.append(time.perf_counter() - start)
    return seconds


async def measured(url: str, tokens: int, changes: int) -> tuple[list[float], list[float], int]:
    """Seconds of the changes alone and beside a document that is read, and how many were begun."""
    visitor = Visitor(await socket(url), "", SLIDER, page=PAGE)
    await visitor.load()
    await moved(visitor, 5)
    alone = await moved(visitor, changes)
    begun: list[float] = []
    reading = asyncio.create_task(keep_reading(url, tokens, begun))
    while not begun:
        await asyncio.sleep(0.1)
        if reading.done():
            await reading
    beside = await moved(visitor, changes)
    if reading.done():
        await reading
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    return alone, beside, len(begun)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=32_768)
    parser.add_argument("--changes", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving_the_app(Path(folder) / "log.txt") as server:
        *both, n_begun = asyncio.run(measured(server.url, options.tokens, options.changes))
    rows, p95s = [], []
    for name, seconds in zip(("nobody beside", f"beside a document, {n_begun} begun"), both, strict=True):
        median, p95 = (1_000 * percentile(seconds, percent) for percent in (50, 95))
        p95s.append(p95)
        rows.append([name, f"{median:.0f}", f"{p95:.0f}"])
    more = p95s[1] - p95s[0]
    within = "yes" if more <= AT_MOST_MORE_MS else "NO"
    rows.append(["longer", "", f"{more:.0f} (≤ {AT_MOST_MORE_MS}: {within})"])
    title = f"A slider of a lab part while another visitor's {options.tokens:,} tokens are read"
    print_table(title, ["", "median ms", "p95 ms"], rows)


if __name__ == "__main__":
    main()
