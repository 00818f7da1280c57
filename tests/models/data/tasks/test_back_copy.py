"""Letters that come back after vowels: drawn by the rule, read, and scored where they do."""

import pytest
import torch

from attention_lab.models.data.tasks import Task, make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config

VOWELS = "aeiou"


def small() -> Task:
    return make_task("back-copy", {"length": 12})


def texts(held_out: bool, size: int = 200) -> list[str]:
    batch = small().batch(torch.Generator().manual_seed(3), size, held_out=held_out)
    assert (batch.inputs[0][:, 0] == 0).all()  # <bos>
    assert torch.equal(batch.inputs[0][:, 1:], batch.targets[:, :-1])
    return [small().written(row) for row in batch.targets.tolist()]


def test_after_a_vowel_comes_what_came_before_it() -> None:
    found = texts(held_out=False)
    assert all(len(text) == 12 and text[0] not in VOWELS for text in found)
    vowels = [(text, at) for text in found for at in range(11) if text[at] in VOWELS]
    assert len(vowels) > 100
    assert all(text[at + 1] == text[at - 1] for text, at in vowels)


def test_after_a_consonant_the_table_draws() -> None:
    """The share of each letter after the most frequent consonant, against the table's row."""
    found = texts(held_out=False, size=600)
    letter = max("bcdfghjklmnpqrstvwxyz", key=lambda each: sum(map(str.count, found, each * len(found))))
    after = [text[at + 1] for text in found for at in range(11) if text[at] == letter]
    row = small().table["abcdefghijklmnopqrstuvwxyz".index(letter)]
    assert float(row.sum()) == pytest.approx(1)
    best = "abcdefghijklmnopqrstuvwxyz"[int(row.argmax())]
    assert after.count(best) / len(after) == pytest.approx(float(row.max()), abs=0.06)


def test_letters_are_read_after_their_beginning() -> None:
    reading = small().read("ta t\nB")
    assert reading.inputs[0].tolist() == [[0, 20, 1, 20, 2]]
    assert reading.tokens == {"decoder": ["<bos>", "t", "a", "t", "b"]}
    probe = small().probe()
    assert len(probe.text) == 12 and small().read(probe.text).inputs[0].tolist() == probe.inputs[0].tolist()


def test_what_follows_vowels_is_scored() -> None:
    """Against a count by hand of an untrained model's best letters."""
    task = small()
    model = Transformer(run_config(task).model, seed=0).eval()
    batch = task.batch(torch.Generator().manual_seed(1), 20)
    best = model(*batch.inputs).argmax(dim=-1)
    asked = [
        (int(best[row, at]), int(batch.targets[row, at]))
        for row in range(20)
        for at in range(1, 12)
        if task.outputs()[batch.inputs[0][row, at]] in VOWELS
    ]
    right, n = task.tally(model, batch)["after vowels"]
    assert (right, n) == (sum(said == wanted for said, wanted in asked), len(asked))
