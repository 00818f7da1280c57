"""Axes of all parts: each has a name, or names for its entries."""

import pytest

from attention_lab.pages.lab.lesson import LabPage, Part
from attention_lab.viz_core.boards import Bars, Curves, Matrix, Panel
from tests.pages.lab.test_presets import PARTS, first_lesson


def unnamed(panel: Panel) -> list[str]:
    """The axes of a panel that say nothing of what they are."""
    match panel:
        case Matrix():
            n_rows, n_columns = panel.values.shape[-2:]
            rows, columns = panel.rows or panel.row_axis, panel.columns or panel.column_axis
            named = {"row": rows or n_rows == 1, "column": columns or n_columns == 1}
        case Curves():
            named = {"x": panel.x_label, "y": panel.y_label or panel.title}
        case Bars():
            named = {"x": panel.labels, "y": panel.y_label or panel.title}
        case _:
            named = {}
    return [axis for axis, name in named.items() if not name]


@pytest.mark.parametrize(("lab", "part"), PARTS, ids=lambda value: value.name)
def test_every_axis_says_what_it_is(lab: LabPage, part: Part) -> None:
    lesson = first_lesson(lab.name, part.name)
    missing = {getattr(panel, "title", ""): unnamed(panel) for row in lesson.board.rows for panel in row}
    assert not any(missing.values()), missing
    for shape in lesson.shapes:
        assert "|" not in shape.name + shape.axes, "a bar would end the cell of the table of shapes"


def test_patterns_without_names_for_their_keys_say_what_the_keys_are() -> None:
    """Seven patterns side by side have no room for the names of keys, which are those of their rows."""
    lesson = first_lesson("positions", "schemes")
    assert "Columns are the same words as rows" in lesson.see
    for picture in (panel for row in lesson.board.rows for panel in row):
        assert isinstance(picture, Matrix)
        assert (picture.row_axis, picture.column_axis) == ("query", "key")
        assert len(picture.rows) == picture.values.shape[-1]
