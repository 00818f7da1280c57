"""Documents are read by a thread of their own, told, stopped, bounded, and refused in a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from attention_lab.models import load_model
from attention_lab.pages.documents import reading, state
from attention_lab.pages.documents.reading import DocumentRequest, GoneError, HeadPicture, HeadPlace
from attention_lab.pages.shared.work import Job

TEXT = "the animal did not cross the street because it was too tired. " * 12


@pytest.fixture(autouse=True)
def _nothing_known() -> None:
    reading._documents.clear()


def picture_of(request: DocumentRequest) -> HeadPicture:
    return reading.compute(Job(request=request))


def refusal_of(request: DocumentRequest) -> str:
    with pytest.raises(ValueError) as refused:
        picture_of(request)
    return str(refused.value)


def whole_pattern(name: str, text: str, layer: int, head: int) -> np.ndarray:
    model = load_model(name).stretched(len(text))
    return model.trace(text)[f"decoder.{layer}.self.pattern"][head].numpy()


def test_what_is_seen_is_the_head_of_the_whole_trace() -> None:
    found = picture_of(DocumentRequest("sparse", TEXT, layer=1, head=2))
    pattern = whole_pattern("sparse", TEXT, 1, 2)
    picture = found.picture
    assert (picture.tall, picture.wide) == (2, 2)
    n = len(TEXT)
    padded = np.zeros((n + n % 2, n + n % 2), np.float32)
    padded[:n, :n] = pattern
    expected = padded.reshape(len(padded) // 2, 2, -1, 2).max(axis=(1, 3))
    np.testing.assert_allclose(picture.cells.numpy(), expected, atol=1e-5)
    best = found.pairs[0]
    assert pattern[best.query, best.key] == pytest.approx(pattern[1:].max(), abs=1e-5)
    assert found.n_lone == 1
    assert all(pair.query > 0 for pair in found.pairs)


def test_another_head_needs_no_other_pass() -> None:
    picture_of(DocumentRequest("sparse", TEXT))
    (document,) = reading._documents.values()
    picture_of(DocumentRequest("sparse", TEXT, head=1))
    assert list(reading._documents.values()) == [document]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (DocumentRequest("shakespeare", TEXT), "vectors for 64 positions"),
        (DocumentRequest("translator", "the animal sleeps. " * 60), "or choose a language model"),
        (DocumentRequest("absent", TEXT), "There is no absent"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(asked: DocumentRequest, said: str) -> None:
    assert said in refusal_of(asked)


def test_too_long_a_text_and_too_large_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_TOKENS", 300)
    picture_of(DocumentRequest("sparse", TEXT[:200]))
    assert "this model reads at most 300; remove 444" in refusal_of(DocumentRequest("sparse", TEXT))
    monkeypatch.setattr(reading, "MOST_TOKENS", 32_768)
    monkeypatch.setattr(reading, "KEPT_BYTES", 100_000)
    assert "more than 50 kB" in refusal_of(DocumentRequest("sparse", TEXT))


def test_where_all_layers_have_no_room_the_wanted_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    one_layer = 2 * 4 * len(TEXT) * 64
    monkeypatch.setattr(reading, "KEPT_BYTES", 3 * one_layer)
    assert picture_of(DocumentRequest("sparse", TEXT, layer=1)).picture is not None
    (document,) = reading._documents.values()
    assert list(document.heads) == ["decoder.1.self"]
    assert picture_of(DocumentRequest("sparse", TEXT, layer=0)).picture is not None


def test_windows_rows_and_columns_are_those_of_the_pattern() -> None:
    found = picture_of(DocumentRequest("sparse", TEXT, head=3))
    pattern = whole_pattern("sparse", TEXT, 0, 3)
    tile = reading.window(found, {"q0": 100, "q1": 160, "k0": -5, "k1": 90})
    assert tile is not None
    np.testing.assert_allclose(tile["cells"], pattern[100:160, 0:90], atol=1e-5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "MOST_CELLS", 99)
        assert reading.window(found, {"q0": 0, "q1": 10, "k0": 0, "k1": 10}) is None
    looked = reading.row_and_column(found, 120, 118)
    assert looked["weight"] == pytest.approx(pattern[120, 118], abs=1e-5)
    at, weight = looked["row"][0]
    assert weight == pytest.approx(pattern[120].max(), abs=1e-5)
    assert at == int(pattern[120].argmax())
    assert looked["column"][0][1] == pytest.approx(pattern[:, 118].max(), abs=1e-5)
    wild = reading.bounded_window(found, {"q0": 10**9, "q1": -4, "k0": -(10**9), "k1": 10**9})
    assert wild == (slice(len(TEXT) - 1, len(TEXT)), slice(0, len(TEXT)))


def test_a_document_that_is_not_kept_any_more_is_read_again() -> None:
    found = picture_of(DocumentRequest("sparse", TEXT))
    reading._forget()
    with pytest.raises(GoneError):
        reading.row_and_column(found, 1, 1)
    assert picture_of(DocumentRequest("sparse", TEXT)) is not found


def test_the_message_holds_the_words_around_each_pair() -> None:
    found = picture_of(DocumentRequest("sparse", TEXT))
    message = reading.whole_message(found, token="x")
    header = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    assert len(header["tokens"]) == len(TEXT)
    pair = header["pairs"][0]
    before, at, _ = pair["words"][0]
    assert at == header["tokens"][pair["query"]]
    assert before.split(" ")[-1] == (header["tokens"][pair["query"] - 1] if pair["query"] else "")
    assert header["token"] == "x"
    assert header["lone"] == 1


def test_the_sample_is_read_by_the_default_model() -> None:
    first = {"model": state.DEFAULT, "text": "", "stack": "encoder.self", "layer": 0, "head": 0}
    request = state.request(first | {"measure": "largest", "without": 0})
    assert 4_000 < len(request.text) < 8_000
    assert request.model in state.readers()
    assert {"translator", "sparse"} <= set(state.readers())
    assert "digits-classifier" not in state.readers()


def test_a_document_of_one_word_repeated_is_read_as_any_other() -> None:
    found = picture_of(DocumentRequest("untrained", "again " * 700, settings=(("n_layers", 1),)))
    assert found.picture.cells.min() >= 0
    assert found.pairs[0].weight < 1


SENTENCE = "the animal did not cross the street because it was too tired"


@pytest.mark.parametrize("stack", ["encoder.self", "decoder.self", "decoder.cross"])
def test_a_translator_shows_its_three_attentions(stack: str) -> None:
    found = picture_of(DocumentRequest("translator", SENTENCE, stack=stack, layer=1, head=2))
    trace = load_model("translator").trace(SENTENCE)
    side, kind = stack.split(".")
    pattern = trace[f"{side}.1.{kind}.pattern"][2].numpy()
    np.testing.assert_allclose(found.picture.cells.numpy(), pattern, atol=1e-5)
    assert (len(found.queries), len(found.keys)) == pattern.shape
    rows, keys = reading.bounded_window(found, {"q0": 0, "q1": 999, "k0": 0, "k1": 999})
    assert (rows.stop, keys.stop) == pattern.shape
    looked = reading.row_and_column(found, 999, 999)
    assert looked["weight"] == pytest.approx(pattern[-1, -1], abs=1e-5)
    best = found.pairs[0]
    lone = 1 if stack == "decoder.self" else 0
    assert (found.n_lone, best.weight) == (lone, pytest.approx(pattern[lone:].max(), abs=1e-5))
    message = reading.whole_message(found)
    header = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    assert len(header["tokens"]) == pattern.shape[1]
    assert len(header.get("queries", header["tokens"])) == pattern.shape[0]
    assert ("queries" in header) == (stack == "decoder.cross")
    assert header["pairs"][0]["words"][0][1] == header.get("queries", header["tokens"])[best.query]
    assert header["pairs"][0]["words"][1][1] == header["tokens"][best.key]


def test_a_short_text_is_read_by_the_model_as_it_is() -> None:
    found = picture_of(DocumentRequest("shakespeare", "to be or not to be"))
    assert (found.stretched, len(found.keys), found.place.stack) == (False, 18, "decoder.self")
    assert picture_of(DocumentRequest("sparse", TEXT * 8)).stretched


def test_a_place_that_a_model_has_not_is_its_nearest() -> None:
    found = picture_of(DocumentRequest("sparse", TEXT, stack="decoder.cross", layer=99, head=99))
    about = found.stacks["decoder.self"]
    assert found.place == HeadPlace("decoder.self", about.n_layers - 1, about.n_heads - 1)
