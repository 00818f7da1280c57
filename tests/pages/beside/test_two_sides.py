"""Comparisons as the page asks for them, and the sentences for those that cannot be."""

import numpy as np
import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.contrast.matching import Head, Match, Matching
from attention_lab.pages.beside import two_sides
from attention_lab.pages.beside.board import Selection
from attention_lab.pages.beside.takeaway import code_of
from attention_lab.pages.beside.two_sides import Comparison, ComparisonRequest
from attention_lab.pages.shared.work import Job

TEXT = "the animal did not cross the street because it was too tired"


def asked(differs: str, other: str, *, model: str = "translator", text: str = TEXT) -> ComparisonRequest:
    return ComparisonRequest(model, text, (), differs, other, (0, 0))


def compared(wanted: ComparisonRequest) -> Comparison:
    return two_sides.compute(Job(request=wanted))


def test_a_knob_has_a_frame_at_each_value_and_what_was_typed() -> None:
    seen = compared(asked("temperature", "0.7"))
    assert seen.names[seen.first] == "0.7" and {"1", "2"} <= set(seen.names)
    at = seen.names.index("2")
    trace = load_model("translator").trace(TEXT)
    by_hand = (trace["encoder.0.self.scores"][1].double() / 2).softmax(-1)
    np.testing.assert_allclose(seen.frames[at].laid(1, ("encoder.self", 0, 1)), by_hand.numpy(), atol=1e-6)
    own = seen.frames[seen.names.index("1")]
    assert not np.abs(own.moved["encoder.self"]).any()
    assert seen.n_bytes > sum(each.nbytes for each in own.patterns[0].values())


def test_heads_are_matched_by_likeness() -> None:
    wanted = ComparisonRequest("translator", "the cat sleeps", (), "model", "translator", (0, 0), True)
    seen = compared(wanted)
    assert seen.matches and all(one == other for one, other in seen.matches.items())
    assert seen.note == "Heads are matched one to one by likeness, on 16 texts."
    assert not np.abs(seen.frames[0].moved["decoder.cross"]).any()


def test_models_without_texts_in_common_are_matched_on_the_text_itself() -> None:
    wanted = ComparisonRequest("translator", "the cat sleeps", (), "model", "masked", (0, 0), True)
    seen = compared(wanted)
    assert seen.note.startswith("Heads are matched one to one by likeness, on this text alone.")
    one, other = ("encoder.self", 1, 2), seen.matches["encoder.self", 1, 2]
    a, b = (np.nan_to_num(seen.frames[0].laid(side, head)) for side, head in enumerate((one, other)))
    both = list(seen.frames[0].aligned["encoder"].both)
    apart = np.abs(a - b)[both].sum(-1).mean() / 2
    assert seen.frames[0].moved["encoder.self"][1, 2] == pytest.approx(apart)


def test_a_run_is_seen_at_its_steps() -> None:
    seen = compared(asked("step", "", model="induction"))
    assert seen.names[0] == "0" and seen.names[-1] == "800" and len(seen.names) <= two_sides.MOST_STEPS
    assert not np.abs(seen.frames[-1].moved["decoder.self"]).any()
    assert seen.frames[0].moved["decoder.self"][1, 0] > 0.5 and seen.frames[0].counts(1)["decoder.self"] == (
        2,
        4,
    )


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (asked("text", "  "), "The second text is empty; type one"),
        (asked("text", "x", text=""), "The first text is empty; type one"),
        (asked("model", "digits-classifier"), "no picture has the number"),
        (asked("model", "shakespeare"), "the two models cut texts into tokens of different"),
        (asked("temperature", "nan"), "temperature='nan' is no number from "),
        (asked("step", ""), "'translator' keeps no steps of its training; choose a run"),
    ],
)
def test_what_cannot_be_compared_is_said(wanted: ComparisonRequest, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as error:
        compared(wanted)
    assert "\n" not in str(error.value)


def test_patterns_that_take_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_sides, "ROOM", 1)
    with pytest.raises(ValueError, match="more than 0 MB; take a shorter text or a smaller model"):
        compared(asked("text", TEXT.replace("tired", "wide")))


def test_heads_left_over_stand_beside_the_one_most_like_them() -> None:
    distances = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.4], [0.6, 0.5]])
    pairs = (Match(Head(0, 0), Head(0, 0), 0.1), Match(Head(0, 1), Head(1, 0), 0.2))
    partners = two_sides._partners(
        Matching(distances, pairs, 1), [(0, 0), (0, 1), (1, 0), (1, 1)], [(0, 0), (1, 0)]
    )
    assert partners == {(0, 0): (0, 0), (0, 1): (1, 0), (1, 0): (0, 0), (1, 1): (1, 0)}


@pytest.mark.parametrize(
    "wanted",
    [
        asked("text", "the cat sleeps"), asked("model", "translator-plain"), asked("scale", "off"),
        asked("scale", ""), asked("heads", ""), asked("order", ""), asked("step", "", model="induction"),
        asked("head", ""),
    ],
)  # fmt: skip
def test_the_code_gives_the_same_numbers(
    wanted: ComparisonRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = "decoder.self" if wanted.differs == "step" else "encoder.self"
    other = (stack, 0, 2) if wanted.differs == "head" else (stack, 1, 3)
    names: dict[str, object] = {}
    seen = compared(wanted)
    at = len(seen.frames) // 2  # as scrubbed to
    exec(code_of(wanted, Selection(((stack, 1, 3), other), ("", "")), seen, at), names)
    frame = seen.frames[at]
    if wanted.differs == "step":
        where = names["where"]
        a, b = (names[side][where][3] for side in "ab")  # type: ignore[index]
    else:
        a, b = names["laid"][:2]  # type: ignore[index]
    np.testing.assert_allclose(a, frame.laid(0, (stack, 1, 3)), atol=1e-7)
    np.testing.assert_allclose(b, frame.laid(1, other), atol=1e-7)
