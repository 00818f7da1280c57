"""A visitor without a browser, who wanders over all pages and turns everything that can be turned."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection

PAGES = (
    "", "attention", "softmax", "heads", "masks", "positions", "block", "translation", "objective", "design",
    "train", "runs", "documents", "findings",
)  # fmt: skip
TEXTS = (
    "the animal did not cross the street because it was too tired", "", " ", "it", "a " * 60, "le chat noir",
    "<script>alert(1)</script>", "![x](http://example.org/x.png)", "null\x00byte", "\u202edlrow", "😀 👩‍👩‍👧",
    "-1", "1e400", "NaN", "9" * 4_400, "[[[[", "0-1 1-2", "../../etc/passwd", "x" * 30_000,
)  # fmt: skip
PATIENCE_SECONDS = 120.0
ANOTHER_PAGE = 0.15  # of all steps
UNLIKELY = 0.1  # of the values: such as no widget of ours would send
LEFT_ALONE = ("Start", "Train further", "Resume", "Download")  # hours of training, megabytes of a network


class Wanderer:
    """One connection; `faults` holds every traceback that it was shown."""

    def __init__(self, socket: ClientConnection, generator: random.Random) -> None:
        self.socket, self.generator = socket, generator
        self.page = ""
        self.widgets: dict[str, tuple[str, Any, str]] = {}  # by id: kind, what was sent of it, its fragment
        self.fragments: set[str] = set()  # of the page as it is; a message from another is not answered
        self.faults: list[str] = []

    async def step(self) -> str:
        """Turns something, or goes to another page; what it did, in words."""
        if not self.widgets or self.generator.random() < ANOTHER_PAGE:
            return await self.go(self.generator.choice(PAGES))
        name = self.generator.choice(list(self.widgets))
        kind, widget, fragment = self.widgets[name]
        message = BackMsg()
        message.rerun_script.fragment_id = fragment if fragment in self.fragments else ""
        state = message.rerun_script.widget_states.widgets.add(id=name)
        said = VALUES[kind](widget, state, self.generator)
        await self.run(message)
        return f"{self.page or 'explore'}: {widget.label} = {said!r}"

    async def go(self, page: str) -> str:
        self.page = page
        self.widgets.clear()
        await self.run(BackMsg())
        return f"to {page or 'explore'}"

    async def run(self, message: BackMsg) -> None:
        message.rerun_script.page_name = self.page
        await self.socket.send(message.SerializeToString())
        while True:
            raw = await asyncio.wait_for(self.socket.recv(), PATIENCE_SECONDS)
            answer = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
            kind = answer.WhichOneof("type")
            if kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return
            if kind == "new_session" and not answer.metadata.run.fragment_ids:
                self.fragments.clear()
            if kind == "stop_auto_rerun":
                self.fragments.difference_update(answer.stop_auto_rerun.fragment_ids)
            if kind == "delta":
                self.fragments.add(answer.delta.fragment_id)
            if kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self.read(answer.delta.new_element, answer.delta.fragment_id)

    def read(self, element: Element, fragment: str) -> None:
        kind = str(element.WhichOneof("type"))
        found = getattr(element, kind)
        if kind == "exception":
            self.faults.append(f"{self.page or 'explore'}: {found.type}: {found.message[:200]}")
        elif kind in VALUES and not found.disabled and not found.label.startswith(LEFT_ALONE):
            self.widgets[found.id] = (kind, found, fragment)


def _text(_widget: Any, state: WidgetState, generator: random.Random) -> str:
    state.string_value = generator.choice(TEXTS)
    return state.string_value[:40]


def _option(widget: Any, state: WidgetState, generator: random.Random) -> str:
    unlikely = generator.random() < UNLIKELY
    state.string_value = generator.choice(TEXTS if unlikely else list(widget.options) or TEXTS)
    return state.string_value[:40]


def _pill(widget: Any, state: WidgetState, generator: random.Random) -> str:
    chosen = generator.choice([option.content for option in widget.options])
    state.string_array_value.data.append("99" if generator.random() < UNLIKELY else chosen)
    return chosen


def _number(widget: Any, state: WidgetState, generator: random.Random) -> float:
    usual = [widget.min if widget.has_min else 0.0, widget.max if widget.has_max else 10.0, widget.default]
    odd = [float("nan"), float("inf"), -1e300, 0.5]
    state.double_value = generator.choice(odd if generator.random() < UNLIKELY else usual)
    return state.double_value


def _slider(widget: Any, state: WidgetState, generator: random.Random) -> Any:
    if widget.options:
        state.string_array_value.data.append(generator.choice(list(widget.options)))
        return state.string_array_value.data[0]
    steps = int((widget.max - widget.min) / (widget.step or 1))
    value = widget.min + generator.randint(0, steps) * (widget.step or 1)
    state.double_array_value.data.append(float("nan") if generator.random() < UNLIKELY else value)
    return value


def _press(_widget: Any, state: WidgetState, _generator: random.Random) -> str:
    state.trigger_value = True
    return "pressed"


def _tick(_widget: Any, state: WidgetState, generator: random.Random) -> bool:
    state.bool_value = generator.random() < 0.5
    return state.bool_value


VALUES: dict[str, Callable[[Any, WidgetState, random.Random], Any]] = {
    "text_input": _text,
    "text_area": _text,
    "selectbox": _option,
    "radio": _option,
    "button_group": _pill,
    "number_input": _number,
    "slider": _slider,
    "button": _press,
    "checkbox": _tick,
}
