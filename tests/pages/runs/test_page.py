"""Runs as a page: what it says where there is nothing to list."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

PAGE = Path("pages/runs/page.py")


def test_a_file_in_the_place_of_the_folder_of_runs_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "runs"
    file.write_text("")
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(file))
    monkeypatch.setattr(
        "attention_lab.pages.shared.training.runs.every", lambda: []
    )  # not even those that ship
    shown = AppTest.from_file(str(PAGE.resolve()), default_timeout=60).run()
    assert not shown.exception
    said = " ".join(str(each.value) for each in (*shown.text, *shown.markdown, *shown.get("html")))
    assert f"'{file}' is a file, but runs need a folder; let ATTENTION_LAB_RUNS name" in said
