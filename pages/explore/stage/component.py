"""The stage: the browser side of Explore. Its JavaScript is in the files beside this one."""

from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

from pages.explore.state import View
from pages.explore.sweep import Wish
from pages.shared.browser.component import Component, Kind, Kinds

HERE = Path(__file__).parent
PLACE: dict[str, Kind] = {"stack": str, "layer": int, "head": int, "q0": int, "k0": int}
_TYPES: dict[object, Kind] = {float: (int, float), int | None: int, tuple[int, ...]: list}
WHOLE: dict[str, Kind] = {name: _TYPES.get(kind, kind) for name, kind in get_type_hints(View).items()}
VIEW = {name: kind for name, kind in WHOLE.items() if kind is str or name in PLACE}
SWEPT = {each.name: WHOLE[each.name] for each in fields(Wish)}
ACTS: Kinds = {
    "text": {"text": str},
    "edits": {"text": str},
    "edit": {"line": str, "how": str, "count": int},
    "sweep": SWEPT,
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
