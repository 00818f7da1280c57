"""Caddy takes the configuration that it is given, and it says what is promised of it."""

import json
import subprocess
from pathlib import Path

import pytest

from tools.serving import proxy


@pytest.mark.parametrize(("host", "listens"), [("0.0.0.0", "0.0.0.0:8501"), ("::1", "[::1]:8501")])
def test_caddy_accepts_it(tmp_path: Path, host: str, listens: str) -> None:
    given = proxy.configured(host, 8501, [9001, 9002], admin=tmp_path / "admin", drain_seconds=7)
    file = tmp_path / "caddy.json"
    file.write_text(json.dumps(given))
    said = subprocess.run([proxy._caddy(), "validate", "--config", str(file)], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    server = given["apps"]["http"]["servers"]["attention-lab"]
    assert server["listen"] == [listens]
    (handler,) = server["routes"][0]["handle"]
    assert handler["upstreams"] == [{"dial": "127.0.0.1:9001"}, {"dial": "127.0.0.1:9002"}]
    assert handler["load_balancing"]["selection_policy"]["policy"] == "cookie"
    assert handler["stream_close_delay"] == "7s"


def test_without_caddy_a_sentence_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(FileNotFoundError, match="`make serve` installs"):
        proxy._caddy()
