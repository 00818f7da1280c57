"""The stage: the browser side of Explore. It is drawn by viz_core/viewer/stage."""

import json
from dataclasses import fields
from typing import get_type_hints

from attention_lab.pages.explore.state import View
from attention_lab.pages.explore.sweep import SweepRequest
from attention_lab.pages.shared.browser.component import Component, Kind, Kinds
from attention_lab.pages.shared.chain import ACTS as OF_CLICKERS
from attention_lab.viz_core.viewer.program import OFFERED

PLACE: dict[str, Kind] = {"stack": str, "layer": int, "head": int, "q0": int, "k0": int}
_TYPES: dict[object, Kind] = {float: (int, float), int | None: int, tuple[int, ...]: list}
WHOLE: dict[str, Kind] = {name: _TYPES.get(kind, kind) for name, kind in get_type_hints(View).items()}
VIEW = {name: kind for name, kind in WHOLE.items() if kind is str or name in PLACE}
SWEPT = {each.name: WHOLE[each.name] for each in fields(SweepRequest)}
ACTS: Kinds = {
    **OF_CLICKERS,
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
    "takeaway": WHOLE | {"among": list, "address": str},
    "beside": {"stack": str, "layer": int, "head": int},
    "contrast": WHOLE | {"model": str},
}
stage = Component("stage", acts=ACTS)
_OF_TYPESCRIPT = {int: "number", float: "number", str: "string", list: "number[]", (int, float): "number"}


def declarations() -> str:
    """The types of the view and of its choices, as TypeScript declares them."""
    unions = {name: " | ".join(map(json.dumps, OFFERED[name]["options"])) for name in OFFERED}
    types = {name: _OF_TYPESCRIPT[kind] for name, kind in WHOLE.items()} | unions
    fields = "".join(f"  {name}: {type_};\n" for name, type_ in types.items())
    names = " | ".join(map(json.dumps, OFFERED))
    return (
        f"interface DeclaredView {{\n{fields}}}\n"
        f"type Offered = {names};\n"
        "type Option = { value: string; text: string; title?: string };\n"
        "declare const CHOICES: Record<Offered, { label: string; options: Option[] }>;\n"
    )
