"""What tests of the block page read off its boards."""

import re
from typing import Any

from viz_core.boards import Board


def panel(board: Board, title: str) -> Any:
    """The panel with this title, or whose title begins so."""
    return next(p for row in board.rows for p in row if getattr(p, "title", "").startswith(title))


def bold(notice: str) -> list[float]:
    """The numbers that a notice stresses."""
    return [float(n.replace(",", "")) for n in re.findall(r"\*\*(-?[\d.,]+)%?\*\*", notice)]


def right(questions: Any) -> list[str]:
    return [question.options[question.right] for question in questions]
