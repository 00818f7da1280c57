"""By which names a server answers, and to whose pages: alone, named by hand, and as a class."""

from collections.abc import Iterator

import pytest

from pages.shared import visitors
from pages.shared.browser import gate


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """What the environment says is read once."""
    for read in (gate._given, gate._named):
        read.cache_clear()
    yield
    for read in (gate._given, gate._named):
        read.cache_clear()


def status(
    host: str, origin: str | None = None, method: str = "GET", kind: str = "http", path: str = "/"
) -> int | None:
    """With which status a request is refused, if it is."""
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    refused = gate.refusal({"type": kind, "method": method, "path": path, "headers": headers})
    return None if refused is None else refused[0]


def test_alone_a_server_answers_to_its_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    gate._named.cache_clear()
    assert [status(host) for host in ("127.0.0.1:8501", "localhost", "LOCALHOST:1", "[::1]:8501")] == [
        None
    ] * 4
    assert [status(host) for host in ("lab.example", "127.0.0.1.evil.example", "", "a b")] == [421] * 4


def test_names_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a proxy, which may send its own name or keep the one that was asked for."""
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    monkeypatch.setenv(gate.HOSTS, "lab.example, Other.example")
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
    monkeypatch.setenv(gate.HOSTS, "lab.example")
    gate._given.cache_clear()
    gate._named.cache_clear()
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
