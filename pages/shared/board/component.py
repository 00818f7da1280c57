"""The board in the browser; its JavaScript is beside this file."""

from __future__ import annotations

from pathlib import Path

from pages.shared.browser.component import Component

FOLDER = Path(__file__).parent
SCRIPTS = ("data.js", "matrix.js", "charts.js", "shapes.js", "facts.js", "board.js")

board = Component("attention_lab_board", [FOLDER / name for name in SCRIPTS], FOLDER / "board.css")
