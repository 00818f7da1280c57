"""A needle in a haystack: what the text says, what is asked, and what is read."""

import random

import pytest
import torch

from attention_lab.models.data.tasks import IGNORED, Task, generator_of, make_task
from attention_lab.models.data.tasks.needle import NUMBERS
from attention_lab.models.engine.decoding import greedy
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config

TEXT = (
    "the code of ana 17 42 30 . grass sky here we go there the code of ben 51 28 36 . what ? the code of ana"
)
TASK = make_task("needle")


def looked_up(words: list[str]) -> list[str]:
    """The numbers after the name that stands last, where it stood first."""
    at = words.index(words[-1])
    return words[at + 1 : words.index(".", at)]


@pytest.mark.parametrize("held_out", [False, True])
def test_what_is_asked_is_the_code_of_the_name_that_is_asked_for(held_out: bool) -> None:
    batch = TASK.batch(generator_of(3, 0), 50, held_out=held_out)
    lengths, facts = set(), set()
    for ids, targets in zip(batch.inputs[0].tolist(), batch.targets.tolist(), strict=True):
        asked = [at for at, target in enumerate(targets) if target != IGNORED]
        words = [TASK.outputs()[id_] for id_ in ids]
        assert asked == [asked[0], asked[0] + 1, asked[0] + 2]
        answer = [TASK.outputs()[targets[at]] for at in asked]
        assert answer == looked_up(words[: asked[0] + 1])
        assert words[asked[0] + 1 :][:2] == answer[:2]
        numbers = [word for word in words[: asked[0]] if word in NUMBERS]
        assert len(numbers) == len(set(numbers))
        lengths.add(asked[0])
        facts.add(len(numbers) // 3)
    assert max(lengths) <= 61 and len(lengths) > 10
    assert facts == ({3} if held_out else {1, 2, 3})


def test_the_fact_stands_as_deep_as_one_asks() -> None:
    rng = random.Random(0)
    for depth, low, high in ((0.0, 4, 4), (0.5, 8, 50), (1.0, 20, 64)):
        made = TASK.haystack(rng, facts=1, depth=depth)
        assert low <= made.place <= high
        assert made.words[made.place : made.place + 3] == made.answer
        assert len(made.words) + 3 == 64


def test_texts_are_read_with_as_much_of_the_answer_as_is_given() -> None:
    for begun in ("", " 17", " 17 42", " 17 42 30"):
        reading = TASK.read(TEXT.upper().replace(" .", ".") + begun)
        assert reading.tokens["decoder"] == (TEXT + begun).split()
        assert [TASK.outputs()[id_] for id_ in reading.inputs[0][0].tolist()] == reading.tokens["decoder"]


def test_a_text_too_short_for_its_facts_is_refused() -> None:
    with pytest.raises(ValueError, match="length=32 has no room for facts=3 of numbers=3; try length=41"):
        make_task("needle", {"length": 32})
    assert make_task("needle", {"length": 41}).probe().text


def test_a_model_answers_greedily_with_as_many_words_as_a_code_has() -> None:
    task: Task = TASK
    model = Transformer(run_config(task).model, seed=0).eval()
    reading = task.answered(model, task.read(TEXT))
    ids = task.read(TEXT).inputs[0]
    rows = greedy(model, ids, max_new_tokens=3)[0, ids.shape[1] :].tolist()
    assert reading.answer == " ".join(task.outputs()[id_] for id_ in rows)
    assert reading.following == task.outputs()[rows[2]]
    assert torch.equal(reading.inputs[0], torch.cat([ids, torch.tensor([rows[:2]])], dim=1))
    writing = task.writing(task.read(TEXT + " 17"))
    assert writing is not None and (len(writing.begun), writing.most) == (ids.shape[1], 3)
    assert writing.finished(rows).answer == reading.answer
    for sample in task.samples(model, 0):
        assert sample.wanted.split() == looked_up(sample.given.split())
