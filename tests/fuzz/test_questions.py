"""Questions to Explore's route, such as no browser of ours would send: a message, or a sentence."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attention_lab.models.zoo.catalogue import offers
from attention_lab.pages.explore import routes
from attention_lab.pages.explore.figure import REQUESTS
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.state import View
from attention_lab.pages.shared import visitors
from attention_lab.viz_core.viewer.message import header_of
from tests.fuzz.odd import TEXTS
from tests.fuzz.odd import VALUES as ODD

NAMES = st.sampled_from(
    [*sorted(offers()), "run:lost", "run:../../x", "hf:/etc", "hf:gpt9", f"own:{'0' * 64}"]
)
SETTINGS = {setting.name: setting for offer in offers().values() for setting in offer.settings}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
USUAL = st.sampled_from(
    [option for each in SETTINGS.values() for option in (each.default, *each.rule.options)]
)
PLAIN = st.none() | st.booleans() | st.integers(-1, 20) | st.integers() | st.floats() | TEXTS | USUAL
STACKS = st.sampled_from(("encoder.self", "decoder.self", "decoder.cross", "x"))
OF_KIND: dict[Any, st.SearchStrategy[Any]] = {
    str: STACKS | TEXTS,
    int: st.integers(-1, 9) | st.integers(),
    list: st.lists(st.integers(-2, 9) | TEXTS, max_size=4),
    (int, float): st.integers(-2, 9) | st.floats(allow_nan=False),
}
ACTS = st.one_of(
    st.fixed_dictionaries({"type": st.just(name), **{n: OF_KIND[kind] for n, kind in request.kinds.items()}})
    for name, request in REQUESTS.items()
)
LINES = st.sampled_from(
    ("encoder.0.self heads 1: zero", "encoder.0: off", "encoder.0.ff at 0: scale 1e300", "logits: zero",
     "encoder.1.self.pattern heads 0 at 0: set 0=1", 'encoder.0.ff: from "the cat"', "decoder.0.cross: zero")
)  # fmt: skip
HOWS = st.sampled_from(("toggle", "put", "undo", "join", "join renormalised", "switch", ""))
VIEW = sorted(View.__dataclass_fields__)
OPENED = ("stack", "layer", "head", "q0", "k0", "special")
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "model": NAMES,
    "before": NAMES,
    "text": st.none() | TEXTS,
    "settings": st.dictionaries(st.sampled_from(sorted(SETTINGS)), PLAIN, max_size=3),
    "edits": st.lists(LINES | TEXTS, max_size=2).map("\n".join),
    "press": st.fixed_dictionaries({"line": LINES | TEXTS, "how": HOWS, "count": st.integers(0, 9)}),
    "link": st.dictionaries(st.sampled_from(VIEW), TEXTS | st.integers(0, 9).map(str), max_size=3),
    "opened": st.dictionaries(st.sampled_from(OPENED), STACKS | st.integers(), max_size=6),
    "beside": st.lists(ACTS, max_size=2),
    "turned": st.dictionaries(st.sampled_from(sorted(SETTINGS)), PLAIN, max_size=1),
    "keeps": st.sampled_from(("n_heads", "d_model", "d_head")),
    "fresh": st.booleans(),
    "widens": NAMES,
    "write": st.fixed_dictionaries(
        {"temperature": st.floats(0, 2), "n_new": st.integers(1, 9), "seed": st.integers(0, 9)}
    ),
    "anew": st.integers(0, 9),
    "has": TEXTS,
}  # fmt: skip
WHOLE = st.lists(st.sampled_from(sorted(FIELDS)), max_size=5, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: FIELDS[name] for name in names})
)
PARTLY = st.builds(
    lambda asked, name, odd: asked | {name: odd}, WHOLE, st.sampled_from(sorted(FIELDS)) | TEXTS, JSON
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=routes.routes())) as made:  # what a server answers by 500 is raised
        yield made


def ask(client: TestClient, body: bytes) -> None:
    kind = {"Content-Type": "application/json", "X-Window": "w"}
    given = client.post(routes.ADDRESS, content=body, headers=kind)
    content, said = given.content, given.text if given.status_code in (400, 413) else ""
    while "x-takes-long" in given.headers and content.startswith(b"{"):
        line, _, content = content.partition(b"\n")
        said = json.loads(line).get("problem", "")
    if given.status_code == 422:
        said = given.json()["problem"]
    if said:
        assert 10 < len(said) < 1_000 and "Traceback" not in said, said
    else:
        assert given.status_code == 200
        header = header_of(content)
        again = Question(**header["asked"])  # what is shown can be asked again
        assert header["stacks"] and again.model in offers()


def written(value: Any) -> bytes:
    return json.dumps(value).encode(errors="replace")


@given(asked=WHOLE)
def test_every_question_gets_a_message_or_a_sentence(client: TestClient, asked: dict[str, Any]) -> None:
    ask(client, written(asked))


@given(asked=PARTLY)
def test_a_question_with_an_odd_part_gets_a_message_or_a_sentence(
    client: TestClient, asked: dict[str, Any]
) -> None:
    ask(client, written(asked))


@given(
    body=st.binary(max_size=60)
    | ODD.map(lambda value: json.dumps(value, default=str).encode(errors="replace"))
)
def test_whatever_else_gets_a_sentence(client: TestClient, body: bytes) -> None:
    ask(client, body)


@given(asked=WHOLE)
def test_in_a_class_the_same_holds(client: TestClient, asked: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visitors, "is_class", lambda: True)
        ask(client, written(asked))
