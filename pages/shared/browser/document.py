"""The document at every page's address: Streamlit's own, with the address of its server added.

Streamlit's front end would look for its server below the page's name first: two requests answered 404, two
errors in the console, and a pause before it looks beside it. Pages with charts begin to load Plotly here.
"""

import re
from contextlib import suppress
from functools import cache
from pathlib import Path

import streamlit
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pages.shared import visitors
from pages.shared.browser import plotly_js

# This is undocumented: the front end reads it from `window` where another site embeds it. It is relative, as
# the document's own links to scripts are, so that both hold behind a proxy that adds a path.
_WITH_ADDRESS = "<head><script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location).href}</script>"
# A browser runs this while it would otherwise wait for the server's first answer.
_WITH_CHARTS = f'<script async src="{plotly_js.ADDRESS}"></script>'


RENEW = "renew"
"""Where a browser gets its new token, beside the pages."""


class _Name(StringConvertor):
    regex = "[^/.]*"  # no dot: not a file such as favicon.png


def routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    register_url_convertor("name", _Name())
    return [Route(f"/{RENEW}/{{code}}", _renew), Route("/{page:name}", _send)]


def _renew(request: Request) -> Response:
    """Brings whoever has signed in a new token, and back to the page of teachers; others keep theirs."""
    headers = {"Cache-Control": "no-store"}
    with suppress(ValueError):
        fresh = visitors.renew(request.path_params["code"], request.cookies.get(visitors.COOKIE, ""))
        headers["Set-Cookie"] = visitors.cookie_for(fresh, secure=request.url.scheme == "https")
    return RedirectResponse("../teacher", 303, headers)


@cache
def _document(has_charts: bool) -> str:
    document = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return document.replace("<head>", _WITH_ADDRESS + _WITH_CHARTS * has_charts, 1)


def inline_scripts() -> list[str]:
    """The scripts that stand in the document itself."""
    return re.findall(r"<script>(.*?)</script>", _document(True), re.DOTALL)


def _send(request: Request) -> HTMLResponse:
    has_charts = bool(request.path_params["page"])  # Explore, the page without a name, fetches Plotly later
    headers = {"Cache-Control": "no-cache"}
    if visitors.is_class():
        token = request.cookies.get(visitors.COOKIE, "")
        headers["Set-Cookie"] = visitors.cookie_for(token, secure=request.url.scheme == "https")
    return HTMLResponse(_document(has_charts), headers=headers)
