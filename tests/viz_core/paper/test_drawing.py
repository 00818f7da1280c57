"""Figures on paper: what a reader of the files finds in them, by pdfium, not by Matplotlib."""

import ctypes
import io
import re
from functools import cache
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdf
import pytest
from colorspacious import cspace_convert
from PIL import Image

from attention_lab.viz_core import (
    attention_heatmap,
    attention_lines,
    attention_picture,
    head_grid,
    head_map,
    pattern_window,
    query_key_plane,
    theme,
)
from attention_lab.viz_core.boards import (
    Bars,
    Board,
    Curves,
    Diagram,
    Dots,
    Fact,
    Facts,
    Layers,
    Line,
    Matrix,
    Node,
    Plane,
    Points,
    Sign,
    Table,
    board_figure,
)
from attention_lab.viz_core.boards import panels as kinds
from attention_lab.viz_core.paper import VENUES, draw
from attention_lab.viz_core.paper.drawing import DASHES, MARKERS, on_paper

RNG = np.random.default_rng(0)
WORDS = ["la", "rue", "était", "trop"]
X = np.linspace(0, 6, 30)
MANY_LINES = [Line(np.sin(X), "sine", smooth=True), Line(X, "band", 1, low=X - 1, high=X + 1)]
DOTS = [Dots(x=X, y=X**2, name="squares"), Dots(x=X, y=X, name="steps", colour=2, joined=True, stepped=True)]
BOXES = [Node(id="a", label="norm", column=0, row=0, note="[4]"), Node(id="b", label="add", column=1, row=0)]
REACH = {"links": np.tril(np.ones((4, 4), bool)), "lit": np.ones((3, 4), bool)}
SCORES = RNG.normal(size=(4, 4))
PANELS = {
    "matrix": Matrix(values=SCORES, title="scores", rows=WORDS, columns=WORDS, row_axis="query"),
    "bars": Bars(values=np.array([0.5, 0.3, 0.2, np.nan]), labels=WORDS, title="softmax"),
    "curves": Curves(x=X, lines=MANY_LINES, x_label="x"),
    "points": Points(dots=DOTS, uprights=[(2, "here")]),
    "diagram": Diagram(nodes=BOXES, edges=[("a", "b")]),
    "facts": Facts.of(Fact("loss", np.array(0.25), unit="nats"), Fact("model", "translator")),
    "layers": Layers(tokens=WORDS, title="reach", **REACH),
    "plane": Plane(vectors=np.array([[1.0, 0.2], [0.1, 1]]), names=["q", "k"], colours=["query", "key"]),
    "sign": Sign("softmax →"),
    "table": Table(columns=["part", "share"], rows=[["a", "1%"], ["b", "2%"]], title="parts"),
}
PATTERN = RNG.dirichlet(np.ones(4), (2, 3, 4))
FIGURES = {
    "grid": lambda: head_grid(PATTERN, WORDS),
    "change": lambda: head_grid(PATTERN - PATTERN[::-1], WORDS, change=True),
    "head": lambda: attention_heatmap(PATTERN[0, 0], WORDS, scale="log", title="not on paper"),
    "lines": lambda: attention_lines(PATTERN[0], WORDS),
    "map": lambda: head_map(RNG.normal(size=(3, 2)), ["L0 H0", "L0 H1", "L0 H2"], values=np.arange(3.0)),
    "plane": lambda: query_key_plane(RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2)), WORDS),
    "picture": lambda: attention_picture(RNG.random((8, 8)), PATTERN[0, 0], query=(1, 1)),
    "window": lambda: pattern_window(PATTERN[0, 0], (10, 20), (2, 2)),
}


def of(panel, venue="nature"):
    return board_figure(Board(rows=[[panel]], notice="not on paper"), width=VENUES[venue].pixels)


def opened(figure, venue="nature"):
    files = draw(figure, venue).contents
    return files, pdfium.PdfDocument(files["pdf"])[0]


@cache
def opened_panel(name):
    return opened(of(PANELS[name]))


def fonts(page):
    """The name of each text's font, and whether it is inside."""
    found = {}
    for each in page.get_objects(filter=[pdf.FPDF_PAGEOBJ_TEXT]):
        font = pdf.FPDFTextObj_GetFont(each.raw)
        name = ctypes.create_string_buffer(100)
        pdf.FPDFFont_GetBaseFontName(font, name, 100)
        found[name.value.decode()] = bool(pdf.FPDFFont_GetIsEmbedded(font))
    return found


def text_of(page):
    return page.get_textpage().get_text_range()


@pytest.mark.parametrize("name", [*PANELS, *(f"figure {name}" for name in FIGURES)])
def test_a_reader_finds_letters_and_areas_and_no_image(name):
    files, page = opened(FIGURES[name.split()[1]]()) if " " in name else opened_panel(name)
    assert page.get_width() == pytest.approx(89 / 25.4 * 72, abs=0.5)
    assert not list(page.get_objects(filter=[pdf.FPDF_PAGEOBJ_IMAGE]))
    assert all(fonts(page).values())
    assert b"/FontFile2" in files["pdf"] or not fonts(page)  # TrueType, as Type 42
    assert b"/Type3" not in files["pdf"]
    text = text_of(page)
    assert "not on paper" not in text
    title = getattr(PANELS.get(name), "title", "")
    assert title in text
    svg = files["svg"].decode()
    assert "<image" not in svg
    assert ("@font-face" in svg and "<text" in svg) or not text.strip()
    assert "includegraphics" not in files["pgf"].decode()
    image = Image.open(io.BytesIO(files["png"]))
    assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
    assert image.width == pytest.approx(89 / 25.4 * 300, abs=1)


def test_each_kind_of_panel_is_here():
    modules = {file.stem for file in Path(kinds.__path__[0]).glob("*.py")}
    assert modules - {"__init__"} == set(PANELS)


@pytest.mark.parametrize("name", ["matrix", "curves", "diagram", "layers"])
def test_the_pdf_looks_as_the_png(name):
    files, page = opened_panel(name)
    png = Image.open(io.BytesIO(files["png"])).convert("L")
    raster = page.render(scale=300 / 72).to_pil().convert("L").resize(png.size)
    apart = np.abs(np.asarray(png, float) - np.asarray(raster, float))
    assert apart.mean() < 3
    small = [np.asarray(each.resize((40, 40), Image.Resampling.BOX), float) for each in (png, raster)]
    assert np.abs(small[0] - small[1]).max() < 60  # a thin line may lie in another cell


def test_cells_have_the_colours_of_their_numbers():
    values = np.array([[0.0, 0.5], [1.0, 0.25]])
    _, page = opened(of(Matrix(values=values, scale="weights")))
    table = theme.lookup_table("sequential")
    expected = {tuple(table[round(255 * value)].tolist()) for value in values.ravel()}
    found = set()
    for each in page.get_objects(filter=[pdf.FPDF_PAGEOBJ_PATH]):
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        pdf.FPDFPageObj_GetFillColor(each.raw, red, green, blue, alpha)
        found.add((red.value, green.value, blue.value))
    assert all(min(np.abs(np.subtract(a, b)).max() for b in found) <= 2 for a in expected)


@pytest.mark.parametrize("venue", VENUES)
def test_widths_and_letters_are_the_venues(venue):
    paper = on_paper(of(PANELS["curves"], venue), VENUES[venue])
    assert paper.figure.get_size_inches()[0] == pytest.approx(VENUES[venue].width)
    sizes = [text.get_fontsize() for text in paper.figure.findobj(lambda each: hasattr(each, "get_fontsize"))]
    assert 5 <= paper.letters <= min(sizes) + 1e-6
    assert max(sizes) <= VENUES[venue].largest + 1e-6


def test_what_is_wider_than_the_column_is_drawn_smaller_and_says_so():
    boxes = [Node(id=str(at), label=f"box {at}", column=at, row=0) for at in range(16)]
    paper = on_paper(of(Diagram(nodes=boxes, edges=[])), VENUES["nature"])
    assert paper.letters < 5
    assert paper.figure.get_size_inches()[0] == pytest.approx(89 / 25.4)


def test_too_many_cells_are_refused():
    weights = np.random.default_rng(0).random((400, 400))
    with pytest.raises(ValueError, match="over 150,000 cells, too many for a page; show a part of it"):
        draw(pattern_window(weights, (0, 0), (1, 1)))


def test_an_unknown_venue_is_refused():
    with pytest.raises(ValueError, match='venue="science" is unknown; choose one of "nature, nature-wide'):
        draw(of(PANELS["bars"]), "science")


def test_grey_print_keeps_order_and_sign():
    table = theme.lookup_table("sequential").astype(float) / 255
    grey = cspace_convert(table, "sRGB1", "CIELab")[:, 0]
    assert (np.diff(grey) <= 0.05).all()  # the darker, the more
    # Below zero and above are the same grey in part: a minus stands in every cell below zero.
    values = np.array([[-1.0, 1.0], [0.5, -0.5]])
    paper = on_paper(of(Matrix(values=values, picture=True)), VENUES["nature"])
    strokes = paper.figure.findobj(lambda each: hasattr(each, "get_xdata"))
    assert sum(np.isnan(line.get_xdata()).sum() for line in strokes if len(line.get_xdata()) % 3 == 0) == 2


def test_lines_of_a_legend_differ_without_colour():
    lines = [Line(X + at, f"head {at}", at) for at in range(6)]
    paper = on_paper(of(Curves(x=X, lines=lines)), VENUES["nature"])
    styles = {
        str(line._dash_pattern) for line in paper.figure.findobj(lambda each: hasattr(each, "_dash_pattern"))
    }
    assert len(styles) >= len(DASHES) == 6
    assert len(set(MARKERS)) == len(MARKERS)


def test_cells_that_are_alike_are_one_rectangle():
    figure = head_grid(np.zeros((2, 8, 8)) + np.eye(8), [str(at) for at in range(8)])
    assert on_paper(figure, VENUES["nature"]).cells < 2 * (3 * 8)


def test_names_of_many_heads_are_short():
    pattern = RNG.dirichlet(np.ones(4), (2, 12, 4))
    _, page = opened(head_grid(pattern, WORDS))
    text = text_of(page)
    assert re.search(r"L1 H11|1\.11", text) and "layer" not in text


def test_signs_of_latex_are_written_as_such():
    words = ["$x$", "a&b", "50%", "#1", "{z}", "a_b", "~", "^", "\\n", "the₂"]
    pgf = draw(of(Bars(values=np.ones(10), labels=words)), "nature-wide").contents["pgf"].decode()
    for written in (
        r"\$x\$",
        r"a\&b",
        r"\#1",
        r"\{z\}",
        r"a\_b",
        r"\textbackslash{}n",
        r"the\textsubscript{2}",
    ):
        assert written in pgf
    assert "₂" not in pgf
