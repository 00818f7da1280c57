"""Makes again what takes longer than a visitor waits: `python -m models.findings.make pruning`."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.files import write_json
from models.findings import pruning

MAKERS: dict[str, Callable[[], dict[str, Any]]] = {"pruning": pruning.learn_anew}
"""What gives the content of each finding's file, which lies beside the finding under its name."""


def make(name: str, folder: Path = Path(__file__).parent) -> Path:
    """Writes the file of one finding."""
    path = folder / f"{name}.json"
    write_json(path, MAKERS[name]())
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=MAKERS, help="the finding whose result is made")
    print("wrote", make(parser.parse_args().name))
