"""A drawing as files: PDF and SVG whose fonts are inside, PGF for LaTeX, and PNG."""

import base64
import io
import re
import unicodedata
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any
from warnings import catch_warnings

import matplotlib as mpl
import numpy as np
import plotly.graph_objects as go
from fontTools import subset
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.figure import Figure
from matplotlib.text import Text

from .drawing import FAMILY, LEAST, MANY, STYLE, Paper, on_paper
from .venues import MM, PIXELS, POINTS, Venue

DPI, SCREEN_DPI = 300, 96
TALLEST = 247
"""Millimetres of a page that may be printed."""
_STILL = 40_000


_drawing = Lock()  # Matplotlib's settings are the process's


def written(figure: go.Figure, venue: Venue) -> tuple[dict[str, bytes], tuple[float, float], float, str]:
    """The figure's files by their endings, its width and height in mm, points of its smallest letters, and
    the signs that no font has. Raises ValueError, with a sentence, for what a journal would not print.
    """
    with _drawing, mpl.rc_context(STYLE), catch_warnings(action="ignore"):  # of each sign, each time
        paper = _printable(figure, venue)
        writers = {kind: write for kind, write in _WRITERS.items() if kind != "pgf" or paper.cells <= MANY}
        contents = {kind: write(paper.figure) for kind, write in writers.items()}
        lacking = "".join(sorted(_letters(paper.figure, "normal")[1] | _letters(paper.figure, "bold")[1]))
    width, height = (float(each) * MM for each in paper.figure.get_size_inches())
    return contents, (width, height), paper.letters, lacking


def check(figure: go.Figure, venue: Venue) -> None:
    """Raises ValueError, with a sentence, for what a journal would not print."""
    with _drawing, mpl.rc_context(STYLE), catch_warnings(action="ignore"):
        _printable(figure, venue)


def _printable(figure: go.Figure, venue: Venue) -> Paper:
    paper = on_paper(figure, venue)
    height = paper.figure.get_size_inches()[1] * MM
    if height > TALLEST + 0.5:
        raise ValueError(f"It would be {height:.0f} mm high; a page has {TALLEST} mm.")
    if paper.letters < LEAST - 0.05:
        raise ValueError(
            f"Its smallest letters would have {paper.letters:.1f} points; print needs {LEAST} or more."
        )
    return paper


def still(figure: go.Figure, pixels: int) -> bytes:
    """A PNG so many pixels wide, for where nothing but a picture can be shown.

    Raises ValueError where it has more cells than are drawn in a second.
    """
    cells = sum(np.size(trace.z) for trace in figure.data if trace.type == "heatmap")
    if cells > _STILL:
        raise ValueError(f"The figure has {cells:,} cells; at most {_STILL:,} are drawn as a still picture.")
    inches, point = pixels / SCREEN_DPI, POINTS / SCREEN_DPI
    screen = Venue("a screen", inches, PIXELS * point, (PIXELS + 2) * point)
    with _drawing, mpl.rc_context(STYLE), catch_warnings(action="ignore"):
        return _saved(on_paper(figure, screen).figure, "png", dpi=SCREEN_DPI)


def _letters(sheet: Figure, weight: str) -> tuple[dict[tuple[str, str], str], set[str]]:
    """The letters that each font gives, by its family and file, and those that none has."""
    texts = [each.get_text() for each in sheet.findobj(Text) if each.get_fontweight() == weight]
    letters, found = set("".join(texts)), dict[tuple[str, str], str]()
    for family in FAMILY if letters else ():
        path = font_manager.findfont(font_manager.FontProperties(family=family, weight=weight))
        known = letters & {chr(code) for code in TTFont(path, lazy=True).getBestCmap()}
        letters -= known
        found[family, str(path)] = "".join(sorted(known))
    return found, letters


def _saved(sheet: Figure, kind: str, **how: Any) -> bytes:
    file = io.BytesIO()
    sheet.savefig(file, format=kind, **how)
    return file.getvalue()


def _svg(sheet: Figure) -> bytes:
    """Text stays text; the letters that it needs are inside, so that it looks alike everywhere."""
    svg = _saved(sheet, "svg", metadata={"Date": None}).decode()
    faces = [
        _face(family, weight, path, letters)
        for weight in ("normal", "bold")
        for (family, path), letters in _letters(sheet, weight)[0].items()
        if letters
    ]
    style = f'<style type="text/css">{"".join(faces)}</style>'
    return re.sub(r"(<defs>)", lambda found: f"{found[1]}\n  {style}", svg, count=1).encode()


def _face(family: str, weight: str, path: str, letters: str) -> str:
    """A font with these letters alone."""
    font, options = TTFont(path, recalcTimestamp=False), subset.Options(layout_features=[])
    options.notdef_outline, options.drop_tables = True, [*options.drop_tables, "FFTM"]
    cutter = subset.Subsetter(options)
    cutter.populate(text=letters)
    cutter.subset(font)
    font.flavor = "woff"
    file = io.BytesIO()
    font.save(file)
    data = base64.b64encode(file.getvalue()).decode()
    return (
        f'@font-face {{font-family: "{family}"; font-weight: {weight}; '
        f'src: url("data:font/woff;base64,{data}") format("woff")}} '
    )


class _Pgf(RendererPgf):
    """Matplotlib's own writer of PGF, which measures text by Agg: no LaTeX is needed where it is written."""

    def __init__(self, figure: Figure, file: io.StringIO) -> None:
        super().__init__(figure, file)
        self._agg = RendererAgg(1, 1, figure.dpi)

    def draw_text(self, gc: Any, x: Any, y: Any, s: str, *rest: Any, **how: Any) -> None:
        super().draw_text(gc, x, y, latex(s), *rest, **how)

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> Any:
        return self._agg.get_text_width_height_descent(s, prop, ismath)


_MATHS = {
    "→": "rightarrow", "←": "leftarrow", "↑": "uparrow", "↓": "downarrow", "×": "times", "÷": "div",
    "±": "pm", "−": "relax-", "≈": "approx", "≠": "neq", "≤": "le", "≥": "ge", "∞": "infty", "√": "surd",
    "·": "cdot", "‖": "Vert", "∥": "parallel", "∑": "sum", "∅": "emptyset", "⏎": "hookleftarrow",
    "∂": "partial", "∇": "nabla", "∈": "in", "′": "prime", "⊙": "odot", "⊕": "oplus",
    "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi",
    "Ω": "Omega", "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau",
    "φ": "varphi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_SIGNS = (
    {sign: rf"\ensuremath{{\{name}}}" for sign, name in _MATHS.items()}
    | {sign: rf"\textsubscript{{{at}}}" for at, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")}
    | {sign: rf"\textsuperscript{{{at}}}" for at, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
    | {sign: rf"\{sign}" for sign in "$&#_{}%"}
    | {"⁻": r"\textsuperscript{-}", "ᵀ": r"\textsuperscript{T}", "␣": r"\textvisiblespace{}"}
    | {
        "…": r"\ldots{}",
        "§": r"\S{}",
        "°": r"\textdegree{}",
        "\N{NO-BREAK SPACE}": "~",
        "^": r"\textasciicircum{}",
    }
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "\u200b": "", "\u2060": ""}
)
_OF_T1 = re.compile("[\n -~¡£¿À-ÖØ-öø-ÿĂ-ćČ-ďĐđĘ-ěĞğİıĹĺĽľŁ-ńŇňŐ-ŕŘ-śŞ-ťŮ-űŸ-ž–—‘’‚“”„‰‹›«»]")


def latex(text: str) -> str:
    """Text as pdfLaTeX reads it, with T1 letters; one that it does not have is named, such as [U+732B]."""
    return "".join(
        _SIGNS.get(each) or (each if _OF_T1.match(each) else "" if each in _SIGNS else f"[U+{ord(each):04X}]")
        for each in unicodedata.normalize("NFC", text)
    )


_PGF_HEAD = r"""%% In the preamble: \usepackage{pgf}; where the figure is to stand: \input{figure.pgf}
%% Its letters are those of the text around it, which is set with \usepackage[T1]{fontenc}.
\begingroup\makeatletter\begin{pgfpicture}
\pgfpathrectangle{\pgfpointorigin}{\pgfqpoint{%(width)fin}{%(height)fin}}
\pgfusepath{use as bounding box, clip}
"""


def _pgf(sheet: Figure) -> bytes:
    width, height = sheet.get_size_inches()
    file = io.StringIO()
    file.write(_PGF_HEAD % {"width": width, "height": height})
    dpi, sheet.dpi = sheet.dpi, POINTS
    sheet.draw(MixedModeRenderer(sheet, width, height, POINTS, _Pgf(sheet, file)))  # type: ignore[arg-type]
    sheet.dpi = dpi
    file.write("\\end{pgfpicture}\\makeatother\\endgroup\n")
    return file.getvalue().encode()


_WRITERS: dict[str, Callable[[Figure], bytes]] = {
    "pdf": partial(_saved, kind="pdf", metadata={"CreationDate": None}),
    "svg": _svg,
    "pgf": _pgf,
    "png": partial(_saved, kind="png", dpi=DPI),
}
