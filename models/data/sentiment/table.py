"""A person's table of texts and labels, as the IMDb reviews are handed round: bounded, checked, split."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from models.data.table_shape import SEPARATORS
from models.data.tables import How, Role, Source, read_rows
from models.data.tables import Table as Rows
from models.data.text_files import read_text, rows_of

MAX_CLASSES = 20
MIN_TEXTS = 20
TWICE, CONTRADICTING = "that come twice", "that come twice with another label"
_TEXT_NAMES = ("text", "review", "sentence", "comment", "content")
_LABEL_NAMES = ("label", "sentiment", "class", "target", "category")
ROLES = (Role("text_column", _TEXT_NAMES), Role("label_column", _LABEL_NAMES))
_NEEDS = (
    "call two of them text and label, or choose its text column and label column (on the command line: "
    "text_column and label_column)"
)
_HELD_OUT_SHARE = 10  # one text in ten
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)  # IMDb's reviews are full of them


@dataclass(frozen=True)
class Table:
    """Different texts, each with the number of its class, split for good; and what was read of the file."""

    classes: tuple[str, ...]
    training: tuple[tuple[str, int], ...]
    held_out: tuple[tuple[str, int], ...]
    source: Source | None = field(default=None, compare=False)


def read_table(path: Path, how: How | None = None) -> Table:
    """A CSV of two columns, or of more of which one holds texts, another labels.

    They are those that `how` names, or that are called text and label (or review and sentiment, ...). Rows
    without a text or a label are left out and counted. A text that comes twice counts once, with its first
    label; a tenth of the texts is held out, the same ones in any order. Raises ValueError, with value, rule
    and remedy, for a file that is no such table, and as `read_rows` does.
    """
    rows = read_rows(path, how or How(), ROLES, needs=_NEEDS)
    labels = _labels(rows)
    name, classes = rows.read.name, tuple(sorted(set(labels.values())))
    if not 2 <= len(classes) <= MAX_CLASSES:
        column = f"{rows.columns[rows.at[1]]!r:.60}"
        has = f"{len(classes):,} different labels" if classes else "no label"
        if len(classes) == 1:
            has = f"only one label, {classes[0]!r:.40},"
        raise ValueError(
            f"{name!r} has {has} in its column {column}, but a classifier needs 2 to {MAX_CLASSES} different "
            "ones; choose a column that holds labels, each of them many times"
        )
    if len(labels) < MIN_TEXTS:
        raise ValueError(f"{name!r} has {len(labels)} different texts; give {MIN_TEXTS} or more")
    number = {label: at for at, label in enumerate(classes)}
    examples = [(text, number[labels[text]]) for text in sorted(labels, key=_digest)]
    n_held_out = len(examples) // _HELD_OUT_SHARE
    return Table(
        classes, tuple(examples[n_held_out:]), tuple(examples[:n_held_out]), rows.source(ROLES)
    )  # fmt: skip


def _labels(rows: Rows) -> dict[str, str]:
    """The first label of each text."""
    labels: dict[str, str] = {}
    for line, (text, label) in rows.cells():
        text = _BREAK.sub(" ", text).strip()
        if text in labels:
            rows.leave_out(TWICE if labels[text] == label else CONTRADICTING, line)
        elif text:
            labels[text] = label
    return labels


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def as_before(path: Path) -> How:
    """How this table was read by runs from before they kept that."""
    text = read_text(path)
    first = text.lstrip().partition("\n")[0]
    separator = next((name for name in ("tab", "comma", "semicolon") if SEPARATORS[name] in first), "comma")
    rows = [row for _, row in rows_of(text, path.name, SEPARATORS[separator])]
    header, text_at, label_at = _named_before(rows)
    columns = f"column {text_at + 1}", f"column {label_at + 1}"
    return How(separator=separator, header="yes" if header else "no", columns=columns, quotes="yes")


def _named_before(rows: Sequence[Sequence[str]]) -> tuple[bool, int, int]:
    """Whether the first row names columns, and where text and label stand."""
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    text_at = next((head.index(known) for known in _TEXT_NAMES if known in head), None)
    label_at = next((head.index(known) for known in _LABEL_NAMES if known in head), None)
    if text_at is not None and label_at is not None:
        return True, text_at, label_at
    if len(head) == 2 and (text_at is not None or label_at is not None):
        return (True, 0, 1) if text_at == 0 or label_at == 1 else (True, 1, 0)
    different = [len({row[at] for row in rows if len(row) > at}) for at in (0, 1)]
    return (False, 0, 1) if different[1] <= different[0] else (False, 1, 0)
