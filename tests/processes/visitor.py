"""Somebody at the server's own websocket, who may send whatever no browser of ours would send."""

import asyncio
import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2 as httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

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


class Visitor:
    """One connection to a page: the widgets that it was sent, and what was said in its last run."""

    def __init__(self, socket: ClientConnection, page: str, query: str) -> None:
        self.socket, self.page, self.query = socket, page, query
        self.widgets: dict[str, tuple[str, Any, str]] = {}
        self.buttons: dict[str, tuple[str, str]] = {}
        self.files: list[tuple[str, str]] = []
        self.said: list[str] = []
        self.sent, self.session = 0, ""
        self.received = b""
        self.components: dict[str, tuple[str, str]] = {}

    async def run(self, message: BackMsg) -> None:
        """Sends a message and reads what the script run sends back."""
        self.said.clear()
        self.sent, self.received = 0, b""
        asked = message.rerun_script
        asked.query_string, asked.page_name = self.query, self.page
        await self.socket.send(message.SerializeToString())
        while True:
            raw = await asyncio.wait_for(self.socket.recv(), PATIENCE_SECONDS)
            assert isinstance(raw, bytes)
            answer = ForwardMsg.FromString(raw)
            self.sent += len(raw)
            self.received += raw
            if answer.WhichOneof("type") == "new_session":
                self.session = answer.new_session.initialize.session_id
            early = answer.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if answer.WhichOneof("type") == "script_finished" and not early:
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
        elif kind == "html" and 'role="alert"' in found.body:
            self.said += html.unescape(re.sub("<[^>]*>", "", found.body)).split("\n")
        elif kind == "bidi_component":
            self.components.setdefault(found.component_name, (found.id, fragment))
        elif kind == "button":
            self.buttons[found.label] = (found.id, fragment)
        elif kind == "file_uploader":
            self.files.append((found.id, fragment))
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

    async def press(self, label: str) -> None:
        """Tells the server that a button was pressed, whether it still is there or not."""
        id_, fragment = self.buttons[label]
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.widget_states.widgets.add(id=id_, trigger_value=True)
        await self.run(message)

    async def take(self, file: str) -> None:
        """Tells the server that the first field for files holds what was sent under this name."""
        id_, fragment = self.files[0]
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        state = message.rerun_script.widget_states.widgets.add(id=id_).file_uploader_state_value
        state.uploaded_file_info.add(file_id=file, name="some.txt", size=1)
        await self.run(message)

    async def act(self, component: str, raw: str) -> None:
        """Sends this as what the events of our component of this name are; the first, if it has many."""
        id_, fragment = self.components[f"attention_lab_{component}"]
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        base = f"$$STREAMLIT_INTERNAL_KEY_{id_}__events"
        message.rerun_script.widget_states.widgets.add(id=base, json_trigger_value=raw)
        await self.run(message)


def ask(url: str, cookie: str = "", **asked: Any) -> httpx.Response:
    """The whole answer of Explore's route to a question."""
    headers = {"Cookie": cookie} if cookie else {}
    return httpx.post(f"{url}/explore/answer", json=asked, headers=headers, timeout=PATIENCE_SECONDS)


@asynccontextmanager
async def visiting(url: str, page: str = "", query: str = "", cookie: str = "") -> AsyncIterator[Visitor]:
    """A visitor of a page, who has been sent its first run."""
    address = "ws" + url.removeprefix("http") + "/_stcore/stream"
    protocols = [Subprotocol("streamlit")]
    async with connect(
        address,
        max_size=None,
        ping_interval=None,
        subprotocols=protocols,
        additional_headers={"Cookie": cookie} if cookie else {},
    ) as socket:
        visitor = Visitor(socket, page, query)
        await visitor.run(BackMsg())
        yield visitor
