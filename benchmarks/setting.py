"""What the sections of one run share: the browser, the servers, how often to repeat, how to print."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser

from tools.background_servers import Server


@dataclass(frozen=True)
class Setting:
    browser: Browser
    app: Server
    echo: Server
    empty: Server
    subplots: Server
    folder: Path  # for files that a section makes
    rounds: int  # measured repetitions of each interaction


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table; its first column is words, the others are numbers."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * (len(columns) - 1))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def verdict(value: float, limit: float) -> str:
    """`value` beside the most it may be, and whether it is."""
    return f"{value:.2f} (≤ {limit:g}: {'yes' if value <= limit else 'NO'})"
