"""Plotly.js, as the installed `plotly` package carries it, served by this server.

Its address holds the version, so that a browser may keep it for good. A browser that runs all of it is busy
for a second, most of which goes into kinds of traces that no chart of ours has: they wait until one is drawn.
"""

import gzip
import re
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

# It is relative, as the document's other links are: every page lies beside the root, even behind a proxy.
ADDRESS = f"./plotly/{version('plotly')}.js"
AT_ONCE = ("scatter", "bar", "heatmap")
"""The kinds of traces that can be drawn from the start; the others after `LabPlotly.registerOthers()`."""

_REGISTERED = re.compile(r"([\w$]+)\.register\(\[((?:[\w$]+\(\),?)+)\]\)")
_PLACES = (0, 2)  # of bar and heatmap in Plotly's list; scatter is in Plotly's core
# Streamlit's front end puts another version under Plotly's name when it draws a chart of its own.
_OWN_NAME = "globalThis.LabPlotly = globalThis.Plotly;"


def routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    return [Route(ADDRESS.removeprefix("."), _send)]


def script() -> str:
    """plotly.min.js, as LabPlotly; most kinds of traces are there only after `registerOthers()`."""
    spec = find_spec("plotly")
    assert spec is not None and spec.origin is not None
    whole = (Path(spec.origin).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    return f"{_REGISTERED.sub(_parted, whole)}\n{_OWN_NAME}"


def _parted(found: re.Match[str]) -> str:
    core, modules = found[1], found[2].split(",")
    first = ",".join(modules[place] for place in _PLACES)
    others = ",".join(module for place, module in enumerate(modules) if place not in _PLACES)
    return f"{core}.register([{first}]);{core}.registerOthers=()=>{core}.register([{others}])"


@cache
def _packed() -> bytes:
    return gzip.compress(script().encode(), 6)


def _send(request: Request) -> Response:
    headers = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_packed(), media_type="text/javascript", headers=headers)
