"""Caddy takes the configuration that it is given, and it says what is promised of it."""

import json
import subprocess
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tools.background_servers import answers, free_port, until
from tools.serving import proxy


@pytest.mark.parametrize(("host", "listens"), [("0.0.0.0", "0.0.0.0:8501"), ("::1", "[::1]:8501")])
def test_caddy_accepts_it(tmp_path: Path, host: str, listens: str) -> None:
    given = proxy.caddy_configuration(host, 8501, [9001, 9002], admin=tmp_path / "admin", drain_seconds=7)
    file = tmp_path / "caddy.json"
    file.write_text(json.dumps(given))
    said = subprocess.run([proxy._caddy(), "validate", "--config", str(file)], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    server = given["apps"]["http"]["servers"]["attention-lab"]
    assert server["listen"] == [listens]
    assert server["trusted_proxies"]["ranges"] == ["127.0.0.1/32", "::1/128"]
    (handler,) = server["routes"][0]["handle"]
    assert handler["upstreams"] == [{"dial": "127.0.0.1:9001"}, {"dial": "127.0.0.1:9002"}]
    assert handler["load_balancing"]["selection_policy"]["policy"] == "cookie"
    assert handler["stream_close_delay"] == "7s"


def test_without_caddy_a_sentence_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(FileNotFoundError, match="`make serve` installs"):
        proxy._caddy()


def test_the_proxies_that_are_believed_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(proxy.TRUSTED, "10.0.0.0/8, fd00::1")
    assert proxy.trusted_networks() == ["10.0.0.0/8", "fd00::1/128"]
    for odd in ("*", "lab.example", "10.0.0.1/8"):
        monkeypatch.setenv(proxy.TRUSTED, odd)
        with pytest.raises(
            ValueError, match=r"FORWARDED_ALLOW_IPS='.*; give addresses, such as 127\.0\.0\.1"
        ):
            proxy.trusted_networks()


class _Echo(BaseHTTPRequestHandler):
    """Answers with the headers that Caddy sent."""

    def do_GET(self) -> None:
        body = json.dumps(dict(self.headers)).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.mark.parametrize(("believed", "proto"), [("127.0.0.1", "https"), ("192.0.2.1", "http")])
def test_only_a_trusted_proxy_says_by_which_protocol_and_address_a_visitor_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, believed: str, proto: str
) -> None:
    monkeypatch.setenv(proxy.TRUSTED, believed)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    Thread(target=server.serve_forever, daemon=True).start()
    caddy = proxy.Proxy("127.0.0.1", free_port(), tmp_path, drain_seconds=1)
    caddy.start([server.server_port])
    try:
        url = f"http://127.0.0.1:{caddy._port}/"
        until(lambda: answers(url), lambda: "Caddy did not start")
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            sent = json.load(answer)
    finally:
        caddy.stop()
        server.shutdown()
        server.server_close()
    assert sent["X-Forwarded-Proto"] == proto
    assert ("203.0.113.9" in sent["X-Forwarded-For"]) is (proto == "https")
