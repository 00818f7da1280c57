"""By which names a server answers, and to whose pages: alone, named by hand, and as a class."""

import re
from collections.abc import Iterator

import pytest
from plotly.offline import get_plotlyjs_version
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.browser import requests
from attention_lab.pages.talks import show
from attention_lab.viz_core.viewer import program as viewer


def test_plotly_is_of_the_version_that_plotly_py_has_and_kept_for_good():
    assert f"./plotly/{get_plotlyjs_version()}.js" == viewer.PLOTLY_ADDRESS
    answer = TestClient(Starlette(routes=requests.plotly_routes())).get(f"/app/../{viewer.PLOTLY_ADDRESS}")
    assert answer.text == viewer.plotly_script()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert int(answer.headers["content-length"]) < 600_000


def test_plotly_has_a_name_of_its_own_that_no_other_version_takes():
    assert viewer.plotly_script().endswith("\nglobalThis.LabPlotly = globalThis.Plotly;")


@pytest.mark.parametrize("path", ["/", "/attention", "/no-such-page"])
def test_a_page_is_streamlits_document_with_its_servers_address_before_any_other_script(path: str):
    answer = TestClient(Starlette(routes=requests.document_routes())).get(path)
    assert answer.headers["cache-control"] == "no-cache"
    first, *others = answer.text.split("<script")[1:]
    assert first.startswith(">window.__streamlit = {BACKEND_BASE_URL: new URL('.', location).href}</script>")
    assert any('type="module"' in other and "./static/js/" in other for other in others)


@pytest.mark.parametrize(
    ("accepted", "asked", "language", "title"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "", "de", "Ein Vortrag"),
        ("de-DE", "?lang=fr", "fr", "Un exposé"),
        ("de-DE", "?lang=en", "en", "A talk"),
        ("de-DE", "?lang=<x>", "de", "Ein Vortrag"),
        ("sv", "", "en", "A talk"),
    ],
)
def test_a_document_of_a_hall_has_the_language_of_its_link_else_of_its_browser(
    accepted: str, asked: str, language: str, title: str
):
    client = TestClient(Starlette(routes=[*show.routes(), *requests.words_routes()]))
    answer = client.get(f"/hall/abcde/clicker{asked}", headers={"Accept-Language": accepted})
    chosen = " data-chosen" if asked == f"?lang={language}" else ""
    assert f'<html lang="{language}"{chosen}>' in answer.text and answer.headers["vary"] == "Accept-Language"
    catalogues = re.findall('<script src="(../.././words/.*?)">', answer.text)
    assert len(catalogues) == (language != "en")
    for address in catalogues:
        assert f'"language":"{language}"' in client.get(f"/hall/abcde/{address}").text
    follower = client.get(f"/hall/abcde{asked}", headers={"Accept-Language": accepted})
    assert f"<title>{title} · " in follower.text


@pytest.mark.parametrize("path", ["/favicon.png", "/manifest.json", "/_stcore/health", "/a/b"])
def test_everything_else_is_left_to_streamlit(path: str):
    assert TestClient(Starlette(routes=requests.document_routes())).get(path).status_code == 404


@pytest.mark.parametrize("path", ["/", "/attention", "/train"])
def test_pages_but_explore_begin_to_load_plotly_with_their_document(path: str):
    answer = TestClient(Starlette(routes=requests.document_routes())).get(path)
    ahead = f'<link rel="preload" as="script" href="{viewer.PLOTLY_ADDRESS}">'
    assert (ahead in answer.text) == (path != "/")


def test_no_other_site_may_frame_the_app_until_it_is_named(monkeypatch: pytest.MonkeyPatch):
    requests.answer_headers.cache_clear()
    alone = requests.answer_headers()
    assert alone["Content-Security-Policy"].endswith("frame-ancestors 'self'")
    assert alone["X-Frame-Options"] == "SAMEORIGIN"
    monkeypatch.setenv(requests.FRAMES, "https://course.example.edu, https://*.example.org:8443")
    requests.answer_headers.cache_clear()
    framed = requests.answer_headers()
    expected = "frame-ancestors 'self' https://course.example.edu https://*.example.org:8443"
    assert framed["Content-Security-Policy"].endswith(expected) and "X-Frame-Options" not in framed
    requests.answer_headers.cache_clear()


@pytest.mark.parametrize(
    "site", ["course.example.edu", "https://a.example/page", "https://a; script-src *", "*"]
)
def test_a_site_that_is_none_is_refused_with_what_to_write(site: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(requests.FRAMES, site)
    with pytest.raises(ValueError, match=r"ATTENTION_LAB_FRAMES has .*, which is no site; write it as https"):
        requests.framing_sites()


@pytest.mark.parametrize("path", ["", "softmax"])
def test_a_page_in_a_frame_is_told_to_the_front_end_in_its_own_words(path: str):
    client = TestClient(Starlette(routes=requests.document_routes()), follow_redirects=False)
    answer = client.get(f"/{path}?part=head&embed=1&theme=dark&text=a%20b")
    expected = f"./{path}?embed=true&embed_options=dark_theme&part=head&text=a+b"
    assert answer.status_code == 307 and answer.headers["location"] == expected
    assert client.get(f"/{path}?embed=true").status_code == 200


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """What the environment says is read once."""
    for read in (requests._given, requests._named):
        read.cache_clear()
    yield
    for read in (requests._given, requests._named):
        read.cache_clear()


def status(
    host: str, origin: str | None = None, method: str = "GET", kind: str = "http", path: str = "/"
) -> int | None:
    """With which status a request is refused, if it is."""
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    refused = requests.refusal({"type": kind, "method": method, "path": path, "headers": headers})
    return None if refused is None else refused[0]


def test_alone_a_server_answers_to_its_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    requests._named.cache_clear()
    assert [status(host) for host in ("127.0.0.1:8501", "localhost", "LOCALHOST:1", "[::1]:8501")] == [
        None
    ] * 4
    assert [status(host) for host in ("lab.example", "127.0.0.1.evil.example", "", "a b")] == [421] * 4


def test_names_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a proxy, which may send its own name or keep the one that was asked for."""
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    monkeypatch.setenv(requests.HOSTS, "lab.example, Other.example")
    assert status("lab.example:443") is None and status("other.example") is None
    assert status("127.0.0.1:8501", "https://lab.example", kind="websocket") is None
    assert status("127.0.0.1:8501", "https://evil.example", kind="websocket") == 403
    assert status("evil.example") == 421


def test_a_class_answers_to_all_names_but_to_no_other_sites_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    assert status("any.example") is None
    assert status("any.example", "http://any.example", kind="websocket") is None
    assert status("any.example", "http://evil.example", kind="websocket") == 403
    assert status("any.example", "http://evil.example", "PUT") == 403
    assert status("any.example", "null", "DELETE") == 403
    assert status("any.example", "http://evil.example") is None  # whoever reads gets nothing across sites
    monkeypatch.setenv(requests.HOSTS, "lab.example")
    requests._given.cache_clear()
    requests._named.cache_clear()
    assert status("any.example") == 421 and status("lab.example") is None


@pytest.mark.parametrize(
    "path",
    ["metrics", "metrics/", "script-health-check", "agent/interact", "agent/openapi.json", "", "Stream"],
)
def test_of_streamlits_addresses_only_those_that_pages_ask_are_answered(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    assert status("any.example", path=f"/_stcore/{path}") == 404
    for needed in ("health", "host-config", "stream", "upload_file/a/b", "bidi-components/x/y.js"):
        assert status("any.example", path=f"/_stcore/{needed}") is None


def test_a_refusal_of_a_class_tells_no_folder_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(visitors.CLASS, "1")
    monkeypatch.setenv("ATTENTION_LAB_MODELS", "/srv/modèles")
    visitors.is_class.cache_clear()

    async def refuse(_request: Request) -> Response:
        raise HTTPException(503, "'/srv/modèles/bert' cannot be kept now; try again.")

    app = Starlette(routes=[Route("/", refuse)], middleware=[Middleware(requests.Gate)])
    answer = TestClient(app).get("/")
    visitors.is_class.cache_clear()
    assert (answer.status_code, answer.text) == (503, "'bert' cannot be kept now; try again.")
    assert "Content-Security-Policy" in answer.headers
