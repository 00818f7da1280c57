"""How a Streamlit app answers many visitors at once, over the same websocket that a browser uses; Explore, by
its route.

    python -m benchmarks.visitors http://127.0.0.1:8501 --users 100 --query "model=untrained" --slider Seed

Visitors arrive 20 a second. Each loads the page, then moves one slider again and again with about two
seconds of thought in between. It prints the time from a change to the end of the script run it caused, or to
the route's answer; what came over the wire, and every error. The exit status is 1 if there was an error or
nothing to measure.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from attention_lab.viz_core.viewer.message import header_of
from benchmarks.percentile import percentile

SECONDS_BETWEEN_ARRIVALS = 0.05
SECONDS_OF_THOUGHT = (1.0, 3.0)
PATIENCE_SECONDS = 120.0
_threads = ThreadPoolExecutor(500)
"""A visitor waits in each for an answer: Python's own client takes less of the processors than others."""


@dataclass
class Report:
    """Seconds, bytes and messages of every change of every visitor, and what went wrong."""

    users: int
    seconds: list[float] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return bool(self.errors) or not self.seconds

    def percentile_ms(self, percent: float) -> float:
        """Percentile of the answer times in milliseconds; ValueError if there are none."""
        return 1000 * percentile(self.seconds, percent)

    def __str__(self) -> str:
        errors = f"{len(self.errors)} errors" + "".join(
            f"\n  {error}" for error in sorted(set(self.errors))[:5]
        )
        if not self.seconds:
            return f"{self.users} visitors: nothing measured, {errors}"
        p50, p95, most = (self.percentile_ms(percent) for percent in (50, 95, 100))
        return (
            f"{self.users} visitors, {len(self.seconds)} changes: p50 {p50:.0f} ms, p95 {p95:.0f} ms, "
            f"max {most:.0f} ms, {statistics.median(self.received) / 1000:.1f} kB in "
            f"{statistics.median(self.messages):.0f} messages a change, {errors}"
        )


@dataclass
class Visitor:
    """One connection, and the slider that its page showed last; the page by the name in its address.

    asked: what Explore shows, and `setting`, which of its settings the slider is.
    """

    socket: ClientConnection
    query: str
    label: str | None
    slider: Slider | None = None
    fragment: str = ""
    page: str = ""
    n_messages: int = 0  # since the last change
    asked: dict[str, Any] | None = None
    setting: str = ""
    connection: HTTPConnection | None = None

    async def load(self) -> int:
        return await self.rerun(BackMsg())

    async def move_slider(self, value: float) -> int:
        if self.slider is None:
            raise LookupError(f"the page shows no slider{f' labelled {self.label!r}' if self.label else ''}")
        if self.asked is not None:
            return await self.ask(self.asked | {"turned": {self.setting: int(value)}})
        message = BackMsg()
        message.rerun_script.fragment_id = self.fragment
        state = message.rerun_script.widget_states.widgets.add(id=self.slider.id)
        state.double_array_value.data.append(value)
        return await self.rerun(message)

    async def ask(self, question: dict[str, Any]) -> int:
        """Asks Explore's route, waits for the whole answer and returns its bytes."""
        assert self.socket.request is not None
        if self.connection is None:
            self.connection = HTTPConnection(self.socket.request.headers["Host"], timeout=PATIENCE_SECONDS)
        content = await asyncio.get_running_loop().run_in_executor(_threads, self._post, json.dumps(question))
        self.n_messages = 1
        return len(content)

    def _post(self, body: str) -> bytes:
        assert self.connection is not None
        headers = {"Content-Type": "application/json", "X-Window": str(id(self))}
        self.connection.request("POST", "/explore/answer", body, headers)
        answer = self.connection.getresponse()
        content = whole = answer.read()
        while answer.status == 200 and content.startswith(b"{"):  # what a long answer says before its message
            line, _, content = content.partition(b"\n")
            if b'"problem"' in line:
                raise RuntimeError(line.decode())
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {whole[:200].decode()}")
        return whole

    async def rerun(self, message: BackMsg) -> int:
        """Send `message`, wait until the script run it causes has ended, return the bytes received."""
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        await self.socket.send(message.SerializeToString())
        received = self.n_messages = 0
        while True:
            raw = await asyncio.wait_for(self.socket.recv(), PATIENCE_SECONDS)
            received, self.n_messages = received + len(raw), self.n_messages + 1
            answer = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
            self.read(answer)
            ended = answer.WhichOneof("type") == "script_finished"
            if ended and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return received

    def read(self, answer: ForwardMsg) -> None:
        if answer.WhichOneof("type") != "delta" or answer.delta.WhichOneof("type") != "new_element":
            return
        element = answer.delta.new_element
        if element.WhichOneof("type") == "exception":
            raise RuntimeError(f"{element.exception.type}: {element.exception.message}")
        if element.WhichOneof("type") == "slider" and self.is_wanted(element.slider):
            self.slider, self.fragment = element.slider, answer.delta.fragment_id
        if element.WhichOneof("type") == "bidi_component" and element.bidi_component.bytes:
            self.read_stage(header_of(element.bidi_component.bytes))

    def read_stage(self, header: dict[str, Any]) -> None:
        for setting in header.get("controls", {}).get("settings", []):
            low, high, label = setting.get("low", 0), setting.get("high", 0), setting["label"]
            if setting["control"] == "slider" and self.label in (None, label):
                self.asked, self.setting = {**header["asked"], "has": header["has"]}, setting["name"]
                self.slider = Slider(label=label, min=low, max=high, step=1)
                return

    def is_wanted(self, slider: Slider) -> bool:
        if self.slider is not None:
            return slider.id == self.slider.id
        return self.label in (None, slider.label)


def random_value(slider: Slider, generator: random.Random) -> float:
    steps = int((slider.max - slider.min) / (slider.step or 1))
    return slider.min + generator.randint(0, steps) * (slider.step or 1)


async def visit(
    address: str, number: int, changes: int, query: str, label: str | None, report: Report
) -> None:
    generator = random.Random(number)
    await asyncio.sleep(number * SECONDS_BETWEEN_ARRIVALS)
    connecting = connect(
        address, max_size=None, ping_interval=None, open_timeout=60, subprotocols=[Subprotocol("streamlit")]
    )  # fmt: skip
    try:
        async with connecting as socket:
            visitor = Visitor(socket, query, label)
            await visitor.load()
            for _ in range(changes):
                await asyncio.sleep(generator.uniform(*SECONDS_OF_THOUGHT))
                value = random_value(visitor.slider, generator) if visitor.slider else 0.0
                start = time.perf_counter()
                received = await visitor.move_slider(value)
                report.seconds.append(time.perf_counter() - start)
                report.received.append(received)
                report.messages.append(visitor.n_messages)
    except Exception as error:  # whatever stops a visitor is a finding, and must not stop the others
        report.errors.append(f"{type(error).__name__}: {error}"[:200])


def measure(url: str, *, users: int, changes: int, query: str = "", slider: str | None = None) -> Report:
    """Let `users` visitors change the slider labelled `slider` (None: the first) `changes` times each."""
    address = "ws" + url.removeprefix("http").rstrip("/") + "/_stcore/stream"
    report = Report(users)

    async def everyone() -> None:
        await asyncio.gather(*(visit(address, i, changes, query, slider, report) for i in range(users)))

    asyncio.run(everyone())
    return report


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", help="the app's address, e.g. http://127.0.0.1:8501")
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--changes", type=int, default=10, help="changes by each visitor")
    parser.add_argument("--query", default="", help="query string of the page, without the question mark")
    parser.add_argument(
        "--slider", help="label of the slider to move (default: the first one the page shows)"
    )
    options = parser.parse_args()
    report = measure(
        options.url, users=options.users, changes=options.changes, query=options.query, slider=options.slider
    )
    print(report)
    return int(report.failed)


if __name__ == "__main__":
    sys.exit(main())
