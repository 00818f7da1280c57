"""The map of a long pattern, and what may be asked for there."""

from attention_lab.pages.shared.browser.component import Component

AREA = {"q0": int, "q1": int, "k0": int, "k1": int}
ACTS = {"window": AREA, "look": {"query": int, "key": int}, "again": {}, "takeaway": AREA}
pattern_map = Component("map", acts=ACTS)
