"""The way through the lab in the browser, with what was done there."""

import json

from attention_lab.pages.shared.browser.component import Component, Kinds
from attention_lab.pages.shared.chain import ACTS as OF_CLICKERS
from attention_lab.pages.shared.lab_stops import STOPS

ACTS: Kinds = {**OF_CLICKERS, "open": {"page": str, "part": str}}
ABOUT = (
    "Nine stops through *Attention Is All You Need* (Vaswani et al., 2017). At each, move something, predict "
    "what happens, then look."
)
way = Component("way", acts=ACTS)
MESSAGE = json.dumps(
    [vars(stop) | {"parts": {name: part.label for name, part in stop.parts.items()}} for stop in STOPS],
    ensure_ascii=False,
).encode()
