"""Messages that no browser of ours would send, through the server's own websocket: what they ask for is
refused in a sentence, nothing is computed from it, and the page goes on.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tools.background import serving_the_app

PATIENCE_SECONDS = 120.0
FIELDS = {  # where a message holds the value of each widget
    "selectbox": "string_value",
    "radio": "string_value",
    "button_group": "string_array_value",
    "slider": "double_array_value",
    "number_input": "double_value",
    "text_input": "string_value",
    "text_area": "string_value",
    "checkbox": "bool_value",
}
NAN = float("nan")
LONG = "x" * 22_000_000
KEPT = "; the value before it is kept."


class Visitor:
    """One connection to a page: the widgets that it was sent, and what was said in its last run."""

    def __init__(self, socket: ClientConnection, page: str, query: str) -> None:
        self.socket, self.page, self.query = socket, page, query
        self.widgets: dict[str, tuple[str, Any, str]] = {}
        self.said: list[str] = []
        self.sent = 0

    async def run(self, message: BackMsg) -> None:
        """Sends a message and reads what the script run sends back."""
        self.said.clear()
        self.sent = 0
        asked = message.rerun_script
        asked.query_string, asked.page_name = self.query, self.page
        await self.socket.send(message.SerializeToString())
        while True:
            raw = await asyncio.wait_for(self.socket.recv(), PATIENCE_SECONDS)
            assert isinstance(raw, bytes)
            answer = ForwardMsg.FromString(raw)
            self.sent += len(raw)
            if answer.WhichOneof("type") == "script_finished":
                return
            if answer.WhichOneof("type") == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self.read(answer.delta.new_element, answer.delta.fragment_id)

    def read(self, element: Element, fragment: str) -> None:
        kind = element.WhichOneof("type")
        found = getattr(element, kind)
        if kind == "exception":
            self.said.append(f"{found.type}: {found.message}")
        elif kind == "text":
            self.said += found.body.split("\n")
        elif kind in FIELDS:
            self.widgets[found.label] = (kind, found, fragment)

    async def set(self, label: str, value: Any) -> None:
        """Tells the server that a widget has this value, whatever the widget may have."""
        kind, widget, fragment = self.widgets[label]
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        state = message.rerun_script.widget_states.widgets.add(id=widget.id)
        field = "string_array_value" if kind == "slider" and isinstance(value, str) else FIELDS[kind]
        if field.endswith("array_value"):
            getattr(state, field).data.append(value)
        else:
            setattr(state, field, value)
        await self.run(message)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_the_app(tmp_path_factory.mktemp("server") / "log.txt") as server:
        yield server.url


@pytest.mark.parametrize(
    ("page", "query", "label", "wrong", "sentence", "right"),
    [
        ("", "", "Model", "/etc/passwd", "'/etc/passwd' is not one of translator, untrained", "untrained"),
        ("", "", "Model", "../models/zoo/translator", "is not one of translator, untrained", None),
        ("", "", "Beam width", NAN, "nan is not a whole number from 1 to 8", 3.0),
        ("", "", "Direction", "99", "'99' is not one of en-fr, fr-en", "FR → EN"),
        ("", "", "Target", LONG, "22,000,000 characters; at most 20,000 are read", "le chat"),
        ("", "model=untrained", "d_model", "7", "'7' is not one of 8, 16, 32", "32"),
        ("softmax", "", "Seed of the random numbers", NAN, "nan is not a whole number from 0 to 999", 7),
        ("runs", "runs=zoo_induction", "Temperature", NAN, "nan is not a number from 0 to 2", 1.5),
        ("softmax", "", "Seed of the random numbers", 1e300, "1e+300 is not a whole number from 0 to 999", 7),
        ("softmax", "", "Logits", "/etc/passwd", "'/etc/passwd' is not one of 4, 8, 16, 32, 64, 256", "32"),
        ("softmax", "", "Part", "9", "'9' is not one of spread, dots, head, formats", "Dot products"),
        ("softmax", "part=head", "Head", "99", "'99' is not one of 0, 1, 2, 3", "1"),
        (
            "softmax", "part=head", "Sentence", LONG,
            "22,000,000 characters; at most 2,000 are read; remove 21,998,000", "it was too wide",
        ),
        ("positions", "part=length", "held-out text", NAN, "nan is not a whole number from 1 to 9", 1.0),
        ("train", "task=sort", "Layers", NAN, "nan is not a whole number from 1 to 48", 3),
        ("train", "task=sort", "Learning rate", 1e9, "1000000000.0 is not a number from", 0.01),
        ("train", "task=sort", "Device", "/etc/passwd", "'/etc/passwd' is not one of", "cpu"),
        ("train", "task=sort", "Task", "/etc/passwd", "'/etc/passwd' is not one of", None),
        (
            "runs", "runs=zoo_induction", "Prompt: the model goes on writing", LONG,
            "22,000,000 characters; at most 2,000 are read; remove 21,998,000", None,
        ),
    ],
)  # fmt: skip
def test_a_value_that_no_widget_has_is_refused_and_the_page_goes_on(
    url: str, page: str, query: str, label: str, wrong: Any, sentence: str, right: Any
) -> None:
    async def visit() -> None:
        address = "ws" + url.removeprefix("http") + "/_stcore/stream"
        async with connect(
            address, max_size=None, ping_interval=None, subprotocols=[Subprotocol("streamlit")]
        ) as socket:
            visitor = Visitor(socket, page, query)
            await visitor.run(BackMsg())
            assert label in visitor.widgets, visitor.widgets.keys()
            assert not any("Error" in line for line in visitor.said), visitor.said
            await visitor.set(label, wrong)
            assert any(sentence in line and line.endswith(KEPT) for line in visitor.said), visitor.said
            assert not any("Error" in line for line in visitor.said), visitor.said
            assert visitor.sent < 2_000_000
            if right is not None:
                await visitor.set(label, right)
            else:
                await visitor.run(BackMsg())
            assert not any(KEPT in line or "Error" in line for line in visitor.said), visitor.said

    asyncio.run(visit())
