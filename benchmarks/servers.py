"""The servers that are measured: our app, and plain Streamlit pages to hold it against."""

import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from tools.background_servers import ROOT, Server, free_port, serving, serving_the_app

PLAIN = Path(__file__).parent / "plain"
HEADS = 8


# JavaScript promises, for probe.press_to_paint and probe.open_page.
def changed(selector: str, part: str = "node") -> str:
    """Promise that `part` of every `node` that the CSS `selector` finds has changed."""
    return f"probe.changed(() => [...document.querySelectorAll('{selector}')].map(node => {part}))"


ECHOED = changed(".stMarkdown p", "node.innerText")
SUBPLOTS_DRAWN = changed(".hm image", "node.href.baseVal")
FIRST_WORDS = changed(".stMarkdown p")
DRAWN = "probe.drawn()"
DRAWN_FROM_NEW_DATA = "probe.drawn(true)"


@contextlib.contextmanager
def plain(name: str, folder: Path) -> Iterator[Server]:
    """`benchmarks/plain/NAME.py` on a free port, with what makes every page of the app quicker: no collection
    of garbage after a run, and a socket that sends at once.

    It reports nothing to anyone, so that no measurement waits for another host.
    """
    place = folder / name
    place.mkdir()
    shutil.copy(PLAIN / f"{name}.py", place / "page.py")
    shutil.copy(PLAIN / "as_ours.py", place)
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "as_ours.py", "--browser.gatherUsageStats=false"]
    command += ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    command += ["--runner.postScriptGC=false"]
    with serving(command, port, place, place / "log.txt", PYTHONPATH=str(ROOT)) as server:
        yield server


@contextlib.contextmanager
def ours(folder: Path) -> Iterator[Server]:
    with serving_the_app(folder / "attention-lab.txt") as server:
        yield server


def untrained(n_tokens: int, *, n_layers: int = 1, n_heads: int = HEADS, **more: str | int) -> str:
    """Query string of Explore with an untrained model and `n_tokens` different words."""
    text = " ".join(f"w{i}" for i in range(n_tokens))
    return urlencode({"model": "untrained", "n_layers": n_layers, "n_heads": n_heads, "text": text, **more})
