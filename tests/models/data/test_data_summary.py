"""A look at a task's data against counts that pandas and plain loops make of the same file."""

from pathlib import Path

import pandas as pd
import pytest
from torch import Tensor

from attention_lab.models.data.data_summary import for_batches, sentences
from attention_lab.models.data.tasks import make_task
from attention_lab.models.data.tasks.summary import summary_of
from attention_lab.models.runs.printing import data_lines

WORDS = ["schön", "groß", "öde", "müde", "heute", "sehr", "Gäste"]
ROWS = [
    (
        i,
        " ".join(WORDS[(i + at) % 7] for at in range(2 + (7 * i) % 60)) + f" {i}",
        ("gut", "übel")[i % 3 == 0],
    )
    for i in range(200)
]

SATZ = {"text_column": "Satz", "label_column": "Ton", "encoding": "cp1252", "longest": 40}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = ["Nr;Satz;Ton", *(f"{i};{text};{label}" for i, text, label in ROWS), "1;;gut", "2;leer;"]
    path = tmp_path / "sätze.csv"
    path.write_bytes("\r\n".join([*lines, lines[1]]).encode("cp1252"))
    return path


def test_a_table_is_counted_as_pandas_counts_it(file: Path) -> None:
    task = make_task("sentiment", {"file": str(file), **SATZ})
    found = summary_of(task)
    frame = pd.read_csv(file, sep=";", encoding="cp1252").dropna().drop_duplicates("Satz")
    assert found.classes == frame["Ton"].value_counts().to_dict()
    assert sum(found.sizes.values()) == len(frame) == found.source.n_used
    assert found.source.rows == len(pd.read_csv(file, sep=";", encoding="cp1252"))
    tokens = frame["Satz"].map(lambda text: 1 + len(task.tokenizer.encode(text)))
    assert (found.longest, found.median) == (tokens.max(), tokens.median())
    assert found.cut == pytest.approx((tokens > 40).mean()) and 0 < found.cut < 1
    assert sum(found.lengths) == len(frame) and 40 in found.ends
    below = sum(n for n, end in zip(found.lengths, found.ends, strict=True) if end <= 40)
    assert below == (tokens <= 40).sum()
    said = sentences(found.source)
    assert said[0].startswith("sätze.csv: ") and "read as Windows-1252" in said[0]
    assert "203 rows, 200 of them used; left out: 2 with a missing cell (first: line 202), 1 that" in said[-1]


def test_padding_and_unknown_tokens_are_those_of_the_batches(file: Path) -> None:
    task = make_task("sentiment", {"file": str(file), **SATZ, "pieces": 100})
    found = summary_of(task)
    read = padded = 0
    for _, batch in zip(range(4), task.batches(0, 64), strict=False):
        for row in batch.inputs[0].tolist():
            read, padded = read + len(row), padded + row.count(0)
    assert found.padding == pytest.approx(padded / read)
    assert for_batches(found, found.batch_size) is found and for_batches(found, 3) is None
    few = summary_of(task, 3)
    batches = [batch.inputs[0] for _, batch in zip(range(4), task.batches(0, 3), strict=False)]
    n_padded = sum(int((ids == 0).sum()) for ids in batches)
    assert few.batch_size == 3 and few.padding == pytest.approx(n_padded / sum(map(Tensor.numel, batches)))
    assert few.padding != found.padding
    rows = [task._ids(text)[:40] for text, _ in task.rows["held out"]]
    assert found.unknown == pytest.approx(sum(r.count(1) for r in rows) / sum(map(len, rows)))


def test_the_first_examples_are_what_the_model_reads(file: Path) -> None:
    task = make_task("sentiment", {"file": str(file), **SATZ})
    first, text = summary_of(task).examples[0], task.rows["training"][0][0]
    assert first.text == text and first.answer == task.classes[task.rows["training"][0][1]]
    tokens = [cell.token for cell in first.sides["encoder"]]
    assert tokens == [task.tokenizer.labels[id_] for id_ in task._ids(text)[:40]]
    assert first.sides["encoder"][0].special and tokens[0] == "[CLS]" and text.split()[0].lower() in tokens[1]


KINDS = ("reverse", "modular-addition", "verb-number", "masked", "digits-classifier")


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_task_can_be_looked_at(name: str) -> None:
    found = summary_of(make_task(name))
    assert found.sizes.keys() == {"training", "held out", "test"}
    assert bool(found.examples) != (found.pictures is not None)
    for shown in found.examples:
        asked = [cell.target for cells in shown.sides.values() for cell in cells if cell.target]
        assert asked or shown.answer
    assert data_lines(found).count("\n") > 2


def test_the_answer_of_an_algorithm_stands_under_its_tokens() -> None:
    for shown in summary_of(make_task("reverse")).examples:
        cells = shown.sides["decoder"]
        question = "".join(cell.token for cell in cells).partition("=")[0]
        assert "".join(cell.target for cell in cells) == question[::-1]
