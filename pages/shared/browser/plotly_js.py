"""Plotly.js, as the installed `plotly` package carries it, served by this server.

Its address holds the version, so that a browser may keep it for good.
"""

import gzip
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

ADDRESS = f"/plotly/{version('plotly')}.js"


def routes() -> list[BaseRoute]:
    """What `st.App` has to serve beside Streamlit itself."""
    return [Route(ADDRESS, _send)]


def script() -> bytes:
    """plotly.min.js."""
    spec = find_spec("plotly")
    assert spec is not None and spec.origin is not None
    return (Path(spec.origin).parent / "package_data" / "plotly.min.js").read_bytes()


@cache
def _packed() -> bytes:
    return gzip.compress(script(), 6)


def _send(request: Request) -> Response:
    headers = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_packed(), media_type="text/javascript", headers=headers)
