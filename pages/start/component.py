"""Start here in the browser: the walk and the parts of the lab, with what was done there."""

import json

from attention_lab.pages.shared.browser.acts import Kinds
from attention_lab.pages.shared.browser.component import Component
from attention_lab.pages.shared.lab_stops import STOPS
from attention_lab.pages.shared.menu import ACTS as OF_CLICKERS
from attention_lab.pages.start.walk import STATIONS

ACTS: Kinds = {
    **OF_CLICKERS,
    "open": {"page": str, "part": str},
    "walk": {"at": int, "link": str},
}
ABOUT = "Twelve stations, about twenty minutes, from one ambiguous word to a model that you break."
SHELF = "Below, all parts by the sections of *Attention Is All You Need*."
start = Component("start", acts=ACTS)


def message(*, stations: bool) -> bytes:
    """The parts of the lab, below the stations of the walk or alone."""
    stops = [
        vars(stop)
        | {"parts": {name: part.label for name, part in stop.parts.items()}}
        | {"advanced": [name for name, part in stop.parts.items() if part.advanced]}
        for stop in STOPS
    ]
    walk = [{"title": station.title, "link": station.link} for station in STATIONS if stations]
    return json.dumps({"walk": walk, "stops": stops}, ensure_ascii=False).encode()
