"""The stage: the browser side of Explore. Its JavaScript is in the files beside this one."""

from pathlib import Path

from pages.shared.browser.component import Component, Kind, Kinds

HERE = Path(__file__).parent
PLACE: dict[str, Kind] = {"stack": str, "layer": int, "head": int, "q0": int, "k0": int}
TEXTS = [
    "view",
    "show",
    "range",
    "sort",
    "order",
    "keep",
    "sight",
    "special",
    "when",
    "pinned",
    "queries",
    "keys",
    "over",
    "sweep",
    "goal",
    "put",
    "other",
    "sender",
    "receiver",
    "through",
]
SWEPT = TEXTS[TEXTS.index("sweep") :]
VIEW: dict[str, Kind] = PLACE | dict.fromkeys(TEXTS, str)
WHOLE: dict[str, Kind] = VIEW | {"heads": list, "step": int, "query": int, "key": int, "limit": (int, float)}
ACTS: Kinds = {
    "text": {"text": str},
    "edits": {"text": str},
    "edit": {"line": str, "how": str, "count": int},
    "sweep": {"step": int} | dict.fromkeys(SWEPT, str),
    "written": {},
    "smallest": {"stack": str},
    "open": PLACE | {"special": str},
    "map": {"stack": str},
    "repeated": {},
    "further": PLACE | {"show": str},
    "sums": {"stack": str, "queries": str, "keys": str},
    "takeaway": WHOLE | {"among": list},
    "beside": {"stack": str, "layer": int, "head": int},
    "contrast": WHOLE | {"model": str},
}
stage = Component("attention_lab_stage", HERE / "stage.js", HERE / "stage.css", acts=ACTS)
