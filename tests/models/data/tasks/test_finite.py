"""Tasks of finite data: three parts without a common example, held-out ones once, like lengths together."""

import json
import math
from itertools import islice
from pathlib import Path

import pytest
import torch

from attention_lab.models.data.tasks import IGNORED, Task, generator_of, make_task
from attention_lab.models.data.tasks.finite import OwnFile, _of_epochs, without_test
from attention_lab.models.data.word_tokenizer import PAD

SPLITS = ("training", "held out", "test")


@pytest.fixture
def table(tmp_path: Path) -> str:
    """380 pairs, most of them short and a few long, as people have them."""
    lines = [
        f"word{n} {'and more ' * (n % 7 == 0) * 12}\tmot{n} {'et plus ' * (n % 5 == 0) * 9}"
        for n in range(380)
    ]
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(lines))
    return str(path)


def texts(task: Task, split: str) -> list[str]:
    """What the encoder reads of each example of a part, as text."""
    batches = task.examples(1, 1_000, split=split, at_once=16)
    return [task.written([id_ for id_ in row if id_ > PAD]) for b in batches for row in b.inputs[0].tolist()]


def test_a_part_stays_as_it_is_where_rows_are_added_or_moved() -> None:
    rows = [(f"text {n}", n % 3) for n in range(200)]
    trained, tested = without_test(rows, lambda row: row[0])
    again, more = without_test([*reversed(rows), ("another", 0), ("text 0", 9)], lambda row: row[0])
    assert set(tested) <= set(more) and set(trained) <= set(again) | {("another", 0)}
    assert len({text for text, _ in again} & {text for text, _ in more}) == 0
    assert without_test(rows[:5], lambda row: row[0])[0] == rows[:5] or len(tested) < 40


def test_validation_reads_each_example_once_and_fewer_where_there_are_fewer(table: str) -> None:
    task = make_task("everyday", {"file": table, "vocabulary": 300})
    read = texts(task, "held out")
    assert len(read) == len(set(read)) == task.split_sizes()["held out"] < 256
    two = make_task("everyday", {"file": table, "vocabulary": 300, "splits": "two"})
    assert two.split_sizes()["test"] == 0
    assert set(texts(two, "held out")) == set(read), "the held-out part is the same"


def test_a_batch_of_like_lengths_has_little_padding_and_reads_every_pair_in_an_epoch(table: str) -> None:
    task = make_task("everyday", {"file": table, "vocabulary": 300})
    alike = [*islice(task.batches(0, 16), 32)]
    any_ = [task.batch(generator_of(0, step), 16) for step in range(32)]
    assert padding(alike) < 0.6 * padding(any_)
    n = task.split_sizes()["training"]
    first = _of_epochs(0, n, 0, n)
    assert sorted(first) == list(range(n)) and first != _of_epochs(0, n, n, n)
    assert (
        _of_epochs(0, n, 7, 2 * n)
        == (first + _of_epochs(0, n, n, n) + _of_epochs(0, n, 2 * n, n))[7 : 2 * n + 7]
    )


def padding(batches: list) -> float:
    """The share of positions that hold no token."""
    held = [side for batch in batches for side in batch.inputs]
    return sum(int((side == PAD).sum()) for side in held) / sum(side.numel() for side in held)


@pytest.mark.parametrize(
    ("name", "options"), [("everyday", {"vocabulary": 300}), ("masked", {"vocabulary": 100})]
)
def test_the_batches_from_any_step_on_need_only_seed_and_step(name: str, options: dict, table: str) -> None:
    options = {"file": table, **options}
    whole = [*islice(make_task(name, options).batches(3, 8), 40)]
    for start in (0, 5, 16, 31):
        again = next(make_task(name, options).batches(3, 8, start))
        assert all(
            torch.equal(one, other) for one, other in zip(again.inputs, whole[start].inputs, strict=True)
        )
        assert torch.equal(again.targets, whole[start].targets)


def test_the_config_of_an_older_run_means_what_it_meant() -> None:
    for options in ({"parts": "rows"}, {"parts": "rows", "splits": "old", "shift": 2}):
        kept = make_task("digits-classifier", options, from_disk=True)
        assert kept.to_dict()["splits"] == "two"
    assert make_task("digits-classifier", kept.to_dict()) == kept, "and goes on meaning it"
    assert make_task("digits-classifier", {"splits": "three"}, from_disk=True).to_dict()["splits"] == "three"
    with pytest.raises(ValueError, match="splits='four' is unknown; choose one of three, two"):
        make_task("digits-classifier", {"splits": "four"})


def test_a_test_of_endless_data_is_of_other_held_out_examples() -> None:
    task = make_task("reverse")
    assert set(task.split_sizes().values()) == {None}
    (held_out,), (tested,) = task.examples(1, 50), task.examples(2, 50, split="test")
    rows = [set(map(tuple, batch.inputs[0].tolist())) for batch in (held_out, tested)]
    assert len(rows[0] & rows[1]) < 5 and (tested.targets != IGNORED).any()
    assert torch.equal(held_out.inputs[0], task.batch(generator_of(1, 0), 50, held_out=True).inputs[0])
    assert len(task.examples(1, 50, at_once=16)) == math.ceil(50 / 16)


# A file of one's own through a task: read as chosen, and read alike when its run goes on.

ROWS = [(f"la crème numéro {i} était très bonne", ("bien", "mal")[i % 2], str(i)) for i in range(60)]


def stored(folder: Path, text: str, encoding: str = "utf-8") -> str:
    path = folder / "mine.csv"
    path.write_bytes(text.encode(encoding))
    return str(path)


def own_table(head: str = "id;avis;note") -> str:
    return "\n".join([head, *(f"{number};{text};{label}" for text, label, number in ROWS)])


def restored(task: OwnFile) -> OwnFile:
    """The task as its run's folder gives it back."""
    learnt = json.loads(json.dumps(task.learnt()))
    again = make_task(task.name, json.loads(json.dumps(task.to_dict())), from_disk=True)
    again.restore(learnt)
    return again


def test_labels_and_texts_are_those_of_the_columns_that_are_named(tmp_path: Path):
    file = stored(tmp_path, own_table(), "cp1252")
    task = make_task(
        "sentiment", {"file": file, "encoding": "cp1252", "text_column": "avis", "label_column": "note"}
    )
    sizes = task.split_sizes()
    assert task.classes == ("bien", "mal") and (sum(sizes.values()), sizes["held out"]) == (60, 6)
    assert task.own_source.codec == "cp1252"
    assert dict(task.own_source.chosen) == {"text_column": "avis", "label_column": "note"}
    again = restored(task)
    batches = [each.batch(generator_of(0, 0), 16) for each in (task, again)]
    assert batches[0].inputs[0].tolist() == batches[1].inputs[0].tolist()


@pytest.mark.parametrize("name", ["language-model", "masked", "everyday"])
def test_every_task_of_texts_takes_an_encoding(tmp_path: Path, name: str):
    text = "\n".join(f"Привет номер {i}.\tпока {i}!" for i in range(400))
    file = stored(tmp_path, text, "koi8-r")
    task = make_task(name, {"file": file, "encoding": "koi8-r", "length": 16})
    task.required_sizes()
    assert "П" in "".join(task.outputs()) or "п" in "".join(task.outputs())
    assert restored(task).how.encoding == "koi8-r"
    with pytest.raises(ValueError, match=r"is no text in UTF-8 \(byte 0\); choose its encoding"):
        make_task(name, {"file": file, "encoding": "utf-8", "length": 16}).required_sizes()
