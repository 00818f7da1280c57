"""The notebooks in examples/ run from top to bottom, and are kept without outputs."""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short_and_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert len(cells) <= 8
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("anywidget", "ipykernel", "nbformat"):
        pytest.importorskip(package, reason=f"needs {package}: pip install anywidget ipykernel nbclient")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient: pip install nbclient")
    import nbformat

    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output.data for output in outputs if "data" in output]
    assert any("application/vnd.jupyter.widget-view+json" in each for each in shown)
    pictures = [each["text/html"] for each in shown if "<figure" in each.get("text/html", "")]
    assert pictures and all("data:image/png" in each for each in pictures)
    assert not any(" object at 0x" in each.get("text/plain", "") for each in shown)
    if path.stem.startswith("3"):  # as it was when the training ended
        assert any("Step 100:" in each for each in pictures)
