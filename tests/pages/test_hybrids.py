"""Pages on models of which some layers alone attend: addresses and words have the layers' true numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attention_lab.models import load_model
from attention_lab.pages.beside import state, two_sides
from attention_lab.pages.beside.takeaway import code_of
from attention_lab.pages.documents import reading
from attention_lab.pages.documents.reading import DocumentRequest, HeadPlace
from attention_lab.pages.explore import effect, head_measures, quantities, sums, sweep
from attention_lab.pages.explore.payload import Opened, build
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.explore.takeaway import StageView, csv_of
from attention_lab.pages.lab.block import flow, lens
from attention_lab.pages.lab.block.inputs import Inputs as Block
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.work import Job
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import TEXT
from tests.pages.explore.answer_header import linked
from tests.pages.explore.test_payload import exact_arrays, unpack


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model whose layers 3 and 7 attend."""
    return f"hf:{families.save('qwen3-next', tmp_path_factory.mktemp('models') / 'hybrid')}"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One whose layers 1 and 3 attend, and whose parts are known."""
    return f"hf:{families.save('lfm2', tmp_path_factory.mktemp('models') / 'small')}"


def view(**of: Any) -> dict[str, Any]:
    return {"stack": "decoder.self", **of}


def test_the_stage_gets_the_numbers_and_what_the_trace_has_there(hybrid: str) -> None:
    subject = subject_of(Inputs(hybrid, TEXT))
    header, blocks = unpack(build(subject, Opened("decoder.self", 5, 2)).packed.message(g=1))
    (stack,) = header["stacks"]
    assert stack["layers"] == [3, 7] and [block["layer"] for block in header["exact"]] == [3, 7]
    assert "Only layers 3 and 7 have attention." in subject.note
    trace = load_model(hybrid).trace(TEXT)
    for block in header["exact"]:
        pattern = trace[f"decoder.{block['layer']}.self.pattern"].numpy()
        np.testing.assert_array_equal(exact_arrays(block, blocks)["pattern"], pattern)


def test_a_part_is_of_the_nearest_layer_that_attends(hybrid: str) -> None:
    trace = load_model(hybrid).trace(TEXT)
    for asked, number in ((0, 3), (3, 3), (6, 7), (40, 7)):
        shown = StageView(Inputs(hybrid, TEXT), view(view="head", layer=asked, head=1))
        assert shown.title == f"Self-attention, layer {number} head 1"
        assert shown.file_name == f"decoder-{number}-self-head-1"
        assert f'trace["decoder.{number}.self.pattern"][1]' in shown.code
        np.testing.assert_array_equal(shown.of_head()["pattern"], trace[f"decoder.{number}.self.pattern"])
    grid = StageView(Inputs(hybrid, TEXT), view(view="grid")).figure(dark=False)
    names = {note.text for note in grid.layout.annotations} & {f"layer {at} · head 0" for at in range(8)}
    assert names == {"layer 3 · head 0", "layer 7 · head 0"}
    heads = StageView(Inputs(hybrid, TEXT), view(view="map")).figure(dark=False)
    assert "L7 H3" in heads.to_json() and "L0 H" not in heads.to_json()
    numbers = StageView(Inputs(hybrid, TEXT), view(view="numbers", layer=7)).figure(dark=False)
    assert "layer 7" in numbers.layout.title.text
    made = StageView(Inputs(hybrid, TEXT), view(view="sums", keys="0", among=[4]))
    assert list(made.sums()) == [(7, 0)] and "heads = [(7, 0)]" in made.code
    pattern = trace["decoder.7.self.pattern"][0]
    assert made.sums()[7, 0] == pytest.approx(float(pattern[:, 0].mean()), abs=1e-6)
    assert csv_of(made).splitlines()[1].startswith('"7","0",')


def test_what_is_computed_later_is_of_these_layers_or_refused(hybrid: str, small: str) -> None:
    inputs = Inputs(hybrid, TEXT)
    assert len(head_measures.map_message(inputs, "decoder.self")["points"]) == 8
    trace = load_model(hybrid).trace(TEXT)
    means = [trace[f"decoder.{at}.self.pattern"][:, :, 0].mean(-1) for at in (3, 7)]
    values = sums.sums_message(inputs, "decoder.self", "", "0")["values"]
    np.testing.assert_allclose(values, torch.cat(means), atol=1e-6)
    for show in ("rollout", "flow"):
        with pytest.raises(
            ValueError, match=rf"attention {show} follows attention .* \(0-2,4-6\) mix tokens"
        ):
            quantities.head_quantity(inputs, show, "decoder.self", 7, 0, 0, 0)
    found = effect.smallest(Inputs(small, TEXT), "decoder.self")
    assert found["heads"] == 8 and all(line.startswith(("decoder.1", "decoder.3")) for line in found["lines"])


def test_a_sweep_is_taken_away_with_its_layers(small: str) -> None:
    made = sweep.run_sweep(Inputs(small, TEXT), "heads", "kl", 3)
    assert made["layers"] == {"decoder.self": [1, 3]}
    shown = StageView(Inputs(small, TEXT), view(view="sweep", goal="kl", step=3)).sweep
    assert sorted(set(shown.table()["layer"])) == [1, 3]
    figure = shown.figure(dark=False).to_json()
    assert "layer 3" in figure and "layer 0" not in figure
    by_hand = load_model(small).trace(TEXT, edits="decoder.3.self heads 2: zero")["logits"][3]
    p, q = (x.double().log_softmax(-1) for x in (load_model(small).trace(TEXT)["logits"][3], by_hand))
    (row,) = shown.table().query("layer == 3 and head == 2")["effect"]
    assert row == pytest.approx(float((p.exp() * (p - q)).sum()), rel=1e-3, abs=1e-7)


def test_a_link_to_a_layer_that_does_not_attend_gets_a_sentence(
    hybrid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(Path(hybrid.removeprefix("hf:")).parent))
    opened = linked(model="hf:hybrid", text=TEXT, stack="decoder.self", layer="4")
    assert opened["problems"] == [
        "The link's layer=4 is not one of the layers that attend, 3 and 7; its default is shown."
    ]
    assert opened["linked"] == {"stack": "decoder.self"}


def test_long_texts_are_read_at_the_nearest_layer_that_attends(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading._documents.clear()
    seen = reading.compute(Job(request=DocumentRequest(small, TEXT, "decoder.self", 0, 2)))
    assert seen.place == HeadPlace("decoder.self", 1, 2)
    pattern = load_model(small).trace(TEXT)["decoder.1.self.pattern"][2]
    best = seen.pairs[0]
    assert float(pattern[best.query, best.key]) == pytest.approx(float(pattern[1:].max()), abs=1e-5)


def test_side_by_side_leaves_layers_without_attention_empty(hybrid: str) -> None:
    asked = two_sides.ComparisonRequest(hybrid, TEXT, (), "text", TEXT.replace("tired", "wide"), (0, 0))
    seen = two_sides.compute(Job(request=asked))
    (frame,) = seen.frames
    assert frame.counts(0) == {"decoder.self": (8, 4)} and frame.layers(0, "decoder.self") == [3, 7]
    kept = {name: param.default for name, param in state.page().params.items()} | {"layer": 0, "head": 1}
    chosen = state.selection(kept | {"differs": "text", "stack": "decoder.self"}, seen)
    assert chosen.heads[0] == ("decoder.self", 3, 1)
    trace = load_model(hybrid).trace(TEXT)
    np.testing.assert_array_equal(frame.patterns[0]["decoder.3.self"], trace["decoder.3.self.pattern"])
    assert np.isnan(frame.apart(chosen.heads[0])).all(axis=1).tolist() == [
        at not in (3, 7) for at in range(8)
    ]
    assert "c.laid('decoder.3.self', 1)" in code_of(asked, chosen, seen)
    both = two_sides.ComparisonRequest(hybrid, TEXT, (), "model", hybrid, (0, 0), True)
    matches = two_sides.compute(Job(request=both)).matches
    assert {head[1] for head in matches} == {3, 7} and all(one == other for one, other in matches.items())


def test_the_lab_names_them_or_refuses_in_a_sentence(hybrid: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    inputs = {"reader": "other", "other": hybrid, "other_text": "the animal"}
    with pytest.raises(ValueError, match=r"layer=0 has no attention .* has layers 3 and 7; take one of them"):
        flow.lesson_of_another(Block(**inputs))
    notice = flow.lesson_of_another(Block(**inputs, other_layer=3)).board.notice[0]
    assert "what layer 2 leaves" in notice
    read = lens.lesson(Block(**inputs, other_layer=3))
    rows = next(panel.rows for row in read.board.rows for panel in row if hasattr(panel, "rows"))
    assert list(rows) == ["layer 3", "layer 4", "layer 8"]
    assert read.board.notice[0].endswith("**layer 8**.")
