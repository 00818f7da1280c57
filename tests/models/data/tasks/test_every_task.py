"""What holds for every task: a seed says what it draws, and what it cannot read is refused in words."""

import json
import re

import pytest
import torch

from attention_lab.models.data.tasks import TASKS, generator_of, make_task
from attention_lab.models.scores.report import keys
from tests.models.training.small import small_task

NUMBER = "no picture has the number {!r}; type one from 1 to 359"
SUM = "is not two numbers below 7; try '"
CODE = "the code of ana 17 42 30 . what ? the code of ana"
UNREADABLE = [
    ("reverse", {}, "", "the question has 0 characters; give 1 to 8"),
    ("reverse", {}, "abcdefghi", "the question has 9 characters; give 1 to 8"),
    ("reverse", {}, "äb", "'ä' is no character of 'reverse'; use abcdefghijklmnop"),
    ("reverse", {}, "ab=abc", "the answer to 'ab' has 3 characters; give at most 2"),
    ("induction", {}, "a-b", "'-' is no letter of this task; use abc"),
    ("back-copy", {"length": 12}, "tä", "'ä' is no letter of this task; use abcdefghijklmnopqrstuvwxyz"),
    ("back-copy", {"length": 12}, "t" * 13, "the text has 13 letters; give 1 to 12"),
    ("needle", {}, "the code of zoe 17 . what ? the code of zoe", "'zoe' is no word of this task; try '"),
    ("needle", {}, "the code of ana 17 .", "the text asks for no code; end it with 'what ? the code of ana'"),
    ("needle", {}, "what the code of ana", "the text asks for no code"),
    ("needle", {}, CODE + " 1 2 3", "'1' is no word of this task"),
    ("needle", {}, CODE + " 17 42 30 11", "the answer has 4 words; give at most 3"),
    (
        "needle",
        {},
        "sky " * 60 + CODE,
        "the text has 77 words with the answer, but this model reads at most 64; remove 13",
    ),
    ("sentiment", {}, " \n", "the text is empty; type a sentence"),
    ("sentiment", {}, "good " * 48, "the text has 48 words and signs; give at most 47"),
    ("masked", {}, " ", "the text is empty; give at least one word"),
    ("masked", {}, "the " * 40, "the text has 40 tokens, but this model reads at most 30; remove 10"),
    *(("digits-autoencoder", {}, text, NUMBER.format(text[:40])) for text in ("", "0", "360", "seven")),
    *(("digits-autoencoder", {}, text, NUMBER.format(text[:40])) for text in ("-1", "1.5", "9" * 60)),
    *(
        ("modular-addition", {"modulus": 7}, text, f"{text[:40]!r} {SUM}")
        for text in ("", "3", "3 7 =", "3 5 1", "-1 3", "a b =", "=", "1e1 2", "9999999999999 1")
    ),
]


@pytest.mark.parametrize(("name", "options", "text", "sentence"), UNREADABLE)
def test_what_cannot_be_read_is_refused(name: str, options: dict, text: str, sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        make_task(name, options).read(text)


ANYWHERE = ("language-model", "long-context", "next-word", "masked")
"""Tasks whose examples are pieces of texts, or hide other words each time."""


@pytest.mark.parametrize("name", TASKS)
def test_a_seed_says_which_examples_are_drawn(name: str):
    task = small_task(name)
    one, two, other = (next(task.batches(seed, 16, start=3)) for seed in (5, 5, 6))
    again = small_task(name).batch(generator_of(7, 1), 4)
    assert torch.equal(task.batch(generator_of(7, 1), 4).targets, again.targets)
    assert torch.equal(one.inputs[0], two.inputs[0]) and torch.equal(one.targets, two.targets)
    assert one.inputs[0].shape != other.inputs[0].shape or not torch.equal(one.inputs[0], other.inputs[0])


@pytest.mark.parametrize("name", [name for name in TASKS if name not in ANYWHERE])
def test_held_out_examples_are_never_trained(name: str):
    task = small_task(name)
    one, other, held_out = (
        {key[0] for key in keys(task.batch(generator_of(seed, 0), 400, held_out=seed == 2))}
        for seed in range(3)
    )
    assert len(held_out) > 10 and not held_out & (one | other)


BOOK = "One fish swims. Two fish swim!\nRed fish? Blue fish.\n" * 60
REVIEWS = "text,label\n" + "".join(f"{('dull', 'fine')[n % 2]} film {n},{n % 2}\n" for n in range(200))
PAIRS = "source\ttarget\n" + "".join(f"{n} cats\t{n} chats\n" for n in range(300))
LEARNT = [
    ("language-model", {"length": 16}, BOOK),
    ("language-model", {"length": 16, "tokens": "bpe", "vocabulary": 280}, BOOK),
    ("long-context", {"length": 32, "window": 16}, BOOK),
    ("masked", {"length": 16}, BOOK),
    ("sentiment", {"pieces": 150}, REVIEWS),
    *(
        (name, {}, "")
        for name in ("verb-number", "next-word", "translation", "sentiment", "reverse", "needle")
    ),
]


@pytest.mark.parametrize(("name", "options", "text"), LEARNT)
def test_what_a_task_learnt_reads_without_its_data(name, options, text, tmp_path):
    file = tmp_path / ("mine.tsv" if text == PAIRS else "mine.csv")
    if text:
        file.write_text(text)
        options = {**options, "file": str(file)}
    task, again = make_task(name, options), make_task(name, options)
    learnt = json.loads(json.dumps(task.learnt()))
    file.unlink(missing_ok=True)
    again.restore(learnt)
    assert (again.required_sizes(), again.outputs()) == (task.required_sizes(), task.outputs())
    one, other = task.probe(), again.probe()
    assert (one.text, one.tokens) == (other.text, other.tokens)
    assert all(torch.equal(*sides) for sides in zip(one.inputs, other.inputs, strict=True))


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("language-model", {"opening": None}, "opening=None is not what was learnt"),
        ("language-model", {"tokenizer": {}}, "the tokenizer has no valid 'kind'"),
        ("masked", {"shown": 3}, "shown=3 is not what was learnt; give what learnt returned"),
        ("sentiment", {"classes": ["good", 1]}, "classes=['good', 1] is not what was learnt"),
        ("sentiment", {"tokenizer": {}}, "the tokenizer has no valid"),
        ("everyday", {"shown": ["one"]}, "shown=['one'] is not what was learnt"),
        ("next-word", {"words": None}, "words=None is not what was learnt"),
        ("translation", {"words": {}}, "words={} is not what was learnt"),
    ],
)
def test_foreign_values_are_not_restored(name, change, sentence):
    task = small_task(name)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        task.restore({**task.learnt(), **change})
