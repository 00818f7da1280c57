"""Attention of one's own on Explore: handed in, opened, kept for its owner, deleted, or refused."""

import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models.runs.owners import Visitor
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.own_attention import read_own, to_keep
from attention_lab.pages.explore import head_measures, own_files, payload, state, takeaway
from attention_lab.pages.explore.payload import Opened
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.shared import cache, on_offer, visitors
from attention_lab.pages.shared.training import uploads
from tests.limits import SetLimits
from tests.pages.explore.answer_header import linked
from tests.pages.explore.answer_header import shown as shows
from tests.pages.explore.explore_page import dialog, opened, said, shown

WIDE = {
    "attention": [[[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]]],
    "query_tokens": ["le", "chat"],
    "key_tokens": ["the", "cat", "sat"],
}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, attention=np.full((2, 4, 3, 3), 1 / 3, np.float32), tokens=np.array(["a", "b", "a"]))
    return file.getvalue()


def handed_in(page: AppTest, name: str, content: bytes) -> AppTest:
    page = dialog(page, "models")
    page.file_uploader(key=own_files.TENSORS.key).set_value((name, content, "application/octet-stream")).run()
    assert not page.exception
    return page


def kept(content: bytes = b"", name: str = "wide.json") -> str:
    """The name of attention that this visitor has handed in."""
    file = to_keep(read_own(content or json.dumps(WIDE).encode(), name))
    return on_offer.own_name(uploads.keep(file, f"_.{uploads.ATTENTION}"))


def test_a_file_that_is_handed_in_opens_and_its_link_opens_it_again(runs: Path) -> None:
    page = handed_in(opened(), "mine.npz", npz())
    assert said(page) == []
    name, text = shown(page)
    assert re.fullmatch("own:[0-9a-f]{64}", name) and text == ""
    assert [path.name for path in (runs / "uploads" / "person").iterdir()] == [on_offer.file_of(name)]
    again = linked(model=name)
    assert shows(again) == (name, "") and again["problems"] == []
    declared = again["controls"]
    assert {"value": name, "text": "mine.npz"} in declared["models"]
    assert "2 layers, 4 heads, 3 queries by 3 keys" in declared["summary"]
    assert declared["label"] == "These weights came with their tokens, so nothing is typed here."
    assert state.write_link(Inputs(name, "")) == {"model": name}


def test_what_cannot_be_read_is_said_and_the_model_before_stays(runs: Path) -> None:
    page = opened(model="induction")
    handed_in(page, "mine.json", b'{"attention": [[1, -1]]}')
    assert said(page) == [
        "'mine.json' has the weight -1 at [0, 0, 0, 1], which is negative, like 1 of its 2 weights; hand "
        "in the weights after the softmax; the previous model stays loaded."
    ]
    assert shown(page)[0] == "induction"
    assert not (runs / "uploads").exists()


def test_attention_is_its_owners_alone_and_lives_until_it_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    name = kept()
    assert on_offer.may_open(name) and on_offer.own() == [name] and on_offer.title(name) == "wide.json"
    assert uploads.mine() == []  # it is nothing to train on
    with monkeypatch.context() as other:
        other.setattr(visitors, "visitor", lambda: Visitor("ben"))
        assert not on_offer.may_open(name) and not state.MODEL.fits(name)
        assert linked(model=name)["problems"] == [
            "These tensors are not here: a link opens them only in the "
            "browser that handed them in, within 14 days of their last use; hand them in again; the "
            "default is shown."
        ]
    page = dialog(opened(model=name), "models")
    page.button(key=f"{own_files.TENSORS.key}.{name}.delete").click().run()
    assert shown(page)[0] == "translator"
    assert on_offer.own() == [] and not on_offer.may_open(name)


def test_the_limits_may_keep_visitors_from_it(set_limits: SetLimits) -> None:
    name = kept()
    set_limits(models=["translator"])
    assert linked(model=name)["problems"] == [
        "Visitors' own tensors are not among the models shown here, translator; the default is shown."
    ]
    assert not dialog(opened(), "models").get("file_uploader")
    set_limits(models=["translator", "own"])
    on_offer.check()
    assert shows(linked(model=name))[0] == name
    set_limits(read_only=True)
    page = dialog(opened(model=name), "models")
    assert shown(page)[0] == name and not page.get("file_uploader")


def test_rectangular_attention_is_cross_attention_without_steps_or_outputs() -> None:
    inputs = Inputs(kept(), "")
    subject = cache.on_worker(lambda: subject_of(inputs))
    (stack,), offer = subject.stacks, offer_of(inputs.model)
    assert offer is not None
    assert (stack.id, stack.title, stack.n_query, stack.n_key) == ("decoder.cross", "Cross-attention", 2, 3)
    body = cache.on_worker(lambda: payload.build(subject, Opened("decoder.cross")))
    assert offer.story == {"view": "head", "stack": "decoder.cross"}
    assert body.n_steps == 0 and body.abilities == ()


def test_rows_that_do_not_add_up_to_1_are_shown_with_a_notice_and_measured_by_their_shares() -> None:
    odd = {"attention": [[[0.5, 0.5, 0], [0.1, 0.3, 0]]], "key_tokens": WIDE["key_tokens"]}
    inputs = Inputs(kept(json.dumps(odd).encode()), "")
    subject = cache.on_worker(lambda: subject_of(inputs))
    body = cache.on_worker(lambda: payload.build(subject, Opened("decoder.cross")))
    assert body.note.startswith("1 of 2 rows do not add up to 1 (sums 0.4 to 0.4): they are measured")
    message = body.packed.message(g=1)
    header = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    (stack,) = header["stacks"]
    entropies = [math.log(2), -0.25 * math.log(0.25) - 0.75 * math.log(0.75)]
    assert stack["stats"]["entropy"] == [pytest.approx(sum(entropies) / 2, abs=1e-4)]
    act = {"view": "head", "stack": "decoder.cross", "layer": 0, "head": 0}
    assert takeaway.table(inputs, act).replace('"', "").splitlines()[4:6] == [
        "1,1,0,the,0.1",
        "1,1,1,cat,0.3",
    ]
    assert len(head_measures.map_message(inputs, "decoder.cross")["points"]) == 1
    for view in ("grid", "head", "lines"):
        assert takeaway.take_away(inputs, act | {"view": view}, dark=False).figure.data


def test_its_figures_table_and_trace_are_taken_away() -> None:
    inputs = Inputs(kept(), "")
    act = {"view": "head", "stack": "decoder.cross", "layer": 0, "head": 0, "step": 0}
    figure = takeaway.take_away(inputs, act, dark=False).figure
    assert (
        np.asarray(figure.data[0].customdata if figure.data[0].z is None else figure.data[0].z).shape[0] == 2
    )
    assert takeaway.table(inputs, act).replace('"', "").splitlines() == [
        "query_position,query,key_position,key,weight",
        "0,le,0,the,0.25",
        "0,le,1,cat,0.75",
        "0,le,2,sat,0.0",
        "1,chat,0,the,0.5",
        "1,chat,1,cat,0.25",
        "1,chat,2,sat,0.25",
    ]
    files = np.load(io.BytesIO(takeaway.archive(inputs, act)), allow_pickle=False)
    assert sorted(files) == ["decoder.0.cross.pattern", "tokens.decoder", "tokens.encoder"]
    assert takeaway.take_away(inputs, act, dark=False).code.splitlines() == [
        "from attention_lab.models import read_attention",
        "trace = read_attention('wide.json').trace()",
        'pattern = trace["decoder.0.cross.pattern"][0]  # [query, key]',
    ]
