"""The talks that ship, as the show reads them."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from attention_lab.pages.talks.talks import ADDRESSES, FOLDER, NAMES
from tools.javascript import NODE

READ = Path(__file__).with_name("read.js")


def read(*files: Path) -> list[dict[str, Any]]:
    """Of each file: the talk, its problems, and whether it is read alike once written."""
    command = [str(NODE / "bin" / "node"), str(READ), json.dumps([*ADDRESSES]), *map(str, files)]
    made = subprocess.run(command, check=True, capture_output=True, timeout=60)
    readings: list[dict[str, Any]] = json.loads(made.stdout)
    return readings


@cache
def readings() -> dict[str, Any]:
    """The English talks by name."""
    return dict(zip(NAMES, read(*(FOLDER / f"{name}.md" for name in NAMES)), strict=True))


def stops() -> list[tuple[str, int, dict[str, Any]]]:
    """Each stop: its talk's name, its place from 1, and what talk/types.d.ts calls a Stop."""
    return [
        (name, at, stop)
        for name, reading in readings().items()
        for at, stop in enumerate(reading["talk"]["stops"], start=1)
    ]
