"""The way through the lab in the browser, with what was done there; its JavaScript is beside this file."""

import json
from pathlib import Path

from pages.shared.browser.component import Component, Kinds
from pages.shared.chain import ACTS as OF_CLICKERS
from pages.shared.lab_stops import STOPS

HERE = Path(__file__).parent
ACTS: Kinds = {**OF_CLICKERS, "open": {"page": str, "part": str}}
way = Component("attention_lab_way", HERE / "way.js", HERE / "way.css", acts=ACTS)
MESSAGE = json.dumps(
    [vars(stop) | {"parts": {name: part.label for name, part in stop.parts.items()}} for stop in STOPS],
    ensure_ascii=False,
).encode()
