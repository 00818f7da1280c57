"""The board in the browser; its JavaScript is beside this file."""

from pathlib import Path

from pages.shared.browser.component import Component, Kinds
from pages.shared.chain import ACTS as OF_CLICKERS

HERE = Path(__file__).parent
PANELS = sorted((HERE / "panels").glob("*.js"))
ACTS: Kinds = {
    **OF_CLICKERS,
    "edit": {"field": str, "value": str},
    "takeaway": {"frame": int},
    "part": {"name": str},
    "answer": {"question": int, "option": int},
    "brush": {"axis": int, "low": (int, float), "high": (int, float)},
}
board = Component("attention_lab_board", HERE / "board.js", HERE / "board.css", PANELS, acts=ACTS)
