"""What `make wheel` finds wrong with a package."""

import zipfile
from pathlib import Path

import pytest

from tools import wheel


def test_a_wheel_without_a_file_or_a_licence_is_refused_and_so_is_a_stray_file(tmp_path: Path) -> None:
    made = tmp_path / "made.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for name in ("attention_lab/app.py", "attention_lab/stray.txt", "made.dist-info/licenses/LICENSE"):
            archive.writestr(name, "")
    told = wheel.problems(made, {"attention_lab/app.py", "attention_lab/models/limits.toml"})
    assert told[:3] == [
        "it lacks attention_lab/models/limits.toml",
        "it has attention_lab/stray.txt, which git does not keep",
        "it lacks the licence katex.js.LICENSE",
    ]


def test_a_wheel_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "made.whl"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("attention_lab/app.py", "x" * 2_000_000)
    monkeypatch.setattr(wheel, "MOST_BYTES", 1_000_000)
    told = wheel.problems(made, {"attention_lab/app.py"})
    assert told[0] == "it has 2.0 MB; at most 1 are allowed"


def test_the_package_has_pages_models_words_and_scripts() -> None:
    needed = {"app.py", "pages/shared/languages/de.po", "models/limits.toml", ".streamlit/config.toml"}
    needed |= {"models/zoo/translator/translator.safetensors", "viz_core/viewer/vendored/plotly.js"}
    assert {f"attention_lab/{name}" for name in needed} <= wheel.files_of_the_app()
