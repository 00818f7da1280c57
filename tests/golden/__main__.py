"""Whether two versions of the program show the same numbers: 300 links, and the arrays that each sends.

`python -m tests.golden write FILE` in the checkout of one version, `python -m tests.golden compare FILE` in
that of the other, on the same machine. It stands on what a version of this program cannot change at will:
links, and messages to the browser as they are written (viz_core and pages may be built anew in between). An
array that was sent must be sent again; texts on the page that are gone are listed, but do not fail.
Parts that measure seconds on this machine are not among the links.
"""

import argparse
import json
import logging
import sys
import time
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from streamlit.testing.v1 import AppTest

HERE = Path(__file__).parent
PAGES = Path.cwd() / "pages"
TOLERANCE = 2e-6
"""Of the largest number of an array: another order of the same sums."""


def nodes(block: Any) -> Iterator[Any]:
    for child in getattr(block, "children", {}).values():
        yield child
        yield from nodes(child)


def arrays_of(message: bytes) -> list[np.ndarray]:
    """The arrays that the header of a message points to."""
    length = int.from_bytes(message[:4], "little")
    start = -(-(4 + length) // 8) * 8
    found: list[np.ndarray] = []

    def array(value: dict[str, Any]) -> Any:
        if "$" in value:
            offset, kind, shape = value["$"]
            count = int(np.prod(shape, dtype=int))
            found.append(np.frombuffer(message, kind, count, start + offset).reshape(shape))
        return value

    json.loads(message[4 : 4 + length], object_hook=array)
    return found


def shown(link: str) -> tuple[list[np.ndarray], list[str]]:
    """The arrays and the texts of the page that a link opens."""
    parts = urlsplit(link)
    name = parts.path.strip("/") or "explore"
    file = PAGES / name / "page.py"
    lab = f"from attention_lab.pages.lab.page import show\nshow({name!r})"
    script = file.read_text("utf-8") if file.exists() else lab
    page = AppTest.from_string(script, default_timeout=300)
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        page.query_params[key] = value
    page.run()
    until = time.monotonic() + 240
    while any(button.label == "Stop" for button in page.button) and time.monotonic() < until:
        time.sleep(0.2)  # what takes long is computed beside, and shown by a later run of the page
        page.run()
    if page.exception:
        raise RuntimeError(f"{link}: {page.exception[0].message}")
    arrays: list[np.ndarray] = []
    texts: list[str] = []
    for node in nodes(page._tree):
        proto = getattr(node, "proto", None)
        if node.type == "bidi_component" and proto.bytes:
            arrays += arrays_of(proto.bytes)
        elif node.type in ("markdown", "caption", "text", "latex"):
            texts.append(" ".join(proto.body.split()))
    return arrays, texts


def links() -> list[str]:
    return (HERE / "links.txt").read_text().split()


def write(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, link in enumerate(links()):
            arrays, texts = shown(link)
            held = BytesIO()
            np.savez(held, *arrays)
            archive.writestr(f"{at}.npz", held.getvalue())
            archive.writestr(f"{at}.json", json.dumps({"link": link, "texts": texts}))
            print(f"{at + 1:4}  {len(arrays):4} arrays  {link[:100]}", flush=True)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    scale = float(np.abs(one[np.isfinite(one)]).max(initial=0.0)) if one.dtype.kind == "f" else 1.0
    return np.allclose(one, other, rtol=0, atol=TOLERANCE * scale, equal_nan=True)


def compare(file: Path) -> int:
    """The number of links that miss an array."""
    n_missing = n_arrays = 0
    with zipfile.ZipFile(file) as archive:
        for at in range(len(archive.namelist()) // 2):
            before = json.loads(archive.read(f"{at}.json"))
            with np.load(BytesIO(archive.read(f"{at}.npz"))) as saved:
                wanted = [saved[name] for name in saved.files]
            try:
                arrays, texts = shown(before["link"])
            except RuntimeError as error:
                n_missing += 1
                print(f"BROKEN  {error}")
                continue
            n_arrays += len(wanted)
            lost = [array.shape for array in wanted if not any(same(array, other) for other in arrays)]
            gone = [text for text in before["texts"] if text not in texts]
            if lost:
                n_missing += 1
                print(f"MISSING {before['link']}: {lost[:6]}{' …' if len(lost) > 6 else ''}")
            for text in gone:
                print(f"text    {before['link']}: {text[:120]!r}", flush=True)
    print(f"{n_missing} links miss numbers; {n_arrays} arrays compared")
    return n_missing


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # there is no browser
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    sys.exit(write(given.file) if given.what == "write" else compare(given.file))
