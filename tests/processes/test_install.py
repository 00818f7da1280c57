"""A copy of the repository without links runs as it is, and gives one package that works anywhere."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tools.background_servers import ROOT, free_port, serving

USES = """
import sys
sys.modules["streamlit"] = None  # as without the extra `app`
import attention_lab
from attention_lab import explore, load_model
trace = load_model("translator").trace("the animal did not cross the street because it was too tired")
figure = explore("translator")
print(trace["encoder.1.self.pattern"].argmax(-1)[2, 9].item(), len(figure.message) > 100_000)
print(*attention_lab.__path__, [name for name in ("models", "pages", "viz_core") if name in sys.modules])
"""
SAMPLE = (
    "tests/attention_lab/test_notebook.py::test_a_picture_with_too_many_cells_says_so_above_the_open_head",
    "tests/models/test_files.py",
    "tests/pages/shared/test_menu.py",
    "tests/viz_core/viewer/test_program.py",
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that git keeps, as they are now: a zip download, or a clone on Windows, has no more."""
    folder = tmp_path_factory.mktemp("copied")
    kept = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, kept.stdout.split("\0")):
        if os.path.lexists(ROOT / name):
            assert not (ROOT / name).is_symlink(), f"{name} is a link, which not every system has"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, copied: Path) -> Path:
    """Of an environment with the package that the copy builds, and with what the package needs."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([sys.executable, "-m", "tools.wheel", folder], cwd=copied, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    (wheel,) = folder.glob("attention_lab-*.whl")
    install = ["--python", python, "install", wheel, "--no-deps", "--no-index", "--no-compile", "--quiet"]
    subprocess.run([*pip, *install], check=True)
    (packages,) = (folder / "venv").glob("lib/*/site-packages")
    (packages / "needs.pth").write_text(sysconfig.get_path("purelib"))
    return python


def test_a_copy_runs_and_passes_its_tests(copied: Path) -> None:
    (copied / ".venv").symlink_to(sys.prefix)  # stands for what `make install` would make
    port = free_port()
    make = ["make", "run", "--old-file=install", f"PORT={port}"]
    with serving(make, port, copied, copied / "log.txt"):
        pass  # it has answered
    test = [sys.executable, "-m", "pytest", *SAMPLE, "-p", "no:cacheprovider"]
    tested = subprocess.run(test, cwd=copied, capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout


def test_a_package_reads_shows_and_serves_from_any_folder(python: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    used = subprocess.run(
        [python, "-c", USES], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    path = next((python.parents[1]).glob("lib/*/site-packages/attention_lab"))
    assert used.stdout.splitlines() == ["2 True", f"{path} []"]
    port, log = free_port(), tmp_path / "log.txt"
    command = [str(python.with_name("attention-lab")), "--port", str(port)]
    with serving(command, port, tmp_path, log, PYTHONPATH="", HOME=str(tmp_path)):
        pass  # it has answered
