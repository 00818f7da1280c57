"""Messages to the websocket of a running server, such as no browser of ours would send: whatever they say of
widgets and components, nobody is shown an error, the server's log tells of none, and the page goes on.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from attention_lab.pages.documents.component import ACTS as MAP
from attention_lab.pages.explore.component import ACTS as STAGE
from attention_lab.pages.shared.board.on_page import ACTS as BOARD
from attention_lab.pages.shared.browser.acts import Kind
from attention_lab.pages.shared.table import ACTS as TABLE
from benchmarks.wanderer import VALUES, Wanderer
from tests.fuzz.odd import TEXTS
from tests.fuzz.odd import VALUES as ODD
from tools.background_servers import Server, serving_the_app

PLACES = (
    *(("", f"model={name}") for name in ("translator", "untrained", "shakespeare", "digits-classifier")),
    *((page, "") for page in ("attention", "softmax", "heads", "masks", "positions", "block", "translation",
                              "objective", "design")),
    ("documents", "model=untrained&text=to be or not to be"),
    ("beside", "differs=temperature"),
    ("findings", "finding=positional&positional_texts=5"),
    *(("train", f"task={name}") for name in ("reverse", "masked", "digits-classifier")),
    *(("runs", f"runs=zoo_{name}") for name in ("induction", "masked")),
    ("sweeps", "task=reverse&rows=2"),
)  # fmt: skip
SEED = "Seed of the random numbers"
ACTS = {**STAGE, **BOARD, **TABLE, **MAP}
FIELDS = sorted({name for fields in ACTS.values() for name in fields})
DECLARED = [declared for acts in (STAGE, BOARD, TABLE, MAP) for declared in acts.items()]

WORDS = TEXTS.filter(lambda text: text.encode(errors="ignore").decode() == text)  # as a message can hold them
LONG = st.builds(
    lambda word, times: word * times, st.sampled_from(("x", "[", "it ", "9")), st.integers(0, 30_000)
)
JSON = ODD.map(lambda value: json.dumps(value, default=str)) | WORDS | LONG
OF_FIELD: dict[Kind, st.SearchStrategy[Any]] = {
    str: st.sampled_from(("", "encoder.self", "head", "X", "1,2")) | WORDS,
    int: st.integers(-2, 9) | st.integers(),
    list: st.lists(st.integers(-2, 9) | WORDS, max_size=9),
    (int, float): st.integers(-2, 9) | st.floats(allow_nan=False, allow_infinity=False),
}
QUESTIONS = st.sampled_from(("{}", '{"model": "untrained", "text": "a b"}', '{"model": "induction"}'))
OF_NAME = {"asked": QUESTIONS | JSON}
WHOLE = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just(kind)} | {n: OF_NAME.get(n, OF_FIELD[of]) for n, of in fields.items()}
    )
    for kind, fields in DECLARED
)
ASKED = (
    WHOLE
    | st.fixed_dictionaries({"type": st.sampled_from(sorted(ACTS)) | ODD})
    | st.dictionaries(st.sampled_from(["type", *FIELDS]), ODD | st.sampled_from(sorted(ACTS)))
)
EVENTS = st.lists(st.fixed_dictionaries({"event": st.just("act") | WORDS, "value": ASKED | ODD}), max_size=20)
SIGNED = st.integers(-(2**63), 2**63 - 1)
OF_KIND: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats() | st.integers(-9, 99).map(float),
    FieldDescriptor.CPPTYPE_INT64: SIGNED | st.integers(-9, 99),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_STRING: WORDS | JSON | LONG,
}


class Sender(Wanderer):
    """A visitor who knows the components of a page, too, and what each was sent last."""

    components: dict[str, tuple[str, bytes]]

    def read(self, element: Element, fragment: str) -> None:
        super().read(element, fragment)
        if element.WhichOneof("type") == "bidi_component":
            self.components[element.bidi_component.id] = (fragment, element.SerializeToString())

    async def open(self, page: str, query: str = "") -> None:
        self.page, self.components = page, {}
        self.widgets.clear()
        message = BackMsg()
        message.rerun_script.query_string = query
        await self.run(message)

    def say_what_is_known_to(self, other: "Sender") -> None:
        self.page, self.widgets, self.components = other.page, dict(other.widgets), dict(other.components)

    async def answers_a_good_change(self) -> bool:
        """Whether another seed gives other numbers; from another page, so that the link counts."""
        await self.open("masks")
        await self.open("softmax", "part=spread&seed=1")
        id_, fragment = next(
            (id_, of) for id_, (_, widget, of) in self.widgets.items() if widget.label == SEED
        )
        before = dict(self.components)
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.widget_states.widgets.add(id=id_, double_value=7.0)
        await self.run(message)
        return self.components != before


@asynccontextmanager
async def coming(server: Server) -> AsyncIterator[Sender]:
    address = "ws" + server.url.removeprefix("http") + "/_stcore/stream"
    async with connect(address, max_size=None, subprotocols=[Subprotocol("streamlit")]) as socket:
        yield Sender(socket, random.Random(0))


def fill(draw: Any, message: Message, field: FieldDescriptor) -> None:
    """Gives a field of a message any value of its kind, and so on in what it holds."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        inner = getattr(message, field.name)
        for _ in range(draw(st.integers(0, 2)) if field.is_repeated else 1):
            part = inner.add() if field.is_repeated else inner
            part.SetInParent()
            for each in part.DESCRIPTOR.fields:
                if draw(st.booleans()):
                    fill(draw, part, each)
        return
    values = OF_KIND.get(field.cpp_type, WORDS)
    if field.type == FieldDescriptor.TYPE_BYTES:
        values = st.binary(max_size=60)
    if field.is_repeated:
        getattr(message, field.name).extend(draw(st.lists(values, max_size=3)))
    else:
        setattr(message, field.name, draw(values))


def draw_message(draw: Any, sender: Sender) -> BackMsg:
    """One that says something of the page's widgets, components, or of what is not there.

    What is drawn depends on nothing that the server did, so that Hypothesis can draw the same again.
    """
    message = BackMsg()
    asked = message.rerun_script
    asked.query_string = draw(st.just("") | WORDS)
    known = {**{id_: fragment for id_, (_, _, fragment) in sender.widgets.items()},
             **{id_: fragment for id_, (fragment, _) in sender.components.items()}}  # fmt: skip
    for _ in range(draw(st.integers(1, 3))):
        which, in_fragment, chosen = draw(st.integers(0, 9999)), draw(st.booleans()), draw(st.integers(0, 99))
        how = draw(st.sampled_from(["usual", "odd", "odd", "stranger"]))
        event = draw(EVENTS.map(lambda value: json.dumps(value, default=str)) | JSON)
        id_ = sorted(known)[which % len(known)] if known else "x"
        if in_fragment and known.get(id_) in sender.fragments:
            asked.fragment_id = known[id_]
        state = asked.widget_states.widgets.add(id=id_)
        if id_ in sender.components:
            state.id = f"$$STREAMLIT_INTERNAL_KEY_{id_}__events"
            state.json_trigger_value = event
        elif how == "usual" and id_ in sender.widgets:
            kind, widget, _ = sender.widgets[id_]
            VALUES[kind](widget, state, random.Random(chosen))
        if how in ("odd", "stranger"):
            of = WidgetState.DESCRIPTOR.fields
            fill(draw, state, draw(st.sampled_from([each for each in of if each.name != "id"])))
        if how == "stranger":
            others = ("", f"{id_}__events", id_[:-1], f"$$ID-{'0' * 32}-None")
            state.id = others[draw(st.integers(0, 3))] or draw(WORDS)
    return message


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving_the_app(tmp_path_factory.mktemp("server") / "log.txt") as running:
        yield running


@settings(max_examples=8 + settings.default.max_examples // 3)  # each sends up to six messages
@given(data=st.data())
def test_whatever_a_message_says_nobody_meets_an_error(server: Server, data: st.DataObject) -> None:
    async def visit() -> None:
        place = data.draw(st.sampled_from(PLACES))
        async with coming(server) as first:
            await first.open(*place)
        async with coming(server) as sender:
            sender.say_what_is_known_to(first)
            if data.draw(st.booleans()):  # else as a browser that comes back, and at once says what it shows
                await sender.open(*place)
            for _ in range(data.draw(st.integers(1, 6))):
                await sender.run(draw_message(data.draw, sender))
            assert await sender.answers_a_good_change()
        assert sender.faults == []

    before = server.log.stat().st_size
    asyncio.run(visit())
    told = server.log.read_bytes()[before:].decode(errors="replace")
    assert "Traceback" not in told, told
