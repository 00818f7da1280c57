"""The map of a long pattern: its browser side is in the files beside this one."""

from pathlib import Path

from pages.shared.browser.component import Component

HERE = Path(__file__).parent
AREA = {"q0": int, "q1": int, "k0": int, "k1": int}
ACTS = {"window": AREA, "look": {"query": int, "key": int}, "again": {}, "takeaway": AREA}
pattern_map = Component("attention_lab_map", HERE / "map.js", HERE / "map.css", acts=ACTS)
