"""A file of one's own through a task: read as chosen, and read alike when its run goes on."""

import json
from pathlib import Path

import pytest

from models.data.tasks import make_task
from models.data.tasks.finite import OwnFile
from models.data.tasks.task import generator_of

ROWS = [(f"la crème numéro {i} était très bonne", ("bien", "mal")[i % 2], str(i)) for i in range(60)]


def stored(folder: Path, text: str, encoding: str = "utf-8") -> str:
    path = folder / "mine.csv"
    path.write_bytes(text.encode(encoding))
    return str(path)


def table(head: str = "id;avis;note") -> str:
    return "\n".join([head, *(f"{number};{text};{label}" for text, label, number in ROWS)])


def restored(task: OwnFile) -> OwnFile:
    """The task as its run's folder gives it back."""
    learnt = json.loads(json.dumps(task.learnt()))
    again = make_task(task.name, json.loads(json.dumps(task.to_dict())), from_disk=True)
    again.restore(learnt)
    return again


def test_labels_and_texts_are_those_of_the_columns_that_are_named(tmp_path: Path):
    file = stored(tmp_path, table(), "cp1252")
    task = make_task("sentiment", {"file": file, "text_column": "avis", "label_column": "note"})
    sizes = task.split_sizes()
    assert task.classes == ("bien", "mal") and (sum(sizes.values()), sizes["held out"]) == (60, 6)
    assert task.own_source.encoding.codec == "cp1252"
    assert dict(task.own_source.chosen) == {"text_column": "avis", "label_column": "note"}
    again = restored(task)
    batches = [each.batch(generator_of(0, 0), 16) for each in (task, again)]
    assert batches[0].inputs[0].tolist() == batches[1].inputs[0].tolist()
    assert again.how.separator == "semicolon" and again.how.encoding == "cp1252"


def test_a_run_from_before_reads_its_file_as_it_did(tmp_path: Path):
    rows = [f"number {i};{'good' if i % 2 else 'bad'}" for i in range(40)]
    file = stored(tmp_path, "\n".join(["utterance;intent", *rows]))
    task = make_task("sentiment", {"file": file})
    assert task.classes == ("bad", "good")
    old = make_task("sentiment", {"file": file, "pool": "cls", "longest": 48, "pieces": 8000}, from_disk=True)
    old.restore(
        {**{k: v for k, v in task.learnt().items() if k != "reading"}, "classes": ["bad", "good", "x"]}
    )
    assert old.table.classes == ("bad", "good", "intent") and "reading" not in old.learnt()
    assert old.split_sizes()["test"] == 0


@pytest.mark.parametrize("name", ["language-model", "masked", "parallel-text"])
def test_every_task_of_texts_takes_an_encoding(tmp_path: Path, name: str):
    text = "\n".join(f"Привет номер {i}.\tпока {i}!" for i in range(400))
    file = stored(tmp_path, text, "koi8-r")
    task = make_task(name, {"file": file, "encoding": "koi8-r", "length": 16})
    task.dictates()
    assert "П" in "".join(task.outputs()) or "п" in "".join(task.outputs())
    assert restored(task).how.encoding == "koi8-r"
    with pytest.raises(ValueError, match="is no text in UTF-8: byte 0 does not fit; choose another encoding"):
        make_task(name, {"file": file, "encoding": "utf-8", "length": 16}).dictates()
