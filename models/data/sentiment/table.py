"""A person's table of texts and labels, as the IMDb reviews are handed round: bounded, checked, split."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from models.data.text_files import read_text, rows_of

MAX_CLASSES = 20
MIN_TEXTS = 20
_TEXT_NAMES = ("text", "review", "sentence", "comment", "content")
_LABEL_NAMES = ("label", "sentiment", "class", "target", "category")
_HELD_OUT_SHARE = 10  # one text in ten
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)  # IMDb's reviews are full of them


@dataclass(frozen=True)
class Table:
    """Different texts, each with the number of its class, split for good."""

    classes: tuple[str, ...]
    training: tuple[tuple[str, int], ...]
    held_out: tuple[tuple[str, int], ...]


def read_table(path: Path) -> Table:
    """A CSV of two columns, or of more with two called text and label (or review and sentiment, ...).

    Tabs, commas or semicolons separate columns. A text that comes twice counts once, with its first
    label; a tenth of the texts is held out, the same ones in any order. Raises ValueError, with value, rule
    and remedy, for a file that is no such table, and as `read_text` does.
    """
    rows = _rows(read_text(path), path.name)
    text_at, label_at, rows = _columns(rows, path.name)
    labels: dict[str, str] = {}
    for line, row in rows:
        text, label = _BREAK.sub(" ", row[text_at]).strip(), row[label_at].strip()
        if not label:
            raise ValueError(f"line {line} of {path.name!r} has no label; give it one, or remove the line")
        if text:
            labels.setdefault(text, label)
    classes = tuple(sorted(set(labels.values())))
    if not 2 <= len(classes) <= MAX_CLASSES:
        raise ValueError(
            f"{path.name!r} has {len(classes):,} different labels, not 2 to {MAX_CLASSES}; "
            "one column must hold labels, each of them many times"
        )
    if len(labels) < MIN_TEXTS:
        raise ValueError(f"{path.name!r} has {len(labels)} different texts; give {MIN_TEXTS} or more")
    number = {name: at for at, name in enumerate(classes)}
    examples = [(text, number[labels[text]]) for text in sorted(labels, key=_digest)]
    n_held_out = len(examples) // _HELD_OUT_SHARE
    return Table(classes, tuple(examples[n_held_out:]), tuple(examples[:n_held_out]))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _rows(text: str, name: str) -> list[tuple[int, list[str]]]:
    """Lines with something in them, each with its number; all have as many columns as the first."""
    first = text.lstrip().partition("\n")[0]
    between = next((mark for mark in "\t,;" if mark in first), ",")
    rows = list(rows_of(text, name, between))
    for line, row in rows:
        if len(row) != len(rows[0][1]):
            raise ValueError(
                f"line {line} of {name!r} has {len(row)} columns, but its first line has {len(rows[0][1])}; "
                "put quotes around texts that hold the mark between columns"
            )
    return rows


def _columns(rows: list[tuple[int, list[str]]], name: str) -> tuple[int, int, list[tuple[int, list[str]]]]:
    """Where text and label stand, and the rows without the line that says so."""
    head = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    text_at = next((head.index(known) for known in _TEXT_NAMES if known in head), None)
    label_at = next((head.index(known) for known in _LABEL_NAMES if known in head), None)
    if text_at is not None and label_at is not None:
        return text_at, label_at, rows[1:]
    if len(head) != 2:
        shown = ", ".join(head)[:80]
        raise ValueError(
            f"{name!r} has the columns {shown!r}; call two of them text and label, or keep only these two"
        )
    if text_at is not None or label_at is not None:  # one known name makes it a line of names
        text_at = 1 - label_at if text_at is None and label_at is not None else text_at
        return (0, 1, rows[1:]) if text_at == 0 else (1, 0, rows[1:])
    different = [len({row[at] for _, row in rows}) for at in (0, 1)]
    return (0, 1, rows) if different[1] <= different[0] else (1, 0, rows)
