"""No file of the project has more than 300 lines, and no function more than 50: such a one is two."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("pages", "viz_core", "models", "tools", "benchmarks", "tests")
MOST_OF_FILE = 300
MOST_OF_FUNCTION = 50


def files(folder: str) -> list[Path]:
    return [file for kind in ("py", "js", "css") for file in sorted((ROOT / folder).rglob(f"*.{kind}"))]


def long_parts(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name
    if (lines := text.count("\n")) > MOST_OF_FILE:
        yield f"{name} has {lines} lines"
    for node in ast.walk(ast.parse(text)) if file.suffix == ".py" else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MOST_OF_FUNCTION:
                yield f"{node.name} in {name} has {lines} lines"


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_and_functions_are_short(folder: str) -> None:
    assert [part for file in files(folder) for part in long_parts(file)] == []


def test_a_long_file_and_a_long_function_are_found(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("def f():\n" + "    pass\n" * 50 + "\n" * 250)
    assert list(long_parts(file)) == ["long.py has 301 lines", "f in long.py has 51 lines"]
    file.write_text("def f():\n" + "    pass\n" * 49 + "\n" * 250)
    assert list(long_parts(file)) == []
