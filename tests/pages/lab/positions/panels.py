"""Finding what a board shows by its name."""

from viz_core.boards import Board, Fact, Facts, Panel


def panel(board: Board, title: str) -> Panel:
    return next(panel for row in board.rows for panel in row if getattr(panel, "title", "") == title)


def fact(board: Board, label: str) -> Fact:
    facts = (panel for row in board.rows for panel in row if isinstance(panel, Facts))
    return next(fact for panel in facts for fact in panel.facts if fact.label == label)
