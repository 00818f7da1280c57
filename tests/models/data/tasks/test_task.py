"""What every task relies on: options checked in words, batches in parts, loss and score by definition."""

import math
import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytest
import torch

from models import ModelConfig, Transformer
from models.data.tasks import IGNORED, TASKS, Batch, Reading, Task, generator_of, make_task, option


@dataclass(frozen=True, kw_only=True)
class Double(Task):
    """Digits below 5, and each of them twice: in no list, for it has no name."""

    title = "Double"
    see = "the head that looks at the position itself"
    kind = "encoder-only"
    length: int = option(4, "digits", low=1, high=8)
    wide: float = option(0.5, "of no use", low=0.0, high=1.0)
    way: str = option("up", "of no use", choices=("up", "down"))
    loud: bool = option(False, "of no use")

    def dictates(self) -> dict[str, Any]:
        return {"kind": self.kind, "vocab_size": 10, "max_len": self.length, "pad_id": None}

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        digits = torch.randint(5, (size, self.length), generator=generator)
        targets = 2 * digits
        targets[:, 0] = IGNORED
        return Batch((digits,), targets)

    def probe(self) -> Reading:
        return self.read("1 2 3")

    def read(self, text: str) -> Reading:
        ids = [int(digit) for digit in text.split()]
        return Reading((torch.tensor([ids]),), {"encoder": text.split()}, text)

    def outputs(self) -> tuple[str, ...]:
        return tuple(map(str, range(10)))


def model_of(task: Task) -> Transformer:
    return Transformer(ModelConfig(n_layers=1, n_heads=2, d_model=8, **task.dictates()), seed=0).double()


def test_options_go_to_json_and_back_and_are_checked_in_words():
    assert Double(length=3).to_dict() == {"length": 3, "wide": 0.5, "way": "up", "loud": False}
    assert Double(wide=1) == Double(wide=1.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"length": 9}, "length=9 is not within 1 to 8; try 4"),
        ({"length": 2.5}, "length=2.5 is not a whole number; try 4"),
        ({"length": True}, "length=True is not a whole number; try 4"),
        ({"wide": "much"}, "wide='much' is not a number; try 0.5"),
        ({"wide": math.nan}, "wide=nan is not within 0 to 1; try 0.5"),
        ({"way": "left"}, "way='left' is unknown; choose one of up, down"),
        ({"loud": 1}, "loud=1 is not True or False; try False"),
    ],
)
def test_options_that_make_no_task_are_refused(options: dict[str, Any], sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Double(**options)


def test_tasks_are_made_by_name():
    name = next(iter(TASKS))
    assert type(make_task(name)) is TASKS[name]
    with pytest.raises(ValueError, match=r"task='levitate' is unknown; choose one of .*addition"):
        make_task("levitate")
    with pytest.raises(ValueError, match=f"'colour' is no option of task {name!r}; it has"):
        make_task(name, {"colour": "red"})


def test_every_task_says_what_it_is():
    for name, kind in TASKS.items():
        assert re.fullmatch("[a-z0-9-]+", name), name
        assert kind.title and kind.see and kind.__doc__, name
        assert kind.kind in ("encoder-only", "decoder-only", "encoder-decoder"), name


def test_batches_go_on_from_any_step():
    task = Double()
    first = [batch.targets for batch in islice(task.batches(7, 3), 5)]
    later = [batch.targets for batch in islice(task.batches(7, 3, start=2), 3)]
    assert all(torch.equal(a, b) for a, b in zip(first[2:], later, strict=True))
    assert not torch.equal(first[0], first[1])
    other = next(task.batches(8, 3))
    assert not torch.equal(first[0], other.targets)


def test_parts_of_a_batch_are_the_batch():
    whole = Batch((torch.arange(10).view(5, 2),), torch.arange(5)[:, None], {"more": torch.arange(5)})
    parts = whole.split(3)
    assert [len(part) for part in parts] == [2, 2, 1]
    assert torch.equal(torch.cat([part.inputs[0] for part in parts]), whole.inputs[0])
    assert torch.equal(torch.cat([part.targets for part in parts]), whole.targets)
    assert torch.equal(torch.cat([part.extra["more"] for part in parts]), whole.extra["more"])
    assert [len(part) for part in whole.split(9)] == [1] * 5
    assert whole.n_tokens == 10


def test_loss_and_score_by_hand():
    task = Double()
    model, batch = model_of(task), task.batch(generator_of(0, 0), 6)
    logits = model(*batch.inputs).tolist()
    terms, right = [], []
    for row, targets in zip(logits, batch.targets.tolist(), strict=True):
        asked = [(scores, t) for scores, t in zip(row, targets, strict=True) if t != IGNORED]
        terms += [math.log(sum(map(math.exp, scores))) - scores[t] for scores, t in asked]
        right.append(all(max(range(10), key=scores.__getitem__) == t for scores, t in asked))
    assert len(terms) == 6 * 3
    assert task.losses(model, batch)["loss"].item() == pytest.approx(sum(terms) / len(terms), rel=1e-6)
    assert task.score(model, batch) == {"exact match": sum(right) / 6}


def test_a_perfect_model_scores_one(monkeypatch: pytest.MonkeyPatch):
    task = Double()
    model = model_of(task)
    perfect = lambda digits, asked: torch.nn.functional.one_hot(2 * digits, 10).double()[asked]  # noqa: E731
    monkeypatch.setattr(model, "forward", perfect)
    assert task.score(model, task.batch(generator_of(1, 0), 5)) == {"exact match": 1.0}


def test_what_was_never_learnt_is_not_restored():
    assert Double().learnt() == {}
    Double().restore({})
    with pytest.raises(AssertionError):
        Double().restore({"vocabulary": []})
