"""Makes again what takes long: `python -m attention_lab.models.findings.make pruning`."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files import write_json
from . import outcomes, pruning

MAKERS: dict[str, Callable[[], dict[str, Any]]] = {
    "pruning": pruning.learn_anew,
    "outcomes": outcomes.measure_anew,
}
"""What gives the content of each file, which lies beside its module under the same name."""


def make(name: str, folder: Path = Path(__file__).parent) -> Path:
    """Writes one file."""
    path = folder / f"{name}.json"
    write_json(path, MAKERS[name]())
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=MAKERS, help="whose result is made")
    print("wrote", make(parser.parse_args().name))
