"""Finding what a board of the design page shows."""

from attention_lab.viz_core.boards import Board, Table


def table(board: Board) -> Table:
    return next(panel for row in board.rows for panel in row if isinstance(panel, Table))


def rows(board: Board) -> dict[str, list[str]]:
    """A table's rows by their names."""
    return {name: list(cells) for name, *cells in table(board).rows}
