"""`pip install .` gives one package that works anywhere, with the shipped models inside it."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tools.background_servers import ROOT, free_port, serving

PARTS = ("attention_lab", "models", "pages", "viz_core", ".streamlit")
FILES = ("app.py", "pyproject.toml", "README.md")
USES = """
import importlib.util, sys
sys.modules["streamlit"] = None  # as without the extra `app`
from attention_lab import explore, load_model
trace = load_model("translator").trace("the animal did not cross the street because it was too tired")
figure = explore("translator")
print(trace["encoder.1.self.pattern"].argmax(-1)[2, 9].item(), len(figure.message) > 100_000)
print([name for name in ("models", "pages", "viz_core") if importlib.util.find_spec(name)])
"""


def test_what_is_installed_reads_shows_and_serves_from_any_folder(tmp_path: Path) -> None:
    source, installed = tmp_path / "source", tmp_path / "installed"
    source.mkdir()
    for name in PARTS:  # pip writes beside what it builds
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "pip", "wheel", str(source), "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--quiet", "--wheel-dir", str(tmp_path)], check=True)
    (wheel,) = tmp_path.glob("attention_lab-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    environment = os.environ | {"PYTHONPATH": str(installed), "HOME": str(tmp_path)}
    used = subprocess.run(
        [sys.executable, "-c", USES], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert used.stdout.splitlines() == ["2 True", "[]"], used.stderr
    port = free_port()
    command = [sys.executable, "-m", "attention_lab.serve", "--port", str(port)]
    paths = {"PYTHONPATH": str(installed), "HOME": str(tmp_path)}
    with serving(command, port, tmp_path, tmp_path / "log.txt", **paths):
        pass  # it has answered
