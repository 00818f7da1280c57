"""Find, or with `python -m tools.chromium` install, the Chromium that tests and benchmarks drive."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# The first is the same browser without the parts that draw its own windows: tests take a third less time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "no Chromium here: install one (Debian: `apt install chromium`) or name it in the variable CHROMIUM"


def find() -> str | None:
    """Path of the first Chromium that can be started: $CHROMIUM, the system's, then Playwright's own."""
    return next((path for path in candidates() if path and starts(path)), None)


def candidates() -> Iterator[str | None]:
    if "CHROMIUM" in os.environ:
        yield os.environ["CHROMIUM"]
        return
    yield from map(shutil.which, NAMES)
    # Asked last because it starts Playwright, which cannot run inside a Playwright that is in use.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.executable_path


def starts(path: str) -> bool:
    """True if the program exists and answers; an Ubuntu stub without its snap does not."""
    if not Path(path).exists():
        return False
    return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0


def install() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"])
        for package in NAMES[:2]:  # older systems have only the second
            if find() is None:
                subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package])
    if find() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])


if __name__ == "__main__":
    if find() is None:
        install()
    if find() is None:
        # The tests decide what follows: they skip with this reason, or fail where CI=true.
        print(f"Browser tests cannot run: {MISSING}.", file=sys.stderr)
