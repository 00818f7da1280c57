"""What browsers ask this server for beside Streamlit's own, and which requests it refuses.

Plotly.js, from the Python package, so that charts in the browser are drawn by the same version; the
document at every page's address; and the check of every request and of every answer.

Streamlit's front end would look for its server below the page's name first: two requests answered 404,
two errors in the console, and a pause before it looks beside it. So the document says where the server
is. Pages with charts begin to load Plotly there.

A page of any other site can reach a server on 127.0.0.1 through the browser of the person who runs it:
by a name of that site that resolves to this address (DNS rebinding), or directly. So there the server
answers only to its own names; and everywhere it refuses messages that another site's page sends, says
what a browser may do with its pages, and tells no visitor of a class where things lie on the server.
"""

import base64
import gzip
import hashlib
import os
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path
from urllib.parse import urlencode

import psutil
import streamlit
import streamlit as st
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention_lab.pages.shared import visitors, words
from attention_lab.pages.shared.browser import descriptors
from attention_lab.pages.shared.visitors import message_without_places, without_places
from attention_lab.viz_core.viewer import program as viewer


def plotly_routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    whole = program_route(viewer.PLOTLY_WHOLE, partial(viewer.plotly_script, whole=True))
    return [program_route(viewer.PLOTLY_ADDRESS, viewer.plotly_script), whole]


def words_routes() -> list[BaseRoute]:
    """The routes of the catalogues, for `st.App`."""
    return [program_route(words.address(code), partial(words.script, code)) for code in words.TRANSLATED]


def document_in_language(request: Request, html: str) -> Response:
    """A document of our own, beside Streamlit's, in the language that its link names, else the browser's."""
    asked = request.query_params.get("lang")
    code = asked if asked in words.NAMES else words.of_browser(request.headers.get("accept-language"))
    say, address = words.catalogue(code).say, words.address(code)
    (root,) = re.findall('<body data-root="(.*?)"', html)
    chosen = " data-chosen" if code == asked else ""
    script = f'<script src="{root}{address}"></script>' if address else ""
    html = html.replace('<html lang="en">', f'<html lang="{code}"{chosen}>', 1)
    html = re.sub("(?<=<title>).*?(?= ·)", lambda title: say(title[0]), html, count=1)
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language"}
    return HTMLResponse(html.replace("</head>", f"{script}</head>", 1), headers=headers)


def program_route(address: str, script: Callable[[], str], kind: str = "text/javascript") -> BaseRoute:
    """Serves a program or a style of ours, whose address names its content: browsers fetch it once."""
    packed = cache(lambda: gzip.compress(script().encode(), 6))
    headers = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}

    def send(request: Request) -> Response:
        return Response(packed(), media_type=kind, headers=headers)

    return Route(address.removeprefix("."), send)


def adding_to(routes: list[BaseRoute]) -> Callable[[str, str], str]:
    """Function that serves a script by one more of these routes, and returns its address from the root."""

    def add(name: str, script: str) -> str:
        stem, _, ending = name.rpartition(".")
        address = f"programs/{stem}.{hashlib.sha256(script.encode()).hexdigest()[:16]}.{ending}"
        routes.append(program_route(f"./{address}", lambda: script))
        return address

    return add


@asynccontextmanager
async def sending_at_once(_app: object) -> AsyncIterator[None]:
    """For as long as the server runs, what it sends goes out at once.

    Streamlit makes its socket so that asyncio leaves Nagle's algorithm on: the second of two small parts then
    waits for a browser to acknowledge the first, which takes 40 ms.
    """
    with suppress(psutil.Error, OSError):  # where a system does not tell of sockets, it is only slower
        for connection in psutil.Process().net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                with socket.socket(fileno=os.dup(connection.fd)) as listening:
                    # What it accepts has its options.
                    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    yield


# This is undocumented: the front end reads it from `window` where another site embeds it. It is relative, as
# the document's own links to scripts are, so that both hold behind a proxy that adds a path.
_WITH_ADDRESS = "<head><script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location).href}</script>"
# Fetched at once, and run with the first chart: run at once, it would keep the app waiting.
_WITH_CHARTS = f'<link rel="preload" as="script" href="{viewer.PLOTLY_ADDRESS}">'
_FIRST, *_REST = (Path(__file__).parents[1] / "page.css").read_text("utf-8").split("/*")
_STYLE = _FIRST + "".join(each.partition("*/")[2] for each in _REST)  # without comments
_STYLE_ADDRESS = f"./programs/page.{hashlib.sha256(_STYLE.encode()).hexdigest()[:16]}.css"
# In the body: Streamlit adds its own styles to the head, and of two equal rules the later one holds.
_WITH_STYLE = f'<link rel="stylesheet" href="{_STYLE_ADDRESS}"></body>'


RENEW = "renew"
"""Where a browser gets its new token, beside the pages."""


class _Name(StringConvertor):
    regex = "[^/.]*"  # no dot: not a file such as favicon.png


def document_routes(stage: str = "", board: str = "") -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own.

    stage, board: the address of the program that Explore runs, and of the one that other pages do.
    """
    register_url_convertor("name", _Name())
    send = partial(_send, programs=(stage, board))
    style = program_route(_STYLE_ADDRESS, lambda: _STYLE, "text/css")
    return [style, Route(f"/{RENEW}/{{code}}", _renew), Route("/{page:name}", send)]


def _renew(request: Request) -> Response:
    """Brings whoever has signed in a new token, and back to the page of teachers; others keep theirs."""
    headers = {"Cache-Control": "no-store"}
    with suppress(ValueError):
        fresh = visitors.renew(request.path_params["code"], request.cookies.get(visitors.COOKIE, ""))
        headers["Set-Cookie"] = visitors.cookie_for(fresh, secure=request.url.scheme == "https")
    return RedirectResponse("../teacher", 303, headers)


@cache
def _document(has_charts: bool, program: str = "") -> str:
    document = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    ahead = f'<link rel="modulepreload" href="{program}">' if program else ""
    document = document.replace("<head>", _WITH_ADDRESS + _WITH_CHARTS * has_charts + ahead, 1)
    return document.replace("</body>", _WITH_STYLE, 1)


def inline_scripts() -> list[str]:
    """The scripts that stand in the document itself."""
    return re.findall(r"<script>(.*?)</script>", _document(True), re.DOTALL)


def _send(request: Request, *, programs: tuple[str, str]) -> Response:
    query = request.query_params
    if query.get("embed") == "1":  # Streamlit's front end has other words for it, and for colours
        colours = [("embed_options", f"{theme}_theme") for theme in query.getlist("theme")]
        others = [pair for pair in query.multi_items() if pair[0] not in ("embed", "theme")]
        address = urlencode([("embed", "true"), *colours, *others])
        return RedirectResponse(f"./{request.path_params['page']}?{address}", 307)
    has_charts = bool(request.path_params["page"])  # Explore, the page without a name, fetches Plotly later
    headers = {"Cache-Control": "no-cache"}
    if visitors.is_class():
        token = request.cookies.get(visitors.COOKIE, "")
        headers["Set-Cookie"] = visitors.cookie_for(token, secure=request.url.scheme == "https")
    return HTMLResponse(_document(has_charts, programs[has_charts]), headers=headers)


HOSTS = "ATTENTION_LAB_HOSTS"
"""The environment variable with the names, with commas between, by which this server is reached: that of a
proxy before it, for one. Without it, a server for one person answers to 127.0.0.1 and to localhost, and that
of a class, where another site's page would be a visitor like any other, to all names.
"""
FRAMES = "ATTENTION_LAB_FRAMES"
"""The environment variable with the sites, with commas between, whose pages may show the app in a frame, such
as https://course.example.edu; by default none may.
"""
_SITE = re.compile(r"https?://(?:\*\.)?[\w.-]+(?::\d+)?", re.ASCII)
_STREAMLITS = "/_stcore"
_NEEDED = re.compile(r"/_stcore/(?:health|host-config|stream|upload_file/.*|bidi-components/.*)")
"""What a page asks of Streamlit. Its other addresses tell of all visitors (metrics), or drive the app."""
_HOST = re.compile(r"(?:(?P<name>[^\s:/@\[\]]+)|\[(?P<number>[0-9a-f:.]+)\])(?::[0-9]+)?", re.IGNORECASE)
OWN_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
_OTHERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Gate:
    """ASGI middleware around all of the app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        refusing: list[Message] = []

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(answer_headers())
                if message["status"] >= 400 and "content-encoding" not in headers:
                    refusing.append(message)  # its length is told before its text comes
                    return
            elif refusing:
                body = without_places(message.get("body", b"").decode("utf-8", "replace")).encode()
                start, message = refusing.pop(), {**message, "body": body}
                MutableHeaders(scope=start)["Content-Length"] = str(len(body))
                await send(start)
            elif message["type"] == "websocket.send" and message.get("bytes"):
                message = {**message, "bytes": message_without_places(message["bytes"])}
            await send(message)

        refused = refusal(scope)
        if refused is None:
            try:
                await self._app(scope, receive, guarded)
            finally:
                if scope["type"] == "websocket":
                    descriptors.close_left()
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refused[1]})
        else:
            say = words.catalogue(words.of_browser(Headers(scope=scope).get("accept-language"))).say
            again = {"Refresh": f"{descriptors.RETRY_SECONDS}"} if refused[0] == 429 else None
            await PlainTextResponse(say(refused[1]), refused[0], again)(scope, receive, guarded)


def refusal(scope: Scope) -> tuple[int, str] | None:
    """The status and the sentence with which a request is refused; None where it may pass."""
    if scope["path"].startswith(_STREAMLITS) and not _NEEDED.fullmatch(scope["path"]):
        return 404, "Nothing is at that address; open one of this server's pages."
    headers, hosts = Headers(scope=scope), _named()
    host, origin = headers.get("host", ""), headers.get("origin")
    netloc = (origin or "").partition("//")[2]
    if hosts is not None and _name(host) not in hosts:
        sentence = f"This server is not called {_name(host)[:80]!r}; open it by its own name, or set {HOSTS}."
        return 421, sentence
    writes = scope["type"] == "websocket" or scope["method"] not in _READING
    if writes and origin is not None and netloc != host and _name(netloc) not in _given():
        return 403, f"A page of {origin[:80]!r} may not ask this server; open this server's own."
    stays = scope["type"] == "websocket" or scope["path"].endswith("/events")
    is_page = re.fullmatch(f"/{_Name.regex}", scope["path"])
    share = descriptors.FOR_CONNECTIONS if stays else descriptors.FOR_PAGES
    return descriptors.refusal(share) if stays or is_page else None


@cache
def _given() -> frozenset[str]:
    return frozenset(name.strip().lower() for name in os.environ.get(HOSTS, "").split(",") if name.strip())


@cache
def _named() -> frozenset[str] | None:
    """The names that this server answers to; None for all."""
    if not visitors.is_class():
        return OWN_NAMES | _given() | {_name(st.get_option("server.address") or "")}
    return _given() or None


def _name(host: str) -> str:
    """The name in a Host header, or an address of this machine, without its port; "" where it holds none."""
    match = _HOST.fullmatch(host)
    return (match["name"] or match["number"]).lower().rstrip(".") if match else ""


@cache
def answer_headers() -> dict[str, str]:
    """The headers of every answer. Everything comes from here; sites that are named may embed a page.

    Streamlit makes modules of our components' code, and styles while a page is open.
    """
    sites = framing_sites()
    whole = {} if sites else {"X-Frame-Options": "SAMEORIGIN"}  # it cannot name sites
    digests = (hashlib.sha256(script.encode()).digest() for script in inline_scripts())
    known = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    policy = f"""default-src 'self'; script-src 'self' blob: {known}; style-src 'self' 'unsafe-inline';
        img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' blob:; worker-src 'self' blob:;
        connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"""
    return {"Content-Security-Policy": " ".join([*policy.split(), *sites]), **_OTHERS, **whole}


def framing_sites() -> list[str]:
    """The sites whose pages may show the app in a frame. Raises ValueError for a name that is none."""
    sites = [site.strip() for site in os.environ.get(FRAMES, "").split(",") if site.strip()]
    for site in sites:
        if not _SITE.fullmatch(site):
            raise ValueError(
                f"{FRAMES} has {site!r}, which is no site; write it as https://course.example.edu"
            )
    return sites
