"""Questions with one right answer: right, held out for good, asked where they should be, and learnt."""

import pytest
import torch

from attention_lab.models.data.tasks import IGNORED, TASKS, generator_of, make_task
from attention_lab.models.data.tasks.algorithmic import is_held_out
from attention_lab.models.fields import options_of
from tests.small_models import model_of


def texts(task, batch) -> list[tuple[str, str]]:
    """What is read and what is asked, blanks and IGNORED left out."""
    names = task.outputs()
    return [
        ("".join(names[i] for i in ids if i), "".join(names[i] for i in targets if i != IGNORED))
        for ids, targets in zip(batch.inputs[0].tolist(), batch.targets.tolist(), strict=True)
    ]


def test_the_answer_is_asked_right_after_the_question():
    task = make_task("reverse")
    batch = task.batch(generator_of(0, 0), 50)
    for at, (read, asked) in enumerate(texts(task, batch)):
        question, _, given = read.partition("=")
        assert given == asked[:-1]
        assert asked == question[::-1]
        first = (batch.targets[at] != IGNORED).nonzero()[0].item()
        assert first == len(question), "asked at the equals sign first"


def test_one_question_in_ten_is_held_out():
    share = sum(is_held_out(f"{i:05}") for i in range(20_000)) / 20_000
    assert share == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("name", ["reverse", "induction"])
def test_what_is_read_fits_the_longest_sequences(name: str):
    """Options at their most, and a probe of at most 64 positions."""
    kind = TASKS[name]
    task = make_task(name, {"length": int(options_of(kind)["length"].rule.high)})
    model = model_of(task)
    batch = task.batch(generator_of(0, 0), 8)
    assert batch.inputs[0].shape[1] <= model.config.max_len
    assert model(*task.probe().inputs).shape[1] == len(task.probe().tokens["decoder"]) <= 64
    assert model(*batch.inputs).shape[-1] == len(task.outputs())


def test_a_question_is_read_and_answered_by_the_model():
    task = make_task("reverse")
    model = model_of(task)
    reading = task.read("c a b")
    assert reading.tokens == {"decoder": ["c", "a", "b", "="]} and reading.text == "cab="
    answered = task.answered(model, reading)
    answer = answered.answer
    assert len(answer) == 3 and answered.text == "cab=" + answer[:2]
    logits = model(*answered.inputs)[0, 3:]
    assert task.written(logits.argmax(dim=-1).tolist()) == answer, "each is the likeliest after those before"
    assert answered.following == answer[-1]
    begun = task.answered(model, task.read("cab=d"))
    assert begun.text.startswith("cab=d") and len(begun.answer) == 3 and begun.answer[0] == "d"


def test_induction_repeats_and_asks_for_what_can_be_known():
    task = make_task("induction")
    batch = task.batch(generator_of(0, 0), 100)
    halves = set()
    for read, asked in texts(task, batch):
        n = len(asked) + 1
        assert read == (read[:n] + read[:n])[:-1] and len(set(read[:n])) == n
        assert asked == read[1:n]
        halves.add(n)
    assert halves == set(range(4, task.length + 1))
    assert ((batch.targets != IGNORED).int().argmax(dim=1) >= 4).all()
    probe = task.probe().tokens["decoder"]
    assert probe[: len(probe) // 2] == probe[len(probe) // 2 :]
    with pytest.raises(ValueError, match="letters=8 cannot give length=16 different ones; try letters=16"):
        make_task("induction", {"letters": 8, "length": 16})


def test_the_score_of_induction_is_over_the_second_half(monkeypatch: pytest.MonkeyPatch):
    task = make_task("induction")
    model, batch = model_of(task), task.batch(generator_of(0, 0), 6)
    logits = torch.nn.functional.one_hot(batch.targets.clamp(min=0), len(task.outputs())).double()
    wrong = (batch.targets[2] != IGNORED).nonzero()[0]
    logits[2, wrong] = 0.0  # one position answers a blank
    monkeypatch.setattr(model, "forward", lambda ids, positions: logits[positions])
    asked = int((batch.targets != IGNORED).sum())
    assert task.score(model, batch) == pytest.approx({"second half": 1 - 1 / asked, "exact match": 5 / 6})


@pytest.mark.parametrize("name", ["reverse", "induction"])
def test_samples_are_answers_to_held_out_questions(name: str):
    task = make_task(name)
    samples = task.samples(model_of(task), seed=0)
    assert len(samples) == 4
    for sample in samples:
        question = sample.given.removesuffix("=")
        assert is_held_out(question)
        assert len(sample.made) == len(sample.wanted)
        assert sample.wanted == (question[::-1] if name != "induction" else question[1:])
