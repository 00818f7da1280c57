"""Explore of models with a task: what is on the axes, what the stage gets, the lines that reproduce it."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from attention_lab.models import load_model
from attention_lab.models.data.tasks import make_task
from attention_lab.models.zoo.catalogue import offers
from attention_lab.pages.explore.payload import Opened, build, steps_of
from attention_lab.pages.explore.state import VIEWS, Inputs, write_link
from attention_lab.pages.explore.subject import Subject, subject_of
from attention_lab.pages.explore.takeaway import NORMALIZERS, StageView, csv_of, take_away
from tests.pages.explore.test_payload import array_of, unpack
from tests.pages.shared.runs import write_run


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def subject(runs: Path, task: str, text: str, **given: object) -> Subject:
    return subject_of(Inputs(model=write_run(runs, task, **given), text=text))


def header_of(found: Subject) -> dict:
    return unpack(build(found, Opened()).packed.message(generation=1))[0]


def labels(found: Subject, side: str) -> list[str]:
    return [token["text"] for token in found.tokens[side]]


def test_a_question_is_shown_with_the_answer_that_the_model_wrote(runs: Path) -> None:
    found = subject(runs, "reverse", "abcd")
    reading = load_model(runs / "reverse").read("abcd")
    answer = reading.answer
    assert labels(found, "decoder") == reading.tokens["decoder"]
    assert labels(found, "decoder")[:5] == ["a", "b", "c", "d", "="]
    header = header_of(found)
    assert header["translation"] == [{"text": answer, "strong": False}]
    chosen = [step["chosen"] for step in header["steps"]]
    assert chosen[:4] == ["b", "c", "d", "="]
    assert "".join(chosen[4:]) == answer  # greedy: each is its step's likeliest
    assert all(step["top"][0][0] == step["chosen"] for step in header["steps"][4:])
    assert (header["stepSide"], found.model.abilities) == ("decoder", ("answer",))


@pytest.mark.parametrize("normalizer", ["softmax-plus-one", "sigmoid"])
@pytest.mark.parametrize("view", ["grid", "lines", "numbers"])
def test_rows_that_do_not_sum_to_1_are_shown_and_taken_away(runs: Path, normalizer: str, view: str) -> None:
    found = subject(runs, "back-copy", "tatknok", sizes={"normalizer": normalizer})
    sums = found.run(None)["decoder.1.self.pattern"].sum(dim=-1)
    assert ((sums - 1).abs() > 1e-3).all()
    assert header_of(found)["stacks"][0]["normalizer"] == normalizer
    assert "add up" in found.note
    shown = StageView(found.inputs, {"layer": 1, "head": 2, "view": view, "query": 4, "key": 1})
    words = " ".join(note.text for note in shown.figure(dark=True).layout.annotations if note.text)
    assert view != "numbers" or f"their {normalizer.replace('-', ' ')}: weights" in words
    told = " ".join(words.replace("<br>", " ").split())
    assert view != "numbers" or f"{NORMALIZERS[normalizer]} → weight" in told


def test_a_text_that_goes_on_has_no_last_word_yet(runs: Path) -> None:
    found = subject(runs, "induction", "abcdab")
    assert [step["chosen"] for step in header_of(found)["steps"]] == ["b", "c", "d", "a", "b", None]
    assert found.model.abilities == ("continue",)
    assert "translation" not in found.extras


def test_a_pooled_answer_is_one_row_of_class_probabilities(runs: Path) -> None:
    found = subject(runs, "digits-classifier", "5")
    header = header_of(found)
    logits = load_model(runs / "digits-classifier").trace("5")["logits"].double()
    (step,) = header["steps"]
    best = logits[0].softmax(-1).sort(descending=True)
    assert [name for name, _ in step["top"]] == [str(int(at)) for at in best.indices]
    np.testing.assert_allclose([p for _, p in step["top"]], best.values, rtol=1e-4)
    assert header["pooled"] == "The first position is read as"
    assert step["chosen"] is None
    assert labels(found, "encoder")[0] == "[CLS]"
    assert found.tokens["encoder"][0]["mark"] == "special"


def test_a_hidden_word_is_where_the_stage_looks(runs: Path) -> None:
    sentences = runs / "sentences.txt"
    sentences.write_text("The cat saw the dog.\nThe dog did not see the cat.\n" * 40)
    found = subject(runs, "masked", "the [MASK] saw a zebra", file=str(sentences), vocabulary=100)
    at = labels(found, "encoder").index("[MASK]")
    assert labels(found, "encoder")[0] == "[CLS]"
    assert found.focus == {"query": at, "step": at}
    assert (found.model.abilities, found.tokens["encoder"][at]["mark"]) == (("fill",), "special")
    body = build(found, Opened())
    assert body.focus == found.focus | {"pinned": "query"}
    step = unpack(body.packed.message(generation=1))[0]["steps"][at]
    best = found.run(None)["logits"][at].double().softmax(-1).max(0)
    assert step["top"][0][0] == found.names[int(best.indices)]
    assert step["top"][0][1] == pytest.approx(best.values.item(), rel=1e-4)
    assert [word["word"] for word in found.unknown] == ["zebra"]


def test_blanks_and_line_ends_of_a_language_model_can_be_seen(runs: Path) -> None:
    text = runs / "text.txt"
    text.write_text("To be, or not to be:\nthat is the question.\n" * 40)
    found = subject(runs, "language-model", "to be\nor", file=str(text), length=16)
    assert labels(found, "decoder") == ["t", "o", "␣", "b", "e", "⏎", "o", "r"]
    assert [token.get("raw") for token in found.tokens["decoder"]][2::3] == [" ", "\n"]
    chosen = [step["chosen"] for step in header_of(found)["steps"]]
    assert chosen == ["o", "␣", "b", "e", "⏎", "o", "r", None]
    assert {"␣", "⏎"} & {name for step in header_of(found)["steps"] for name, _ in step["top"]}
    assert found.model.abilities == ("continue",)


def test_the_picture_that_was_read_comes_with_what_was_rebuilt_and_no_output_view(runs: Path) -> None:
    found = subject(runs, "digits-autoencoder", "3")
    header, blocks = unpack(build(found, Opened()).packed.message(generation=1))
    read, rebuilt = (array_of(picture["levels"], blocks) for picture in header["pictures"])
    assert [picture["title"] for picture in header["pictures"]] == ["read", "rebuilt"]
    task = make_task("digits-autoencoder")
    np.testing.assert_array_equal(read, (255 * task.pictures.held_out[2]).round())
    rows = found.run(None)["logits"].numpy()  # a position is a row of the picture
    np.testing.assert_array_equal(rebuilt, np.round(255 * rows.clip(0, 1)))
    assert header["steps"] == []
    assert steps_of(found, torch.zeros(8, 8)) == []


def test_each_pixel_says_which_position_reads_it(runs: Path) -> None:
    rows = header_of(subject(runs, "digits-classifier", "1"))
    assert rows["places"] == [[row] * 8 for row in range(1, 9)]  # [CLS] is position 0
    patches = subject(runs, "digits-autoencoder", "1", parts="4x4")
    names = labels(patches, "encoder")
    places = header_of(patches)["places"]
    for row, column in [(0, 0), (3, 4), (4, 3), (7, 7)]:
        assert names[places[row][column]] == f"patch {row // 4 + 1},{column // 4 + 1}"


def test_a_run_that_is_gone_is_refused(runs: Path) -> None:
    with pytest.raises(ValueError, match="There is no run:reverse with a checkpoint here; choose another"):
        subject_of(Inputs(model="run:reverse", text="abc"))


def test_a_newer_checkpoint_is_shown_at_once(runs: Path) -> None:
    first = subject(runs, "reverse", "abcd").run(None)["decoder.0.self.q"]
    path = runs / "reverse" / "checkpoint.safetensors"
    save_file({name: value / 2 for name, value in load_file(path).items()}, path)
    again = subject_of(Inputs(model="run:reverse", text="abcd")).run(None)["decoder.0.self.q"]
    assert not again.equal(first)


def test_the_lines_of_python_reproduce_the_trace(runs: Path) -> None:
    for task, text in (("reverse", "abc"), ("digits-classifier", "2")):
        found = subject(runs, task, text)
        names: dict = {}
        exec(found.code, names)
        assert names["trace"]["logits"].equal(found.run(None)["logits"])


def test_a_link_always_holds_the_text_of_a_model_with_a_task() -> None:
    assert write_link(Inputs(model="run:x", text="ab")) == {"model": "run:x", "text": "ab"}
    assert write_link(Inputs(model="run:x", beam=3))["text"] == Inputs().text


def test_shipped_models_open_with_each_of_their_examples() -> None:
    for model, offer in offers().items():
        for example in offer.examples:
            found = subject_of(Inputs(model=model, text=example["text"]))
            showcase = offer.showcase
            stack = next(s for s in found.stacks if s.id == showcase.get("stack", found.stacks[0].id))
            assert showcase.get("layer", 0) < stack.n_layers
            assert showcase.get("head", 0) < stack.n_heads
            assert set(example) >= {"label", "text", "see"}


@pytest.mark.parametrize(
    ("task", "text"),
    [("reverse", "abcd"), ("digits-classifier", "1"), ("digits-autoencoder", "1"), ("induction", "abcab")],
)
def test_every_view_can_be_taken_away(runs: Path, task: str, text: str) -> None:
    inputs = Inputs(model=write_run(runs, task), text=text)
    found = subject_of(inputs)
    (stack,) = found.stacks
    for view in VIEWS:
        assert take_away(
            inputs, {"view": view, "stack": stack.id, "layer": 1, "head": 2}, dark=False
        ).figure.data
    shown = StageView(inputs, {"view": "head", "stack": stack.id, "layer": 1, "head": 2})
    table = pd.read_csv(io.StringIO(csv_of(shown)), keep_default_na=False)
    pattern = found.run(None)[f"{shown.address}.pattern"][2]
    np.testing.assert_allclose(table["weight"], pattern.numpy().ravel(), rtol=1e-6)
    assert shown.code.endswith(
        f'pattern = trace["{stack.id.split(".")[0]}.1.self.pattern"][2]  # [query, key]'
    )
