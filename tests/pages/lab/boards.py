"""Finding what a board shows by its name."""

import re
from typing import Any

import numpy as np
import torch

from attention_lab.viz_core.boards import Board, Facts


def panel(board: Board, title: str) -> Any:
    """The panel with this title, or else the one whose title begins so."""
    begin_so = [p for row in board.rows for p in row if getattr(p, "title", "").startswith(title)]
    return min(begin_so, key=lambda p: len(p.title))


def facts(board: Board) -> dict[str, Any]:
    """The values of all large numbers, by their labels."""
    return {f.label: f.values for row in board.rows for p in row if isinstance(p, Facts) for f in p.facts}


def frame(board: Board, value: float) -> int:
    """The frame in which the scrub stands nearest to a value."""
    return int(np.argmin(abs(board.scrub.values - value)))


def bold(notice: str) -> list[float]:
    """The numbers that a notice stresses."""
    return [float(n.replace(",", "")) for n in re.findall(r"\*\*(-?[\d.,]+)%?\*\*", notice)]


def numbers(notice: str) -> list[float]:
    """The numbers that what a notice stresses begins with."""
    return [float(found) for found in re.findall(r"\*\*(\d+\.?\d*)", notice)]


def close(found: Any, expected: torch.Tensor) -> None:
    torch.testing.assert_close(torch.as_tensor(found), expected, rtol=1e-4, atol=1e-5)
