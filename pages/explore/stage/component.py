"""The stage: the browser side of Explore. Its JavaScript is in the files beside this one."""

from __future__ import annotations

from pathlib import Path

from pages.shared.browser.component import Component

HERE = Path(__file__).parent
SCRIPTS = ("data.js", "grid.js", "head.js", "lines.js", "numbers.js", "output.js", "pictures.js", "stage.js")

stage = Component("attention_lab_stage", [HERE / name for name in SCRIPTS], HERE / "stage.css")
