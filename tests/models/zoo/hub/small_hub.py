"""A hub of one's own on this machine: it answers what huggingface_hub asks for, from folders of models."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

from huggingface_hub import constants

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PIECE = 1 << 16


@dataclass
class SmallHub:
    """root: its models, root/owner/name. gated: names. pause: seconds before each piece of a file.

    is_closed: it hangs up, as what stands between a machine and a network may do.
    """

    root: Path
    url: str = ""
    gated: set[str] = field(default_factory=set)
    pause: float = 0.0
    asked: list[str] = field(default_factory=list)
    is_closed: bool = False

    def files(self, name: str) -> dict[str, bytes]:
        folder = self.root / name
        return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}

    def info(self, name: str) -> dict[str, Any]:
        siblings = [
            {"rfilename": file, "size": len(content), "blobId": digest(content)}
            for file, content in self.files(name).items()
        ]
        return {
            "id": name, "modelId": name, "sha": COMMIT, "siblings": siblings, "private": False,
            "gated": "manual" if name in self.gated else False, "disabled": False, "downloads": 1, "likes": 0,
            "tags": ["license:apache-2.0"], "cardData": {"license": "mit"},
            "safetensors": {"parameters": {"F32": 12_345_678}, "total": 12_345_678},
        }  # fmt: skip

    def tree(self, name: str) -> list[dict[str, Any]]:
        return [
            {"type": "file", "path": file, "size": len(content), "oid": digest(content)}
            for file, content in self.files(name).items()
        ]


def digest(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers for the hub of its server."""

    protocol_version = "HTTP/1.1"
    hub: SmallHub

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        if self.hub.is_closed:
            self.close_connection = True
            return
        path = unquote(urlsplit(self.path).path).strip("/")
        self.hub.asked.append(f"{self.command} {path}")
        if path.startswith("api/models/"):
            self.api(path.removeprefix("api/models/"))
            return
        name, _, rest = path.partition("/resolve/")
        file = rest.partition("/")[2]
        content = self.hub.files(name).get(file)
        if name in self.hub.gated:
            self.refuse(403, "GatedRepo")
        elif content is None:
            self.refuse(404, "EntryNotFound")
        else:
            self.give(content, body=body)

    def api(self, path: str) -> None:
        name = "/".join(path.split("/")[:2])
        if not (self.hub.root / name).is_dir():
            self.refuse(401, "RepoNotFound")
        elif "/tree/" in path:
            self.give(json.dumps(self.hub.tree(name)).encode(), kind="application/json")
        else:
            self.give(json.dumps(self.hub.info(name)).encode(), kind="application/json")

    def refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def give(self, content: bytes, *, kind: str = "application/octet-stream", body: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{digest(content)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        for at in range(0, len(content) if body else 0, PIECE):
            time.sleep(self.hub.pause if kind == "application/octet-stream" else 0)
            try:
                self.wfile.write(content[at : at + PIECE])
            except OSError:  # whoever asked is gone
                return


@contextmanager
def serving(root: Path) -> Iterator[SmallHub]:
    hub = SmallHub(root)

    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OfThisHub", (Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    files = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    own = patch.multiple(constants, ENDPOINT=hub.url, HUGGINGFACE_CO_URL_TEMPLATE=files)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with own:
            yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
