"""A table of texts in the browser: rows to choose, one to open. It is drawn by viz_core/viewer/table."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from attention_lab.pages.shared.browser.acts import Kinds
from attention_lab.pages.shared.browser.component import Component

ACTS: Kinds = {"open": {"id": str}, "choose": {"ids": list}, "sort": {"column": str}}
table = Component("table", acts=ACTS)


@dataclass(frozen=True)
class Row:
    """A row of cells, its name first. chosen: whether its box is ticked; opened: whether it is open, None
    where rows cannot be opened. marks: the places of the cells that stand out. members: of a group's row, the
    ids of the rows that it unfolds, which follow it; group: of such a row, the id of its group's. heading:
    whether it has but one cell, which says what the rows below have in common.
    """

    id: str
    cells: Sequence[str]
    chosen: bool = False
    opened: bool | None = None
    marks: Sequence[int] = field(default=())
    members: Sequence[str] = field(default=())
    group: str = ""
    heading: bool = False


def message(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    choose: bool = False,
    sort: str | None = None,
) -> bytes:
    """The bytes of a table. columns: their names; those that begin with "#" hold numbers.

    sort: the column by which the rows are sorted, with "-" before it from its end, "" for none; a
    press on a heading then asks for "sort". None: their order cannot be changed.
    """
    headings = [{"name": name.removeprefix("#"), "numeric": name.startswith("#")} for name in columns]
    plain: list[dict[str, Any]] = [asdict(row) for row in rows]
    for row in plain:
        for name, nothing in (("opened", None), ("members", ()), ("group", ""), ("heading", False)):
            if row[name] == nothing:
                del row[name]
    content = {"caption": caption, "columns": headings, "rows": plain, "choose": choose, "sort": sort}
    return json.dumps(content, ensure_ascii=False).encode()
