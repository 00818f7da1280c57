"""Tables as people have them: IMDb's, without a head, by tabs; and those that are refused, in words."""

import re
from pathlib import Path

import pytest

from models.data.sentiment.table import read_table

ROWS = [(f"review number {i}, well", "good" if i % 3 else "bad") for i in range(40)]


def stored(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "some.csv"
    path.write_bytes(text.encode(encoding))
    return path


def imdb() -> str:
    return "review,sentiment\r\n" + "".join(f'"{text}",{label}\r\n' for text, label in ROWS)


def everything(path: Path) -> set[tuple[str, str]]:
    table = read_table(path)
    return {(text, table.classes[at]) for text, at in (*table.training, *table.held_out)}


@pytest.mark.parametrize(
    "text",
    [
        imdb(),
        "\n".join(f'{label},"{text}"' for text, label in ROWS),
        "\n".join(f"{text}\t{label}" for text, label in ROWS) + "\n\n",
        "review,stars\n" + "\n".join(f'"{text}",{label}' for text, label in ROWS),
        "says,sentiment\n" + "\n".join(f'"{text}",{label}' for text, label in ROWS),
        "Label;id;Text\n" + "\n".join(f"{label};{i};{text}" for i, (text, label) in enumerate(ROWS)),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_are_read_as_they_are_meant(tmp_path: Path, text: str, encoding: str):
    path = stored(tmp_path, text, encoding)
    assert read_table(path).classes == ("bad", "good")
    assert everything(path) == set(ROWS)


def test_a_tenth_is_held_out_whatever_the_order(tmp_path: Path):
    table = read_table(stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in ROWS)))
    turned = read_table(stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in reversed(ROWS))))
    assert len(table.held_out) == 4
    assert not {text for text, _ in table.training} & {text for text, _ in table.held_out}
    assert table == turned


def test_a_text_twice_counts_once_and_breaks_are_blanks(tmp_path: Path):
    more = "review number 0, well\tgood\nFine.<br /><BR>Really\tgood\n"
    path = stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in ROWS) + "\n" + more)
    assert everything(path) == {*ROWS, ("Fine.  Really", "good")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a,b,c\n1,2,3\n",
            "'some.csv' has the columns 'a, b, c'; call two of them text and label, or choose its",
        ),
        ("only one column\n" * 30, "has the columns 'only one column'; call two of them"),
        (
            "text,label\n" + "fine,well,good\n",
            "line 2 of 'some.csv' has 3 columns, but its first line has 2; put",
        ),
        ("text,label\n", "'some.csv' has no row but its names of columns; choose a file with rows in it"),
        ("text,label\nfine,\n", "'some.csv' has no label in its column 'label', but a classifier needs 2"),
        (
            "text,label\n" + "fine,good\n" * 30,
            "'some.csv' has only one label, 'good', in its column 'label', but a classifier needs 2 to 20 "
            "different ones; choose a column that holds labels, each of them many times",
        ),
        (
            "\n".join(f"text {i},label {i}" for i in range(30)),
            "has 30 different labels in its column 'column 2', but a classifier needs 2 to 20 different",
        ),
        ("text,label\nfine,good\npoor,bad\n", "has 2 different texts; give 20 or more"),
        (
            "text,label\n" + "x" * 140_000 + ",good\n",
            "line 2 of 'some.csv' is no line of a table (field larger",
        ),
    ],
)
def test_what_is_no_such_table_is_refused_in_words(tmp_path: Path, text: str, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_table(stored(tmp_path, text))
