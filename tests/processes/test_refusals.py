"""Messages that no browser of ours would send, through the server's own websocket: what they ask for is
refused in a sentence, nothing is computed from it, and the page goes on.
"""

import asyncio
import json
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.processes.visitor import visiting
from tools.background_servers import Server

NAN = float("nan")
LONG = "x" * 5_000_000
KEPT = "; the previous value is kept."


@pytest.fixture
def url(app: Server) -> str:
    return app.url


@pytest.mark.parametrize(
    ("page", "query", "label", "wrong", "sentence", "right"),
    [
        ("runs", "runs=zoo_induction", "Temperature", NAN, "nan is not a number from 0 to 2", 1.5),
        ("softmax", "", "Seed of the random numbers", 1e300, "1e+300 is not a whole number from 0 to 999", 7),
        ("softmax", "", "Logits", "/etc/passwd", "'/etc/passwd' is not one of 4, 8, 16, 32, 64, 256", "32"),
        ("softmax", "", "Part", "9", "'9' is not one of spread, dots, head, formats", "Dot products"),
        ("train", "task=reverse", "Learning rate", 1e9, "1000000000.0 is not a number from", 0.01),
        (
            "runs", "runs=zoo_induction", "Prompt: the model goes on writing", LONG,
            "5,000,000 characters; at most 2,000 are read; remove 4,998,000", None,
        ),
    ],
)  # fmt: skip
def test_a_value_that_no_widget_has_is_refused_and_the_page_goes_on(
    url: str, page: str, query: str, label: str, wrong: Any, sentence: str, right: Any
) -> None:
    """A widget of each kind; the last test of this file has all others."""

    async def visit() -> None:
        async with visiting(url, page, query) as visitor:
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


EDIT = {"type": "edit", "field": "X", "value": "1,2"}
OPEN = {"type": "models", "asked": "{}"}
ACT = [{"event": "act", "value": EDIT}]
NO_ACT = "No page asks for this; reload."


@pytest.mark.parametrize(
    ("page", "component", "raw", "sentence"),
    [
        ("attention", "board", "[" * 100_000, NO_ACT),
        ("attention", "board", "7", NO_ACT),
        ("attention", "board", json.dumps([{"event": "act", "value": [1]}]), NO_ACT),
        ("attention", "board", json.dumps([{"event": "act", "value": {"type": {}}}]), NO_ACT),
        ("attention", "board", json.dumps(ACT * 17), NO_ACT),
        ("attention", "board", json.dumps([{"event": "act", "value": {**EDIT, "field": 7}}]), NO_ACT),
        ("attention", "board", json.dumps([{"event": "act", "value": {"type": "takeaway"}}]), NO_ACT),
        ("attention", "board", json.dumps(ACT).replace("1,2", "1," * 2_000_000), NO_ACT),
        ("attention", "board", json.dumps(ACT).replace("1,2", "1," * 20_000), "the previous value is kept"),
        ("attention", "board", json.dumps(ACT).replace("edit", "takeaway").replace("field", "frame"), NO_ACT),
        ("", "stage", json.dumps([{"event": "act", "value": {**OPEN, "asked": 1}}]), NO_ACT),
        ("", "stage", json.dumps([{"event": "act", "value": {**OPEN, "more": 1}}]), NO_ACT),
        ("", "stage", json.dumps([{"event": "act", "value": {**OPEN, "asked": "[1"}}]), NO_ACT),
        ("", "stage", json.dumps([{"event": "act", "value": {**OPEN, "asked": '{"more": 1}'}}]), NO_ACT),
        ("runs", "table", json.dumps([{"event": "act", "value": {"type": "choose", "ids": 7}}]), NO_ACT),
        ("runs", "table", json.dumps([{"event": "act", "value": {"type": "open", "id": ["a"]}}]), NO_ACT),
    ],
)  # fmt: skip
def test_what_no_component_asks_for_is_refused(
    url: str, page: str, component: str, raw: str, sentence: str
) -> None:
    async def visit() -> None:
        async with visiting(url, page) as visitor:
            await visitor.act(component, raw)
            assert any(sentence in line for line in visitor.said), visitor.said
            assert not any("Error" in line for line in visitor.said), visitor.said
            await visitor.run(BackMsg())
            assert not any("Error" in line or sentence in line for line in visitor.said), visitor.said

    asyncio.run(visit())


HOSTILE = {"text_input": LONG, "text_area": LONG, "slider": NAN, "number_input": NAN, "button_group": LONG}
ADDRESSES = [
    *((page, "") for page in ("attention", "softmax", "heads", "masks", "positions", "block", "translation",
                              "objective", "design")),
    *(("train", f"task={name}") for name in ("reverse", "masked", "sentiment", "digits-classifier")),
    *(("runs", f"runs=zoo_{name}") for name in ("induction", "masked", "digits-autoencoder")),
]  # fmt: skip


@pytest.mark.parametrize(("page", "query"), ADDRESSES)
def test_no_widget_of_any_part_of_any_page_takes_what_it_does_not_offer(
    url: str, page: str, query: str
) -> None:
    """All that are drawn, one after another; each says that it was refused, and none is in error."""

    async def visit() -> None:
        async with visiting(url, page, query) as visitor:
            chooser = visitor.widgets.get("Part")
            for part in [option.content for option in chooser[1].options] if chooser else [""]:
                if part:
                    visitor.widgets.clear()
                    visitor.widgets["Part"] = chooser
                    await visitor.set("Part", part)
                for label, (kind, _, _) in list(visitor.widgets.items()):
                    if kind == "checkbox":
                        continue
                    await visitor.set(label, HOSTILE.get(kind, "/etc/passwd"))
                    assert visitor.sent < 3_000_000
                    assert not any("Error" in line for line in visitor.said), (label, visitor.said)
                    assert any(KEPT in line for line in visitor.said), (label, visitor.said)

    asyncio.run(visit())
