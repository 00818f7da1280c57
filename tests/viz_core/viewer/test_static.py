"""Pages of static files: what is written into them, and what may leave them."""

import base64
import gzip
import hashlib
import json
import re

from attention_lab.models.zoo.catalogue import DEFAULT, offers
from attention_lab.pages.beside.static import parts_of as compared
from attention_lab.pages.explore import payload
from attention_lab.pages.explore.state import Inputs
from attention_lab.viz_core.viewer.message import pack
from attention_lab.viz_core.viewer.program import WITH_AXES, needs_whole
from attention_lab.viz_core.viewer.static.documents import (
    Choice,
    Part,
    Question,
    State,
    content_of,
    main_of,
    page_as_file,
    view_as_file,
)


def content(page: str) -> dict:
    return json.loads(re.search(r'id="content">(.*?)</script>', page, re.DOTALL)[1])


def held(address: str) -> bytes:
    return gzip.decompress(base64.b64decode(address.partition(",")[2]))


def test_explores_opening_view_is_one_file_of_two_megabytes_at_most_that_asks_for_nothing():
    body = payload.body_of_inputs(Inputs(DEFAULT, offers()[DEFAULT].text), payload.Opened())
    message = body.packed.message(terms={})
    page = view_as_file("stage", "<Explore>", message, state={"view": "grid"}, words={"language": "de"})
    assert len(page.encode()) < 2_000_000
    assert held(content(page)["message"]) == message and content(page)["state"] == {"view": "grid"}
    assert content(page)["words"] == {"language": "de"}
    assert "<title>&lt;Explore&gt; · Attention Lab</title>" in page
    assert not re.search(r"(?:src|href)=", page.partition("<script")[0])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    code = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (digest,) = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in code)
    assert f"script-src 'sha256-{digest}' blob:;" in policy and "connect-src data:;" in policy


def test_a_page_holds_every_state_of_every_part_and_escapes_what_people_wrote():
    one, two, three = (pack(at=at).message(a=1) for at in range(3))
    states = [State(one, {}), State(two, {"a": "1"}), State(problem="no <such> input")]
    asked = Question("Which?", ("a", "b"), 1, "because", Choice("", 1, 3))
    part = Part("p", "<b>P</b>", states, [Choice("try", 2)], questions=[asked])
    page = page_as_file("T", "t", [part, Part("q", "Q", [State(three, {"part": "q"})])])
    first, second = content(page)["parts"]
    assert [held(state["file"]) for state in first["states"][:2]] == [one, two]
    assert first["states"][2] == {"problem": "no <such> input"}
    assert first["questions"][0]["shows"] == {"label": "", "state": 1, "scrub": 3}
    assert held(second["states"][0]["file"]) == three
    assert "<b>P</b>" not in main_of("T", [part, part])
    assert "<select" in main_of("T", [part] * 9)


def test_files_of_a_page_are_named_after_their_parts():
    names = list[str]()

    def add(name: str, content: bytes) -> str:
        names.append(name)
        return name

    content_of("masks", [Part("mask", "Mask", [State(b"a"), State(problem="x"), State(b"b")])], add)
    assert names == ["masks/mask-0.bin", "masks/mask-2.bin"]


def test_a_shipped_comparison_has_the_numbers_of_the_trace():
    from attention_lab.models import load_model
    from benchmarks.live import unpacked

    lm = load_model(DEFAULT)
    trace = lm.trace(offers()[DEFAULT].text)
    first = compared()[0].states[0]
    board = unpacked(first.message)["board"]
    shown = next(panel for row in board["rows"] for panel in row if panel["kind"] == "Matrix")
    expected = trace["encoder.1.self.pattern"][3].numpy()
    assert abs(shown["values"] - expected).max() < 1e-3  # half precision


def test_a_chart_without_axes_comes_with_all_of_plotly():
    for kind, whole in [*dict.fromkeys(WITH_AXES, False).items(), ("scatter3d", True), ("sankey", True)]:
        board = {"rows": [[{"kind": "Table"}, {"chart": {"traces": [{}, {"type": kind}]}}]]}
        assert needs_whole(pack(board=board).message(a=1)) == whole
    assert not needs_whole(pack(tokens=[]).message(a=1))
