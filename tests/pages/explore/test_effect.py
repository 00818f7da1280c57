"""What edits did, as the browser gets it, against two passes of the engine itself."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from attention_lab.models import load_model
from attention_lab.pages.explore import effect as effect_module
from attention_lab.pages.explore import takeaway
from attention_lab.pages.explore.edit_lines import condition
from attention_lab.pages.explore.payload import Opened, build
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import subject_of
from tests.models.zoo.hub import families
from tests.pages.explore.test_payload import array_of, unpack

OFF = "encoder.0.self heads 2: zero"
SET = "encoder.1.self.pattern heads 3 at 9: set 2=0.1 renormalised"
INPUTS = Inputs(edits=f"{OFF}\n{SET}")


def passes() -> tuple[torch.Tensor, ...]:
    """The same pass twice by the engine alone, without and with the two edits."""
    model = load_model("translator")
    reading = model.read(INPUTS.text)

    def edit(address: str, value: torch.Tensor) -> torch.Tensor:
        value = value.clone()
        if address == "encoder.0.self.z":
            value[2] = 0
        elif address == "encoder.1.self.pattern":
            row, others = value[3, 9], torch.arange(value.shape[-1]) != 2
            row[others] *= 0.9 / row[others].sum()
            row[2] = 0.1
        return value

    return model.trace(reading), model.trace(reading, edit=edit)


def test_before_after_and_what_differs_are_those_of_two_passes() -> None:
    before, after = passes()
    header, blocks = unpack(build(subject_of(INPUTS), Opened()).packed.message(generation=1))
    for sent, trace in ((header, after), (header["before"], before)):
        block = next(b for b in sent["exact"] if b["stack"] == "encoder.self" and b["layer"] == 1)
        pattern = array_of(block["arrays"]["pattern"], blocks)
        np.testing.assert_allclose(pattern, trace["encoder.1.self.pattern"].numpy(), atol=1e-6)
    change = header["change"]
    p, q = (trace["logits"].double().softmax(-1) for trace in (before, after))
    kl = (p * (p / q).log()).sum(-1)
    np.testing.assert_allclose(change["kl"], kl.numpy(), rtol=1e-3, atol=1e-9)
    moved = header["stacks"][0]["stats"]["moved"]
    variation = (after["encoder.1.self.pattern"] - before["encoder.1.self.pattern"]).abs().sum(-1).mean(
        -1
    ) / 2
    np.testing.assert_allclose(moved[4:], variation.numpy(), atol=6e-5)
    assert moved[:4] == [0, 0, 0, 0]
    stream = array_of(change["stream"]["encoder"], blocks)
    one, other = before["encoder.1.resid_post"], after["encoder.1.resid_post"]
    np.testing.assert_allclose(stream[2], ((other - one).norm(dim=-1) / one.norm(dim=-1)).numpy(), rtol=1e-4)
    assert not stream[0].any()
    assert next(m for m in header["measures"] if m["name"] == "moved")["source"] == "total variation distance"


def test_the_likeliest_outputs_stand_with_both_of_their_probabilities() -> None:
    before, after = passes()
    names = load_model("translator").outputs
    header, _ = unpack(build(subject_of(INPUTS), Opened()).packed.message(generation=1))
    step = 9
    p, q = (trace["logits"][step].double().softmax(-1) for trace in (before, after))
    rows = header["change"]["outputs"][step]
    assert {names[int(p.argmax())], names[int(q.argmax())]} <= {name for name, _, _ in rows}
    for name, was, is_now in rows:
        at = names.index(name)
        assert was == pytest.approx(float(p[at]), rel=1e-3, abs=1e-9)
        assert is_now == pytest.approx(float(q[at]), rel=1e-3, abs=1e-9)
    assert header["before"]["steps"][step]["top"][0][0] == names[int(p.argmax())]


def test_without_edits_nothing_is_sent_of_them() -> None:
    header, _ = unpack(build(subject_of(INPUTS.unedited), Opened()).packed.message(generation=1))
    assert "before" not in header and "change" not in header
    assert header["editable"] and header["feeds"]
    assert "moved" not in header["stacks"][0]["stats"]


def test_edits_that_make_too_large_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"decoder.1.resid_post holds too large numbers; scale"):
        build(subject_of(Inputs(edits="decoder.1.ff: scale 1000000\n" * 8)), Opened())


def test_where_outputs_have_no_names_there_is_no_divergence_of_them() -> None:
    inputs = Inputs("digits-autoencoder", "3", edits="encoder.0.ff: zero")
    header, blocks = unpack(build(subject_of(inputs), Opened()).packed.message(generation=1))
    assert (header["change"]["kl"], header["change"]["outputs"]) == ([], [])
    assert array_of(header["change"]["stream"]["encoder"], blocks)[1].min() > 0


def test_what_is_too_long_to_be_compared_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect_module, "COMPARED_BYTES", 1)
    with pytest.raises(ValueError, match="shorten the text"):
        build(subject_of(INPUTS), Opened())


def test_what_is_taken_away_is_of_the_pass_that_is_seen() -> None:
    before, after = passes()
    weights = [trace["encoder.1.self.pattern"][3].numpy() for trace in (before, after)]
    view = {"view": "head", "stack": "encoder.self", "layer": 1, "head": 3}
    found = {
        when: takeaway.StageView(INPUTS, view | {"when": when}).figure(dark=False).data[0].z
        for when in ("before", "after", "difference")
    }
    np.testing.assert_allclose(found["before"], weights[0], atol=1e-6)
    np.testing.assert_allclose(found["after"], weights[1], atol=1e-6)
    np.testing.assert_allclose(found["difference"], weights[1] - weights[0], atol=1e-6)
    grid = takeaway.StageView(INPUTS, view | {"view": "grid", "when": "difference"}).figure(dark=False)
    assert np.nanmin(grid.data[0].z) < 0 < np.nanmax(grid.data[0].z)
    table = pd.read_csv(io.StringIO(takeaway.table(INPUTS, view)))
    np.testing.assert_allclose(table["weight_without_edits"], weights[0].ravel(), atol=1e-6)
    np.testing.assert_allclose(table["weight"], weights[1].ravel(), atol=1e-6)
    effect = takeaway.StageView(INPUTS, view | {"view": "effect", "step": 9}).figure(dark=False)
    p, q = (trace["logits"][9].double().softmax(-1) for trace in (before, after))
    shown = [bar.y for bar in effect.data if bar.y is not None and len(bar.y)]
    assert max(shown[0]) == pytest.approx(float(p.max()), rel=1e-3)
    assert max(shown[-1]) <= float(q.max()) + 1e-6


def test_a_weight_beyond_1_has_the_colour_of_the_nearest_end_and_its_own_number() -> None:
    inputs = Inputs(edits="encoder.0.self.pattern heads 0: scale -3")
    header, blocks = unpack(build(subject_of(inputs), Opened()).packed.message(generation=1))
    block = next(b for b in header["exact"] if (b["stack"], b["layer"]) == ("encoder.self", 0))
    usual = load_model("translator").trace(INPUTS.text)["encoder.0.self.pattern"][0].numpy()
    np.testing.assert_allclose(array_of(block["arrays"]["pattern"], blocks)[0], -3 * usual, atol=1e-6)
    assert not array_of(header["stacks"][0]["thumbs"], blocks)[0].any()


def test_what_is_written_and_the_heads_that_it_needs_are_computed_when_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = Inputs(edits="encoder.1.self: zero")
    both = effect_module.write_both(inputs)
    assert "parce qu'il était trop fatigué" in both["before"]
    assert "parce qu'elle était trop fatiguée" in both["after"]
    monkeypatch.setattr(effect_module, "MOST", 8)
    few = effect_module.smallest(inputs, "encoder.self")
    assert few == {"lines": [], "answer": both["before"], "tried": 8, "whole": 1, "heads": 8}
    monkeypatch.setattr(effect_module, "MOST_OPERATIONS", 1)
    with pytest.raises(ValueError, match="shorten the text, or take a smaller model"):
        effect_module.smallest(inputs, "encoder.self")


STORY = "the animal did not cross the street because it was too tired"


def change_of(model: str, text: str, edits: str) -> dict[str, Any]:
    header, _ = unpack(
        build(subject_of(Inputs(model=model, text=text, edits=edits)), Opened()).packed.message(generation=1)
    )
    return dict(header["change"])


def test_the_headline_says_what_became_of_the_answer_and_then_how_far_it_moved() -> None:
    model = load_model("translator")
    reading = model.read(STORY)
    change = change_of("translator", STORY, "encoder.1.self heads 0-3: zero")
    after = model.trace(reading, edits="encoder.1.self heads 0-3: zero")["logits"].double().softmax(-1)
    before = model.trace(reading)["logits"].double().softmax(-1)
    names, at = model.names(reading), change["at"]
    (was, p), (now, _) = [(names[int(row[at].argmax())], float(row[at].max())) for row in (before, after)]
    q = float(after[at][int(before[at].argmax())])
    assert (was, now) == ("il", "elle")
    assert change["answer"] == (
        f"Without these 4 heads it writes “elle”: P(il) falls from {p:.3f} to {q:.3f}."
    )
    assert change["moved"] == (
        f"The outputs there moved by a KL divergence of {change['kl'][at]:.2f} nats, after “qu'”."
    )
    assert (before[:at].argmax(-1) == after[:at].argmax(-1)).all()
    written = model.answer(reading, edits="encoder.1.self heads 0-3: zero").answer
    assert "elle" in written.split("qu'")[-1]


def test_an_answer_that_stays_is_said_where_its_outputs_moved_most() -> None:
    change = change_of("translator", STORY, "encoder.1.self heads 3: zero")
    assert change["at"] == int(np.argmax(change["kl"]))
    assert change["answer"].startswith("Without this head it still writes “il”: P(il) falls from 0.99")


@pytest.mark.parametrize(
    ("model", "text", "edits", "begins", "place"),
    [
        ("sentiment", "a wonderful film", "encoder.0.self heads 0: zero", "Without this head it ", ""),
        ("masked", "the cat saw the [MASK]", "encoder.0.ff.out: zero", "With this edit it ", "[MASK]"),
        ("shakespeare", "First Citizen:\nBefore we proceed any", "decoder.0.self heads 0: zero",
         "Without this head it still writes “␣”: P(␣) falls from ", "y"),
    ],
)  # fmt: skip
def test_classifiers_fillers_and_writers_say_what_they_answer(
    model: str, text: str, edits: str, begins: str, place: str
) -> None:
    subject, change = subject_of(Inputs(model=model, text=text)), change_of(model, text, edits)
    assert change["answer"].startswith(begins) and (
        f"“{place}”" in change["answer"] + change["moved"] or not place
    )
    best = max(change["outputs"][change["at"]], key=lambda row: row[2])[0]
    assert f"“{best}”" in change["answer"]
    if model == "shakespeare":  # it writes after all that was read
        assert change["at"] == len(subject.tokens["decoder"]) - 1
    if place == "[MASK]":
        assert subject.tokens["encoder"][change["at"]]["text"] == place


@pytest.mark.parametrize("kind", ["GPT2ForSequenceClassification", "GPT2ForTokenClassification"])
def test_a_decoder_that_classifies_says_what_it_answers(kind: str, tmp_path: Path) -> None:
    folder = families.save("gpt2", tmp_path)
    config = transformers.GPT2Config.from_pretrained(folder, num_labels=3)
    getattr(transformers, kind)(config).save_pretrained(folder)
    change = change_of(f"hf:{folder}", "the cat saw", "decoder.0.self heads 0: zero")
    assert change["answer"].startswith("Without this head it ")


def test_what_was_edited_begins_the_sentence() -> None:
    one, two = "encoder.0.self heads 1: zero", "encoder.0.self heads 1,2: zero"
    assert condition(one) == "Without this head"
    assert condition(f"{two}\nencoder.1.self heads 1: zero") == "Without these 3 heads"
    assert condition(f"{one}\n{SET}") == "With these 2 edits"
    assert condition("encoder.0.self heads 1 at 3: zero") == "With this edit"
    assert condition("encoder.0.self: zero") == "With this edit"
