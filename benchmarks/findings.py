"""How long every finding takes on the model that it ships with, as a visitor finds it.

    python -m benchmarks.findings [--threads 2] [--opened] [name ...]

A limit of 30 s holds for each. A finding whose model is not on this machine says what it needs. With
`--opened`, a browser chooses each on a new server, where nothing was measured: its picture comes within a
second.
"""

import argparse
import tempfile
import time
from pathlib import Path

import torch

from attention_lab.models import load_model
from attention_lab.models.findings import Finding, findings
from benchmarks import servers
from tools import chromium

LIMIT_S = 30.0
OPENED_S = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--opened", action="store_true", help="time how long the page takes to show each")
    parser.add_argument("names", nargs="*", metavar="name", help="of findings; default: all")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    unknown = [name for name in given.names if name not in findings()]
    if unknown:
        parser.error(f"no finding is named {unknown[0]!r}; choose from {', '.join(findings())}")
    if given.opened:
        return opened(given.names or list(findings()))
    print(f"{'finding':<24}{'model':<16}{'seconds':>8}   limit {LIMIT_S:g} s")
    for name in given.names or findings():
        print(row(findings()[name]), flush=True)


def opened(names: list[str]) -> None:
    """The table of openings: each is chosen in the list of an open page, where its model ships."""
    from playwright.sync_api import sync_playwright

    print(f"{'finding':<24}{'seconds':>8}   limit {OPENED_S:g} s")
    with (
        tempfile.TemporaryDirectory() as folder,
        servers.ours(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=["--no-sandbox"])
        page = browser.new_page(base_url=server.url)
        page.goto("/findings?finding=positional&positional_texts=5")
        board = page.locator(".board[data-generation]")
        board.wait_for(timeout=60_000)
        for name in (name for name in names if not findings()[name].model.startswith("hf:")):
            before = board.get_attribute("data-generation")
            page.get_by_role("combobox", name="Finding").click()
            option = page.get_by_role("option", name=findings()[name].title)
            option.wait_for()
            start = time.perf_counter()
            option.click()
            page.locator(f".board[data-generation]:not([data-generation='{before}'])").wait_for(
                timeout=60_000
            )
            seconds = time.perf_counter() - start
            late = "" if seconds <= OPENED_S else f"   over the limit of {OPENED_S:g} s"
            print(f"{name:<24}{seconds:>8.2f}{late}", flush=True)
        browser.close()


def row(finding: Finding) -> str:
    """Its line of the table, with the outcome; the model is loaded before the time is taken."""
    begun = f"{finding.name:<24}{finding.model or 'shipped runs':<16}"
    try:
        model = load_model(finding.model) if finding.model else None
    except ValueError as error:
        return f"{begun}{'—':>8}   {error}"
    start = time.perf_counter()
    outcome = finding.measured(model)
    seconds = time.perf_counter() - start
    verdict = "holds" if outcome.holds else "does not hold"
    late = "" if seconds <= LIMIT_S else f", over the limit of {LIMIT_S:g} s"
    return f"{begun}{seconds:>8.1f}   {verdict}{late}"


if __name__ == "__main__":
    main()
