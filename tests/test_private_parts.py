"""The page of private parts says what the code does, and names all that it takes from other packages."""

import re
from pathlib import Path

import pytest

DOCUMENTED = {"_python_dispatch"}  # by PyTorch's "Extending PyTorch", as the page says
ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "private-parts.md").read_text().splitlines()
    if re.match(r"\| \w[^|]*: ", line)
]
FOLDERS = ("pages", "viz_core", "models", "tools", "benchmarks")
PRIVATE = re.compile(
    r"\b(?:torch|st|streamlit|optuna|transformers|plotly|sacrebleu|metric|model|study|trial|storage)"
    r"\.(_[a-z]\w*)|^from (?:streamlit|torch|optuna|transformers|plotly|sacrebleu)\S*\.(_[a-z]\w*) import"
    r"|^from (?:streamlit|torch|optuna|transformers|plotly|sacrebleu)\S* import [^#\n]*\b(_[a-z]\w*)",
    re.MULTILINE,
)


def test_the_table_does_not_grow() -> None:
    """Before another part is added, one goes."""
    assert len(ROWS) <= 8


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_names_what_is_there(row: list[str]) -> None:
    what, where, _, test, _ = row
    code = (ROOT / where.strip("`")).read_text()
    assert all(name in code for name in re.findall(r"`(\w+)`", what))
    assert (ROOT / test.strip("`")).is_file()


def test_no_other_private_part_is_used() -> None:
    listed = DOCUMENTED | {name for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            for names in PRIVATE.findall(file.read_text()):
                name = "".join(names)
                assert name in listed, f"{file}: {name} is in no row of docs/private-parts.md"
