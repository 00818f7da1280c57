"""Two threads import a package and a part of it at once: without our lock, one gets a half-made module."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.background_servers import ROOT

TWO_THREADS = """
import sys, threading, time
sys.path[:0] = [{root!r}, {folder!r}]
if {waits}:
    from pages.shared.imports import one_at_a_time
    one_at_a_time()
    one_at_a_time()
faults = []
def load(code, after):
    time.sleep(after)
    try:
        exec(code)
    except Exception as error:
        faults.append(f"{{type(error).__name__}}: {{error}}")
threads = [
    threading.Thread(target=load, args=("import package", 0)),
    threading.Thread(target=load, args=("from package.part import x", 0.3)),
]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(faults)
"""


@pytest.mark.parametrize("waits", [False, True])
def test_a_package_and_its_part_are_imported_by_two_threads(tmp_path: Path, waits: bool) -> None:
    package = tmp_path / "package"
    package.mkdir()
    package.joinpath("__init__.py").write_text("import time\ntime.sleep(1)\nfrom package.part import x\n")
    package.joinpath("part.py").write_text(
        "from package import __name__\nimport time\ntime.sleep(0.2)\nx = 1\n"
    )
    code = TWO_THREADS.format(root=str(ROOT), folder=str(tmp_path), waits=waits)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stderr
    if waits:
        assert said.stdout == "[]\n"
    else:
        assert "cannot import name 'x' from partially initialized module 'package.part'" in said.stdout
