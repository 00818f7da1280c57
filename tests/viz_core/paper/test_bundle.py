"""The zip for a paper: it opens, its Python runs, its papers are those that are cited."""

import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from attention_lab.viz_core import head_grid
from attention_lab.viz_core.boards import Bars, Board, board_figure
from attention_lab.viz_core.paper import Bundle, cited
from attention_lab.viz_core.paper.bundle import references

ROOT = Path(__file__).parents[3]
BOARD = Board(
    rows=[[Bars(values=np.array([0.7, 0.3]), labels=["la", "rue"], title="softmax")]], notice="**0.7** of it"
)
BUNDLE = Bundle(
    title="A softmax",
    figure=lambda width: board_figure(BOARD, width=width),
    code='"""Rotary positions (Su et al. 2021)."""\nvalues = [0.7, 0.3]',
    said=BOARD.notice,
    facts={"model": "translator", "text": "la rue", "seed": 0, "edits": ""},
    sources=("as in Press et al. 2022, section 3",),
    numbers={"numbers.csv": lambda: "value\n0.7\n"},
)


def unpacked(bundle, venue="nature"):
    with zipfile.ZipFile(io.BytesIO(bundle.zipped(venue))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def files():
    """Those of `BUNDLE`."""
    return unpacked(BUNDLE)


def test_it_holds_all_that_an_author_needs(files):
    kinds = {f"figure.{ending}" for ending in ("pdf", "svg", "png", "pgf", "json", "py")}
    texts = {"compute.py", "numbers.csv", "caption.txt", "caption.tex", "references.bib"}
    assert files.keys() == kinds | texts
    caption = files["caption.txt"].decode()
    assert caption.startswith(
        "A softmax. 0.7 of it. model: translator; text: la rue; seed: 0. Made with Attention Lab"
    )
    assert "hash " in caption
    assert "89 x " in caption
    papers = files["references.bib"].decode()
    assert {each for each in ("su2021", "press2022", "vaswani2017") if f"{{{each}," in papers} == {
        "su2021",
        "press2022",
        "vaswani2017",
    }
    assert papers.count("@") == 3


def test_the_python_in_it_draws_it_again(files, tmp_path):
    for name in ("figure.json", "figure.py"):
        (tmp_path / name).write_bytes(files[name])
    subprocess.run(
        [sys.executable, tmp_path / "figure.py"], cwd=ROOT, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    for ending in ("svg", "png", "pgf"):
        assert (tmp_path / f"figure.{ending}").read_bytes() == files[f"figure.{ending}"]


def test_the_same_figure_has_the_same_hash(files):
    assert unpacked(BUNDLE)["caption.txt"] == files["caption.txt"]


def test_what_cannot_be_drawn_is_refused_with_what_to_do_instead():
    weights = np.random.default_rng(0).random((8, 12, 40, 40))
    tokens = [str(at) for at in range(40)]
    large = Bundle(title="All", figure=lambda width: head_grid(weights, tokens), code="")
    assert re.search("over 150,000 cells.*Instead, leave out panels.$", large.refusal("nature-wide"))
    with pytest.raises(ValueError, match="over 150,000 cells"):
        large.zipped("nature-wide")


def test_a_tall_figure_is_made_less_high_and_refused_where_that_is_not_enough():
    def tall(count):
        board = Board(rows=[[*BOARD.rows[0]] * count], notice="")
        return Bundle(title="Tall", figure=lambda width: board_figure(board, width=width), code="")

    assert not tall(6).refusal("nature")
    assert re.fullmatch(
        r"Nature, one column, 89 mm: It would be \d+ mm high; a page has 247 mm. Instead, choose Nature, two "
        "columns, 183 mm.",
        tall(18).refusal("nature"),
    )


def test_signs_that_no_font_has_are_told(files):
    board = Board(rows=[[Bars(values=np.array([1.0]), labels=["猫"])]], notice="")
    strange = Bundle(title="Cat", figure=lambda width: board_figure(board, width=width), code="")
    assert "No font here has 猫: install Arial" in unpacked(strange)["caption.txt"].decode()
    assert "No font" not in files["caption.txt"].decode()


def test_every_paper_that_is_cited_has_its_entry_and_every_entry_is_cited():
    used, lacking = set(), {}
    for folder in ("pages", "models", "viz_core"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".py", ".toml"):
                entries, unknown = cited(file.read_text(encoding="utf-8"))
                used |= set(entries)
                lacking |= dict.fromkeys(unknown, file.name)
    lacking.pop("English-French 2019")  # of Tatoeba's pairs
    assert not lacking
    assert used == set(references().values())


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Abnar & Zuidema (2020)", "abnar2020"),
        ("Mood, Graybill & Boes 1974, VI.2", "mood1974"),
        ("(Nanda 2023; Nanda et al. 2023)", "nanda2023a"),
        ("(van Rijsbergen 1979)", "rijsbergen1979"),
        ("Wu et al.\n    # 2024", "wu2024"),
    ],
)
def test_a_citation_is_known_however_it_is_written(text, key):
    entries, lacking = cited(text)
    assert not lacking
    assert f"{{{key}," in entries[0]


def test_matplotlib_is_not_imported_before_a_figure_is_drawn():
    code = "import sys, viz_core.paper; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
