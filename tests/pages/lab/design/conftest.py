"""Finding what a board of the design page shows."""

from typing import Any

from viz_core.boards import Board, Facts, Panel, Table


def panel(board: Board, title: str) -> Panel:
    return next(panel for row in board.rows for panel in row if getattr(panel, "title", "") == title)


def facts(board: Board) -> dict[str, Any]:
    """All large numbers, by their labels."""
    panels = (panel for row in board.rows for panel in row if isinstance(panel, Facts))
    return {fact.label: fact.values for found in panels for fact in found.facts}


def table(board: Board) -> Table:
    return next(panel for row in board.rows for panel in row if isinstance(panel, Table))


def rows(board: Board) -> dict[str, list[str]]:
    """A table's rows by their names."""
    return {name: list(cells) for name, *cells in table(board).rows}
