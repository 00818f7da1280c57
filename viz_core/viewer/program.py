"""The viewer's modules put together into one script, without Node: what a host hands to a browser.

A module may say `import { a, b } from "./other.js";` and put `export` before a function, a class or a
const. Each keeps its own names: it becomes a function that returns what it exports. Colours come from
viz_core.theme, so that live views and Plotly figures look alike.
"""

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly

from .. import theme
from .message import header_of

HERE = Path(__file__).parent
KINDS = ("board", "stage", "map", "table", "start", "talks")
"""What can be shown: a folder each, with a module of that name that exports `render`, and a style."""
OFFERED: dict[str, dict[str, Any]] = tomllib.loads((HERE / "stage" / "view.toml").read_text("utf-8"))
"""What of its view the stage offers."""
CHOICES = {
    name: {
        "label": declared["label"],
        "options": [
            {"value": value} | dict(zip(("text", "title"), words, strict=False))
            for value, words in declared["options"].items()
        ],
    }
    for name, declared in OFFERED.items()
}
"""The same, as the stage's JavaScript has it."""
_PLOTLY = HERE / "vendored" / "plotly.js"
MARKDOWN = (HERE / "vendored" / "markdown-it.js").read_text("utf-8")
"""What has to run before talk/format.js."""
PLOTLY_ADDRESS = f"./plotly/{re.findall(r'v([0-9.]+)', _PLOTLY.read_text('utf-8')[:100])[0]}.js"
"""Where a host serves `plotly_script`: relative, as a page's other links are, even behind a proxy."""
PLOTLY_WHOLE = PLOTLY_ADDRESS.replace(".js", "-whole.js")
"""The same for `plotly_script(whole=True)`, which lies beside it."""
WITH_AXES = (
    *("bar", "box", "contour", "heatmap", "histogram", "histogram2d", "histogram2dcontour", "image", "pie"),
    *("scatter", "scatterternary", "violin"),
)
"""The kinds of traces that Plotly for charts with axes draws."""
# Streamlit's front end puts another version under Plotly's name when it draws a chart of its own.
_OWN_NAME = "globalThis.LabPlotly = globalThis.Plotly;"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*\n|/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n?)", re.MULTILINE)
"""One that begins a line. A module has no text over several lines in which a line begins like this."""
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
"""What a browser has to fetch, and does not need: no module has a text over several lines."""
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A script in which the consts of all modules are declared. render: the expression that is `render`."""

    script: str
    render: str


def program(kind: str, *hosts: Path, plotly_address: str = PLOTLY_ADDRESS) -> Program:
    """What shows one of `KINDS`. hosts: a host's own modules, which may import those of the viewer."""
    main, style = HERE / kind / f"{kind}.js", HERE / kind / f"{kind}.css"
    panels = sorted((HERE / "board" / "panels").glob("*.js")) if kind == "board" else []
    themes = {"light": _colours(False), "dark": _colours(True), "projector": _colours(False, projected=True)}
    whole = plotly_address.replace(PLOTLY_ADDRESS, PLOTLY_WHOLE)
    values: dict[str, Any] = {
        "THEME": themes,
        "PLOTLY": {"address": plotly_address, "whole": whole, "kinds": WITH_AXES},
    }
    styles = (HERE / "browser" / "shell.css", style)
    values |= {"STYLE": "\n".join(file.read_text("utf-8") for file in styles)}
    values |= {"CHOICES": CHOICES} if kind == "stage" else {}
    constants = [f"const {name} = {json.dumps(value)};" for name, value in values.items()]
    names = "".join(f"{file.stem}: {module_name(file)}, " for file in panels)
    ahead = [MARKDOWN] if kind == "talks" else []
    script = [*constants, *ahead, assembled_script([*panels, main, *hosts]), f"const PANELS = {{ {names}}};"]
    return Program("\n".join(script), f"{module_name(main)}.render")


def plotly_script(*, whole: bool = False) -> str:
    """Plotly.js as LabPlotly. whole: of all kinds of traces, three times as large."""
    file = Path(plotly.__file__).with_name("package_data") / "plotly.min.js" if whole else _PLOTLY
    return f"{file.read_text('utf-8')}\n{_OWN_NAME}"


def needs_whole(message: bytes) -> bool:
    """Whether a board's message has a chart with a trace that has no axes."""
    panels = [panel for row in header_of(message).get("board", {}).get("rows", ()) for panel in row]
    traces = [trace for panel in panels for trace in panel.get("chart", {}).get("traces", ())]
    return any(trace.get("type", "scatter") not in WITH_AXES for trace in traces)


def assembled_script(files: Iterable[Path]) -> str:
    """One script of these modules and all that they import, each in a const of its own, imported ones first.

    Raises ValueError where modules import each other in a circle, or in a way that is not understood.
    """
    scripts: dict[Path, str] = {}
    for file in files:
        _add(file.resolve(), scripts, ())
    return "\n".join(scripts.values())


def module_name(file: Path) -> str:
    """The const that holds what a module exports. The browser refuses code in which two have one name."""
    return "_".join(["module", file.parent.name, file.stem])


def _add(file: Path, scripts: dict[Path, str], above: tuple[Path, ...]) -> None:
    if file in above:
        circle = " -> ".join(path.name for path in (*above[above.index(file) :], file))
        raise ValueError(f"modules import each other in a circle: {circle}; move what both need to a third")
    if file in scripts:
        return
    code = file.read_text("utf-8")
    for _, other in _IMPORT.findall(code):
        _add((file.parent / other).resolve(), scripts, (*above, file))
    exported = ", ".join(name for _, name in _EXPORT.findall(code))

    def import_from(match: re.Match[str]) -> str:
        return f"const {{{match[1]}}} = {module_name((file.parent / match[2]).resolve())};\n"

    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(import_from, _COMMENT.sub("", code)))
    remaining = re.search(r"^(import|export)\b.*", body, re.MULTILINE)
    if remaining:
        raise ValueError(f"{file.name}: {remaining[0]!r} is not understood; see the docstring of {__name__}")
    body = _INDENT.sub("", body)
    scripts[file] = f"const {module_name(file)} = (() => {{\n{body}return {{ {exported} }};\n}})();"


def _colours(dark: bool, *, projected: bool = False) -> dict[str, Any]:
    tables = {
        name: theme.lookup_table(name, dark=dark).tobytes().hex() for name in ("sequential", "diverging")
    }
    heads = theme.HEAD_COLOURS_DARK if dark else theme.HEAD_COLOURS
    template = theme.template(dark, projected=projected).to_plotly_json()
    return {**theme.palette(dark, projected=projected), "heads": list(heads), **tables, "template": template}
