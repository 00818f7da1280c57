"""Tables of any dialect are read as Python's own reader reads them, and what is none is refused in words."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_lab.models.data.tables import SEPARATORS, ColumnRole, TableFormat, columns_of, read_rows
from attention_lab.models.data.tasks.sentence_pairs import read_pairs
from attention_lab.models.data.tasks.sentiment import read_table
from attention_lab.models.data.text_files import names_file_of, own_name, with_name

ROLES = (ColumnRole("text_column", ("text",)), ColumnRole("label_column", ("label",)))
WORDS = st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=12)
ROWS = st.lists(st.tuples(WORDS, st.sampled_from(["good", "bad"]), WORDS), min_size=12, max_size=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.mark.parametrize("separator", [name for name in SEPARATORS if name != "tab"])
@given(rows=ROWS)
@settings(deadline=None)  # on a busy machine a file takes its time
def test_a_dialect_that_is_written_is_read_again(separator: str, rows: list, folder: Path):
    written = io.StringIO()
    writer = csv.writer(written, delimiter=SEPARATORS[separator], quoting=csv.QUOTE_ALL)
    writer.writerows([("text", "label", "id"), *rows])
    path = stored(folder, written.getvalue())
    table = read_rows(path, TableFormat(), ROLES, needs="")
    meant = [[text.strip(), label] for text, label, _ in rows if text.strip()]
    assert [cells for _, cells in table.cells()] == meant
    how = table.how
    assert (how.separator, table.columns, how.header) == (separator, ("text", "label", "id"), "yes")


def stored(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "some.csv"
    path.write_bytes(text.encode(encoding))
    return path


REVIEWS = [(f"it was fine, says number {i}", "good" if i % 3 else "bad") for i in range(40)]


def test_columns_are_chosen_by_name_and_a_wrong_one_lists_them(tmp_path: Path):
    lines = [f"{i};{text};{label}" for i, (text, label) in enumerate(REVIEWS)]
    path = stored(tmp_path, "\n".join(["No.;Utterance;Intent", *lines]))
    assert columns_of(path) == ("No.", "Utterance", "Intent")
    table = read_table(path, TableFormat(columns=("utterance", "Intent")))
    assert {(text, table.classes[at]) for text, at in (*table.training, *table.held_out)} == set(REVIEWS)
    assert dict(table.source.chosen) == {"text_column": "Utterance", "label_column": "Intent"}
    assert read_table(path, TableFormat(header="yes", columns=("column 2", "3"))) == table
    for columns, sentence in (
        (("Utterance", "Stars"), "label_column='Stars' is no column of 'some.csv'; it has No., Utterance, "),
        (
            ("", ""),
            "'some.csv' has the columns 'No., Utterance, Intent'; call two columns text and label, or",
        ),
        (("Intent",) * 2, "text_column and label_column are both 'Intent'; choose two different columns"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
            read_table(path, TableFormat(columns=columns))


def test_between_tabs_a_quotation_mark_is_a_sign_like_any_other(tmp_path: Path):
    rows = [(f'"number {i}', label) for i, (_, label) in enumerate(REVIEWS)]
    text = "\n".join("\t".join(row) for row in rows)
    assert everything(stored(tmp_path, text)) == set(rows)


def test_a_line_of_names_is_told_from_the_first_row(tmp_path: Path):
    rows = "\n".join(f"{text};{label}" for text, label in REVIEWS)
    for head, named in (("utterance;Label\n", True), ("", False), ("something else was good;good\n", False)):
        table = read_table(stored(tmp_path, head + rows))
        assert (table.source.how.header == "yes", table.classes) == (named, ("bad", "good"))
        assert len(table.training) + len(table.held_out) == 40 + (head != "" and not named)
    forced = read_table(stored(tmp_path, rows), TableFormat(header="yes"))
    assert forced.source.columns == (REVIEWS[0][0], REVIEWS[0][1]) and forced.source.rows == 39


def test_what_is_left_out_is_counted_with_its_first_line(tmp_path: Path):
    more = [",good", "nice,", "", ",", f'"{REVIEWS[0][0]}",bad', f'"{REVIEWS[1][0]}",bad', "a,b,c"]
    rows = [f'"{text}",{label}' for text, label in REVIEWS]
    source = read_table(stored(tmp_path, "\n".join(["text,label", *rows, *more]))).source
    assert source.left_out == {
        "empty": 2, "with a missing cell": 2, "of another number of columns": 1, "that come twice": 1,
        "that come twice with another label": 1,
    }  # fmt: skip
    assert (source.rows, source.n_used) == (45, 40)
    assert source.first["with a missing cell"] == 42 and source.first["of another number of columns"] == 48


def test_pairs_are_read_by_the_names_of_their_columns(tmp_path: Path):
    rows = [(f"Straße {i}", f"rue {i}", str(i)) for i in range(30)]
    text = "\n".join(";".join(row) for row in [("de", "fr", "id"), *rows, ("", "rue", "1"), rows[0]])
    path = stored(tmp_path, text, "cp1252")
    table = read_pairs(path, TableFormat(columns=("fr", "de"), encoding="cp1252"))
    source = table.source
    assert {*table.training, *table.held_out} == {(french, german) for german, french, _ in rows}
    assert source.left_out == {"with a missing cell": 1, "that come twice": 1}
    assert source.codec == "cp1252"


def test_a_file_is_called_what_its_owner_called_it(tmp_path: Path):
    path = tmp_path / f"{'0a' * 32}.csv"
    path.write_text("one column only")
    assert own_name(path) == path.name
    for name in ("a.csv", "../../etc/b.csv", "a.csv", "<b>\x00x.csv" + "y" * 300):
        names_file_of(path).write_bytes(with_name(path, name))
    names = json.loads(names_file_of(path).read_text())
    assert names[1:] == ["a.csv", "b.csv"] and names[0].startswith("<b>x.csvyy") and len(names[0]) == 120
    with pytest.raises(ValueError, match=r"'<b>x\.csvy"):
        read_table(path)
    names_file_of(path).write_text("[[[[")
    assert own_name(path) == path.name


# Texts with labels: IMDb's, without a head, by tabs; and those that are refused, in words.

LABELLED = [(f"review number {i}, well", "good" if i % 3 else "bad") for i in range(40)]


def imdb() -> str:
    return "review,sentiment\r\n" + "".join(f'"{text}",{label}\r\n' for text, label in LABELLED)


def everything(path: Path) -> set[tuple[str, str]]:
    table = read_table(path)
    return {(text, table.classes[at]) for text, at in (*table.training, *table.held_out)}


@pytest.mark.parametrize(
    "text",
    [
        imdb(),
        "\n".join(f'{label},"{text}"' for text, label in LABELLED),
        "\n".join(f"{text}\t{label}" for text, label in LABELLED) + "\n\n",
        "review,stars\n" + "\n".join(f'"{text}",{label}' for text, label in LABELLED),
        "says,sentiment\n" + "\n".join(f'"{text}",{label}' for text, label in LABELLED),
        "Label;id;Text\n" + "\n".join(f"{label};{i};{text}" for i, (text, label) in enumerate(LABELLED)),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_are_read_as_they_are_meant(tmp_path: Path, text: str, encoding: str):
    path = stored(tmp_path, text, encoding)
    assert read_table(path).classes == ("bad", "good")
    assert everything(path) == set(LABELLED)


def test_a_tenth_is_held_out_whatever_the_order(tmp_path: Path):
    table = read_table(stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in LABELLED)))
    turned = read_table(stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in reversed(LABELLED))))
    assert len(table.held_out) == 4
    assert not {text for text, _ in table.training} & {text for text, _ in table.held_out}
    assert table == turned


def test_a_text_twice_counts_once_and_breaks_are_blanks(tmp_path: Path):
    more = "review number 0, well\tgood\nFine.<br /><BR>Really\tgood\n"
    path = stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in LABELLED) + "\n" + more)
    assert everything(path) == {*LABELLED, ("Fine.  Really", "good")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a,b,c\n1,2,3\n",
            "'some.csv' has the columns 'a, b, c'; call two columns text and label, or choose them",
        ),
        ("only one column\n" * 30, "has the columns 'only one column'; call two columns"),
        ("text,label\n" + "fine,well,good\n", "line 2 of 'some.csv' has 3 columns, the first 2; put"),
        ("text,label\n", "'some.csv' has no row but its names of columns; choose another file"),
        ("text,label\nfine,\n", "'some.csv' has no label in its column 'label', but a classifier needs 2"),
        (
            "text,label\n" + "fine,good\n" * 30,
            "'some.csv' has only one label, 'good', in its column 'label', but a classifier needs 2 to 20; "
            "choose a column of labels, each many times",
        ),
        (
            "\n".join(f"text {i},label {i}" for i in range(30)),
            "has 30 different labels in its column 'column 2', but a classifier needs 2 to 20",
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
