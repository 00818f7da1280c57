"""Explore beside BertViz's own pages for patterns of the same shapes: built, opened, another layer chosen.

Each page of BertViz is a process with a time limit (`bertviz_case.py`), since the large ones may never be
drawn; the three scripts that they ask a CDN for come from npm, once.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

from benchmarks.bertviz_case import HEADS, LAYERS, SCRIPTS
from benchmarks.load import count_bytes
from benchmarks.paint import alone, choose_layers
from benchmarks.probe import first_paint, open_page
from benchmarks.servers import DRAWN, untrained
from benchmarks.setting import Setting, print_table

# What bertviz 1.4.1 asks for, by the end of the address: npm package and file in it.
# It wants jQuery 2.0.0, which npm never had; 2.1.0 is the oldest there.
PACKAGES = {
    "require.min.js": ("requirejs@2.3.6", "package/require.js"),
    "jquery.min.js": ("jquery@2.1.0", "package/dist/jquery.min.js"),
    "d3.min.js": ("d3@5.7.0", "package/dist/d3.min.js"),
}
BOTH_VIEWS = 128
"""Of longer texts the model view, which draws all heads at once, is not opened."""
TOKENS = (64, 128, 256, 512)
FEW_ROUNDS = 4
LIMIT_S = 600
"""For one page of BertViz: built, drawn, its layers changed."""
SOONER, FEWER = 20, 500
COLUMNS = ["6 layers × 12 heads", "built s", "MB", "first drawn ms", "another layer: median ms", "p95 ms"]

Measured = dict[str, float]


def fetch_scripts(folder: Path) -> bool:
    """Writes the text of each script, fetched with npm; False where npm or its registry is not there."""
    if shutil.which("npm") is None:
        return False
    scripts = {}
    for name, (package, member) in PACKAGES.items():
        packed = subprocess.run(
            ["npm", "pack", "--json", package], cwd=folder, capture_output=True, text=True, timeout=120
        )
        if packed.returncode != 0:
            return False
        with tarfile.open(folder / json.loads(packed.stdout)[0]["filename"]) as archive:
            content = archive.extractfile(member)
            assert content is not None, f"{package} has no {member}"
            scripts[name] = content.read().decode()
    (folder / SCRIPTS).write_text(json.dumps(scripts))
    return True


def compare(setting: Setting) -> None:
    """BertViz's own pages and Explore's, each opened in the same build of Chromium."""
    rows, said, has_scripts = [], [], fetch_scripts(setting.folder)
    warm = open_page(setting.browser, first=DRAWN)
    first_paint(warm, setting.app.url)  # the server's own first page is measured elsewhere
    warm.context.close()
    for n_tokens in TOKENS:
        ours = measure_explore(setting, n_tokens)
        rows.append(row(f"Explore, lines, {n_tokens} tokens", ours, ""))
        if not has_scripts:
            continue
        for view in ("head", "model") if n_tokens <= BOTH_VIEWS else ("head",):
            theirs, why = measure_bertviz(setting, view, n_tokens)
            rows.append(row(f"BertViz, {view} view, {n_tokens} tokens", theirs, why))
            said.append(beside(f"{view} view, {n_tokens} tokens", ours, theirs, why))
    print_table("Beside BertViz, same shapes, same browser", COLUMNS, rows)
    print(f"\nWanted: {SOONER} times sooner at 256 tokens; {FEWER} times fewer bytes at 512, or no end.")
    print("\n".join(said))
    if not has_scripts:
        print("BertViz was not measured: its scripts could not be fetched (npm or its registry is not there)")


def row(name: str, measured: Measured, why: str) -> list[str]:
    """A line of the table; `why`: what takes the place of the first measure that is not there."""
    made = [f"{measured['built']:.1f}" if "built" in measured else "–" if not why else ""]
    made += [f"{measured['bytes'] / 1e6:.2f}" if "bytes" in measured else ""]
    made += [f"{measured[each]:.0f}" if each in measured else "" for each in ("first", "median", "p95")]
    if why:
        made[made.index("")] = why
    return [name, *made]


def beside(name: str, ours: Measured, theirs: Measured, why: str) -> str:
    """How many times sooner Explore's picture is there, and how many times fewer bytes it takes."""
    sooner = f"{theirs['first'] / ours['first']:.1f} times sooner" if "first" in theirs else why
    fewer = f"{theirs['bytes'] / ours['bytes']:,.0f} times fewer bytes" if "bytes" in theirs else why
    return f"- {name}: Explore's first picture {sooner}; {fewer}"


def measure_explore(setting: Setting, n_tokens: int) -> Measured:
    query = untrained(n_tokens, n_layers=LAYERS, n_heads=HEADS, d_model=384, view="lines")
    url = f"{setting.app.url}/?{query}"
    page = open_page(setting.browser, first=DRAWN)
    sizes = count_bytes(page)
    first = first_paint(page, url)
    sent = float(sum(sizes))
    page.context.close()
    layers, _ = alone(setting, url, choose_layers)
    return {"bytes": sent, "first": first, "median": layers.median, "p95": layers.p95}


def measure_bertviz(setting: Setting, view: str, n_tokens: int) -> tuple[Measured, str]:
    """What was measured, and why the rest was not: "" if all was."""
    rounds = setting.rounds if n_tokens <= BOTH_VIEWS else FEW_ROUNDS
    command = [sys.executable, "-m", "benchmarks.bertviz_case", view, str(n_tokens), str(rounds)]
    process = subprocess.Popen(
        [*command, str(setting.folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        told, failed = process.communicate(timeout=LIMIT_S)
        why = failed.strip().splitlines()[-1] if process.returncode else ""
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its browser, too
        told, _ = process.communicate()
        why = f"does not finish in {LIMIT_S} s"
    measured: Measured = {}
    for line in told.splitlines():
        measured |= json.loads(line)
    return measured, why
