"""A server of a copy of the app that has one file more, as somebody would add it."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.background import ROOT, free_port, serving

PARTS = ("app.py", "pages", "models", "viz_core", "tools", ".streamlit")


@contextmanager
def copied_app(file: Path, place: str, factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server; `file` lies in the folder `place` of the copy."""
    folder, home, port = factory.mktemp("app"), factory.mktemp("home"), free_port()
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    shutil.copy(file, folder / place)
    settings = {"ATTENTION_LAB_RUNS": str(home / "runs"), "ATTENTION_LAB_DATA": str(home / "data")}
    command = [sys.executable, str(folder / "tools/serve.py"), "--port", str(port)]
    with serving(command, port, folder, home / "log.txt", **settings) as server:
        yield server.url
