"""The stage: the browser side of Explore. It is drawn by viz_core/viewer/stage."""

import json
from pathlib import Path

from attention_lab.pages.explore.figure import WHOLE
from attention_lab.pages.shared.browser.acts import Kinds
from attention_lab.pages.shared.browser.component import Component
from attention_lab.pages.shared.menu import ACTS as OF_CLICKERS
from attention_lab.viz_core.viewer.program import OFFERED

ACTS: Kinds = {
    **OF_CLICKERS,
    "takeaway": WHOLE | {"among": list, "address": str, "asked": str},
    "beside": {"stack": str, "layer": int, "head": int, "model2": str, "asked": str},
    "models": {"asked": str},
    "picture": {"asked": str},
}
"""Only Streamlit's page does these. asked: the question whose answer is shown, as JSON."""
stage = Component("stage", acts=ACTS, host=Path(__file__).with_name("asking.js"))
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
