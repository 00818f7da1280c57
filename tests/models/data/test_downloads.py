"""Downloads from a server of the test's own: whole and right, or nothing at all and a sentence."""

import hashlib
import io
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from attention_lab.models.data import downloads
from attention_lab.models.data.downloads import SOURCES, Download, SourceError, fetch, find, required_file

CONTENT = b"to be or not to be\n" * 40_000
ARCHIVE = io.BytesIO()
with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED) as _packed:
    _packed.writestr("text", CONTENT)
BROKEN = bytearray(ARCHIVE.getvalue())
BROKEN[60:90] = bytes(30)  # within what is packed
FILES = {"/text": CONTENT, "/zip": ARCHIVE.getvalue(), "/short": CONTENT[:-1], "/other": CONTENT[:-1] + b"?"}
FILES["/broken"] = bytes(BROKEN)
SHA = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        content = FILES.get(self.path)
        self.send_response(200 if content else 404)
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def offer(monkeypatch, address: str, **values) -> None:
    values = {"file": "one.txt", "size": len(CONTENT), "digest": SHA} | values
    monkeypatch.setitem(downloads.SOURCES, "play", Download("A play", address, **values))


def everything(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


@pytest.mark.parametrize(("path", "packed"), [("/text", 0), ("/zip", len(FILES["/zip"]))])
def test_a_file_comes_whole_with_progress(address, root, monkeypatch, path, packed):
    offer(monkeypatch, address + path, packed=packed)
    assert find("play") is None
    seen: list[tuple[int, int]] = []
    kept = fetch("play", lambda come, total: seen.append((come, total)))
    assert kept == find("play") == required_file("play") == root / "play/one.txt"
    assert kept.read_bytes() == CONTENT
    assert everything(root) == [kept], "nothing else stays"
    total = packed or len(CONTENT)
    assert [come for come, _ in seen] == sorted(come for come, _ in seen)
    assert {all_ for _, all_ in seen} == {total} and seen[-1][0] == total
    before = kept.stat().st_mtime_ns
    fetch("play", lambda *_: pytest.fail("what is here is not downloaded again"))
    assert before == kept.stat().st_mtime_ns


@pytest.mark.parametrize(
    ("path", "changes", "sentence"),
    [
        ("/other", {}, r"gave a file with sha256 [0-9a-f]{64}, not [0-9a-f]{64}; try again"),
        ("/short", {}, "gave 759,999 bytes instead of 760,000; try again"),
        ("/text", {"size": 1000}, "gave more bytes instead of 1,000;"),
        ("/text", {"packed": len(CONTENT)}, "gave no zip archive; try again"),
        ("/broken", {"packed": len(FILES["/zip"])}, "gave no zip archive; try again"),
        ("/zip", {"packed": len(FILES["/zip"]), "size": 1000}, "gave a file with sha256"),
        ("/none", {}, r"could not be read \(Not Found\); try again, or download it yourself"),
    ],
)
def test_what_is_wrong_is_not_kept(address, root, monkeypatch, path, changes, sentence):
    offer(monkeypatch, address + path, **changes)
    with pytest.raises(SourceError, match=f"^{address}{path} {sentence}") as caught:
        fetch("play")
    assert caught.value.source == "play"
    assert everything(root) == [] and find("play") is None


def test_nobody_answers(root, monkeypatch):
    offer(monkeypatch, "http://127.0.0.1:9/text")
    with pytest.raises(SourceError, match=r"could not be read \(.*refused.*\); try again"):
        fetch("play")


def test_a_download_can_be_ended(address, root, monkeypatch):
    offer(monkeypatch, f"{address}/text")

    def stop(come: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch("play", stop)
    assert everything(root) == []


def test_a_folder_that_cannot_be_written(address, root, monkeypatch):
    offer(monkeypatch, f"{address}/text")
    root.parent.joinpath("data").write_text("a file where the folder should be")
    with pytest.raises(SourceError, match=r"cannot be written .*set ATTENTION_LAB_DATA to another folder"):
        fetch("play")


def test_a_cut_file_is_as_good_as_none(address, root, monkeypatch):
    offer(monkeypatch, f"{address}/text")
    path = fetch("play")
    path.write_bytes(CONTENT[:100])
    assert find("play") is None
    with pytest.raises(SourceError, match=re.escape("A play is not here yet; download it (760 kB)")):
        required_file("play")
    assert fetch("play").read_bytes() == CONTENT


def test_unknown_sources_are_refused():
    with pytest.raises(SourceError, match="source='moon' is unknown"):
        fetch("moon")


def test_the_known_sources_are_what_is_beside_this_clone(shared_data):
    known = downloads.SOURCES["tiny-shakespeare"]
    content = (shared_data / "tinyshakespeare" / "input.txt").read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (known.size, known.digest)


def test_nothing_comes_unencrypted_or_under_a_checksum_that_can_be_forged():
    for source in SOURCES.values():
        assert source.address.startswith("https://")
        assert re.fullmatch("[0-9a-f]{64}", source.digest)
