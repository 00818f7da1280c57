"""The talks that ship, as the show reads them."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from attention_lab.pages.talks.talks import ADDRESSES, FOLDER, NAMES
from tools.javascript import NODE

READ = Path(__file__).with_name("read.js")


@cache
def readings() -> dict[str, Any]:
    """By name: the talk, its problems, and whether it is read alike once written."""
    files = [str(FOLDER / f"{name}.md") for name in NAMES]
    command = [str(NODE / "bin" / "node"), str(READ), json.dumps([*ADDRESSES]), *files]
    made = subprocess.run(command, check=True, capture_output=True, timeout=60)
    return dict(zip(NAMES, json.loads(made.stdout), strict=True))


def stops() -> list[tuple[str, int, dict[str, Any]]]:
    """Each stop: its talk's name, its place from 1, and what talk/types.d.ts calls a Stop."""
    return [
        (name, at, stop)
        for name, reading in readings().items()
        for at, stop in enumerate(reading["talk"]["stops"], start=1)
    ]
