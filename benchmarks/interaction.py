"""How quickly the app answers, in a real Chromium, beside plain Streamlit pages and BertViz: `make bench`.

    python -m benchmarks.interaction [--rounds 24] [section ...]

Pages that are compared take turns in one run, so that they share whatever else the machine does. Times go
from the input event to the frame that shows its effect (see probe.js).
"""

import argparse
import contextlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks import bertviz_page, edit_paint, lab_pages, load, paint, servers
from benchmarks.setting import Setting
from tools import chromium

SECTIONS: dict[str, Callable[[Setting], None]] = {
    "controls": paint.controls,
    "dials": paint.dials,
    "edits": edit_paint.edits,
    "in-browser": paint.in_browser,
    "first-visit": paint.first_visit,
    "lab-sliders": lab_pages.scrubs,
    "lab-controls": lab_pages.controls,
    "lab-first-visit": lab_pages.first_visit,
    "bytes": load.first_view_bytes,
    "visitors": load.visitors,
    "memory": load.memory,
    "bertviz": bertviz_page.compare,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; default: all"
    )
    parser.add_argument("--rounds", type=int, default=24, help="measured repetitions of each interaction")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section is named {', '.join(unknown)}; choose from {', '.join(SECTIONS)}")
    path = chromium.find()
    if path is None:
        sys.exit(chromium.MISSING)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        app = stack.enter_context(servers.ours(folder))
        plain = {
            name: stack.enter_context(servers.plain(name, folder)) for name in ("echo", "empty", "subplots")
        }
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=path)
        print(f"Chromium {browser.version}, Python {platform.python_version()}, {os.cpu_count()} cores")
        setting = Setting(browser=browser, app=app, folder=folder, rounds=options.rounds, **plain)
        for name in options.sections or SECTIONS:
            SECTIONS[name](setting)
        browser.close()


if __name__ == "__main__":
    main()
