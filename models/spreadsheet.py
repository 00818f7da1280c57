"""CSV that a person opens in a spreadsheet: all tables that the app hands out are written here."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

_BEGINS = r"(?:^|(?<=[\r\n\t;,]))"
"""Where a cell begins for one program or another: some separate by ";", others break a cell at its lines."""
_NUMBER = r"[+-](?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|inf)(?![^\r\n\t;,])"
_FORMULA = re.compile(rf'^(?=[\t\r\n])|{_BEGINS}(?!{_NUMBER})(?="*+[=+\-@＝＋－＠])')


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV, each cell in quotation marks; what is no number (None, NaN) is left empty.

    Texts are whatever a visitor typed or a link brought, and a spreadsheet runs one that begins with = + - or
    @ (or a tab or a line break, which it drops) as a formula: so it gets an apostrophe in front, by which
    spreadsheets know text. A text that is a number, such as -0.5, stays as it is.
    """
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return _FORMULA.sub("'", value)
    return None if value is None or value != value else value
