"""A Plotly figure drawn by Matplotlib, as large as it is printed: the one description of a picture serves
page, take-away and paper. Nothing in it is an image: cells are rectangles, and text is text.

It knows what the figures of viz_core are made of: heat maps, lines, points, areas, bars, tables and small
pictures; axes, annotations and shapes. All places are worked out in Plotly's pixels and scaled once.
"""

import html
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import plotly.graph_objects as go
from matplotlib import colors, font_manager, ticker
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from .. import theme
from ..labels import skipping, tick
from .venues import PIXELS, POINTS, Venue

Spec = dict[str, Any]  # a part of a figure, as Plotly takes it
Box = Sequence[float]  # left, top, right and bottom in pixels

_KNOWN: list[str] = font_manager.get_font_names()
_WANTED = (
    "Arial",
    "Liberation Sans",
    "Arimo",
    "DejaVu Sans",
    *(f"Noto Sans {each}" for each in ("SC", "JP", "KR")),
)
FAMILY: list[str] = [each for each in _WANTED if each in _KNOWN]
"""DejaVu Sans comes with Matplotlib; each is asked for the signs that those before it lack."""
BROAD = 0.93 if FAMILY[0] == "DejaVu Sans" else 1.0
"""DejaVu Sans at this size is as wide and as legible as Arial."""
LEAST = 5
"""Points of the smallest letters that journals print."""
STYLE: Any = {
    "font.family": FAMILY, "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "paper",
    "text.usetex": False, "lines.scale_dashes": False, "path.simplify": False, "pgf.rcfonts": False,
}  # fmt: skip
MANY, MOST = 20_000, 150_000
"""Rectangles: so many are drawn in fewer colours, and not for LaTeX; more are not drawn, since a reader's
program takes seconds to open them.
"""
DASHES = ((), (4, 1.6), (1, 1.2), (5, 1.2, 1, 1.2), (2.2, 1), (7, 1.5, 1, 1.5, 1, 1.5))
MARKERS = "osD^vPX"
"""How lines and points of a legend differ where their colours are printed grey."""
_DASHES = {"dash": (4, 2), "dot": (1, 1.5), "7px,5px": (4, 2), "6px,4px": (4, 2)}
_SYMBOLS = {"circle": "o", "diamond": "D"}
_GREYS = [[0, "#000000"], [1, "#ffffff"]]
_ANCHORS = {"left": 0.0, "center": 0.5, "right": 1.0, "top": 0.0, "middle": 0.5, "bottom": 1.0}
_TAG = re.compile(r"(</?\w[^<>]*>)")
_LAYER_HEAD = re.compile(r"layer (\d+) · head (\d+)")


@dataclass(frozen=True)
class Paper:
    """A drawing, how many rectangles it has, and the size of its smallest letters in points."""

    figure: Figure
    cells: int
    letters: float


def on_paper(figure: go.Figure, venue: Venue) -> Paper:
    """The figure in the venue's width, without its title, which is the caption's.

    What is wider, such as a long row of boxes, is drawn smaller as a whole. Raises ValueError where it has
    more cells than a page holds.
    """
    with mpl.rc_context(STYLE):
        laid, fits = _laid_out(figure, venue.pixels), venue.small / PIXELS
        while True:
            scale, sheet = fits, _Sheet(*laid, fits, venue)
            left, top, right, bottom = sheet.extent()
            fits = venue.width * POINTS / (right - left + 4)
            if fits >= 0.999 * scale:
                break
        width = venue.width * POINTS / scale
        sheet.crop(left - (width - (right - left)) / 2, top - 2, width, bottom - top + 4)
        sizes = [float(text.get_fontsize()) for text in sheet.figure.findobj(Text) if text.get_text()]
        return Paper(sheet.figure, sheet.cells, min(sizes, default=math.inf))


def _laid_out(figure: go.Figure, pixels: int) -> tuple[list[Spec], Spec]:
    """The traces and the layout. What is wider than the paper gets a smaller body, since margins hold
    letters; a board was laid out for it before, and has none.
    """
    layout, data = figure.layout.to_plotly_json(), [trace.to_plotly_json() for trace in figure.data]
    margin = {**theme.template().layout.margin.to_plotly_json(), **layout.get("margin", {})}
    if "width" not in layout or "margin" not in layout:  # Plotly would measure what stands beside the axes
        bar = any("colorbar" in trace.get("marker", trace) for trace in data)
        margin = {"l": 66, "b": 56, "r": 90 if bar else 14, "t": 30}
    width, height = layout.get("width", 700), layout.get("height", 560)
    sides, ends = margin["l"] + margin["r"], margin["t"] + margin["b"]
    share = min(1.0, max(0.2, (pixels - sides) / (width - sides))) if sides else 1.0
    if share < 1 and any(trace["type"] in ("heatmap", "image") for trace in data):
        named = any(_LAYER_HEAD.fullmatch(note.get("text", "")) for note in layout.get("annotations", ()))
        height = ends + (height - ends) * max(share, 0.6 * named)  # cells stay square, if names have room
    return data, {**layout, "width": sides + (width - sides) * share, "height": height, "margin": margin}


@dataclass
class _Axis:
    """An axis from one pixel to another; names: the places of what it names instead of measuring."""

    spec: Spec
    start: float
    end: float
    names: dict[str, int] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0

    @property
    def is_log(self) -> bool:
        return self.spec.get("type") == "log"

    def numbers(self, values: Any) -> np.ndarray:
        """Values on the axis's own scale: the places of names, powers of ten."""
        if self.names:
            places = [self.names.get(each, np.nan) if isinstance(each, str) else each for each in values]
            return np.array(places, float)
        numbers = np.array([np.nan if each is None else each for each in np.ravel(values)], float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log10(numbers) if self.is_log else numbers

    def at(self, numbers: Any) -> Any:
        """Pixels of numbers on the axis's own scale."""
        share = (np.asarray(numbers, float) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def edges(self, trace: Spec, letter: str) -> np.ndarray:
        """Where the cells of a heat map begin and end, on the axis's own scale."""
        count = np.asarray(trace["z"]).shape["yx".index(letter)]
        if trace.get(letter) is None or self.names:
            start, step = float(trace.get(f"{letter}0", 0)), float(trace.get(f"d{letter}", 1))
            return np.asarray(start + (np.arange(count + 1) - 0.5) * step)
        middles = self.numbers(trace[letter])
        half = np.diff(middles).mean() / 2 if count > 1 else 0.5
        return np.append(middles - half, middles[-1] + half)

    def fit(self, traces: list[Spec], letter: str) -> None:
        """Takes the range that it is given, or one that holds all traces."""
        if self.spec.get("range") is not None:
            self.low, self.high = map(float, self.spec["range"])
            return
        grids = [self.edges(trace, letter) for trace in traces if "z" in trace]
        lists = [self.numbers(trace[letter]) for trace in traces if trace.get(letter) is not None]
        values = np.concatenate(grids or lists)
        values = values[np.isfinite(values)]
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        room = 0.0 if grids else 0.06 * (high - low) or 1.0
        ends = low - room, high + room
        self.low, self.high = ends[::-1] if self.spec.get("autorange") == "reversed" else ends

    def ticks(self) -> list[tuple[float, str]]:
        """Pixels and words of all ticks inside of it."""
        spec, (low, high) = self.spec, sorted((self.low, self.high))
        texts = spec.get("ticktext")
        if spec.get("tickvals") is not None:
            places = self.numbers(spec["tickvals"])
        elif self.names:
            places, texts = np.arange(len(self.names), dtype=float), list(self.names)
        elif self.is_log:
            places = np.arange(math.ceil(low), math.floor(high) + 1, dtype=float)
            places = places if len(places) > 1 else np.array([low, high])
        elif spec.get("dtick"):
            places = np.arange(math.ceil(low), high + 1e-9, spec["dtick"])
        else:
            bins = max(2, min(7, int(abs(self.end - self.start) / 55)))
            places = np.asarray(ticker.MaxNLocator(bins, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
        if texts is None:
            texts = [tick(10**each if self.is_log else each) for each in places]
        near = 1e-6 * (high - low)
        pairs = zip(places, texts, strict=True)
        return [(float(self.at(at)), text) for at, text in pairs if low - near <= at <= high + near]


@dataclass
class _Sheet:
    """A page under the pen. All places are pixels from the upper left corner."""

    data: list[Spec]
    layout: Spec
    scale: float  # points in a pixel
    venue: Venue
    order: int = 0
    cells: int = 0

    def __post_init__(self) -> None:
        margin, self.width, self.height = (self.layout[name] for name in ("margin", "width", "height"))
        self.box = (margin["l"], margin["t"], self.width - margin["r"], self.height - margin["b"])
        self.inch = self.scale / POINTS  # of a pixel
        self.figure = Figure((self.width * self.inch, self.height * self.inch), facecolor="white")
        FigureCanvasAgg(self.figure)
        self.place = Affine2D()
        self.to_page = self.place + self.figure.dpi_scale_trans
        self.ink, self.muted, self.pale = (
            _colour(theme.palette()[name]) for name in ("ink", "muted", "grid")
        )
        self.taken: list[Box] = []  # where names beside points lie
        # What each legend names, and the style of its line.
        self.listed: dict[str, list[tuple[str, Spec]]] = {}
        self.crop(0, 0, self.width, self.height)
        self._axes()
        self._draw()

    def crop(self, left: float, top: float, width: float, height: float) -> None:
        """The page is this part of it."""
        self.figure.set_size_inches(width * self.inch, height * self.inch)
        self.place.clear().translate(-left, -top - height).scale(self.inch, -self.inch)

    def extent(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of all that is drawn."""
        box, inch = self.figure.get_tightbbox(self._renderer), self.inch
        return box.x0 / inch, self.height - box.y1 / inch, box.x1 / inch, self.height - box.y0 / inch

    @cached_property
    def _renderer(self) -> RendererAgg:
        return self.figure.canvas.get_renderer()  # type: ignore[attr-defined]

    # The pen.

    def add(self, artist: Artist, clip: Box | None = None) -> None:
        self.order += 1
        artist.set_zorder(self.order)
        self.figure.add_artist(artist, clip=False)
        if clip is not None:
            artist.set_clip_path(_rectangle(*clip), self.to_page)

    def area(
        self, path: Path, fill: Any, line: Any = None, width: float = 0, clip: Box | None = None
    ) -> None:
        style = {"facecolor": fill or "none", "edgecolor": line or "none", "transform": self.to_page}
        self.add(PathPatch(path, linewidth=width * self.scale if line else 0, **style), clip)

    def line(
        self, x: Any, y: Any, colour: Any, width: float = 1, dash: Any = (), clip: Any = None, **how: Any
    ) -> None:
        width = max(0.35, width * self.scale)
        dashes = (0, [max(1, width / 1.2) * each for each in dash]) if dash else "solid"
        how = {"linewidth": width, "linestyle": dashes, "solid_capstyle": "butt", **how}
        self.add(Line2D(x, y, color=colour, transform=self.to_page, **how), clip)

    def points(self, size: float) -> float:
        """The size of letters that have so many pixels on a screen."""
        own, least = size * self.scale * BROAD, LEAST * self.scale * PIXELS / self.venue.small
        return min(max(own, least), self.venue.largest)

    def measure(self, text: str, size: float, bold: bool = False) -> float:
        """Pixels that a run of letters takes."""
        weight = "bold" if bold else "normal"
        font = font_manager.FontProperties(family=FAMILY, size=self.points(size), weight=weight)
        width, _, _ = self._renderer.get_text_width_height_descent(text, font, False)
        return float(width / self.figure.dpi / self.inch)

    def widest(self, texts: Iterable[str], size: float) -> float:
        """Pixels of the widest line of some texts with Plotly's tags."""
        lines = [line for text in texts for line in _runs(text, size)]
        widths = [sum(self.measure(run, own, bold) for run, bold, own in line) for line in lines]
        return max(widths, default=0.0)

    def text(
        self, words: str, x: float, y: float, *, size: float = PIXELS, colour: Any = None,
        across: float = 0.0, down: float = 0.5, turned: float = 0, opacity: float = 1.0,
    ) -> tuple[float, float]:  # fmt: skip
        """Words with Plotly's tags. across, down: what part of them lies before the place; turned: degrees
        against the clock, about it. Returns their width and height.
        """
        lines = _runs(words, size)
        sizes = [max((own for *_, own in line), default=size) for line in lines]
        highs = [1.22 * self.points(each) / self.scale for each in sizes]
        style = {"color": colour or self.ink, "alpha": opacity, "rotation": turned, "rotation_mode": "anchor"}
        sin, cos = math.sin(math.radians(turned)), math.cos(math.radians(turned))
        top, wide = -down * sum(highs), 0.0
        for line, high in zip(lines, highs, strict=True):
            widths = [self.measure(run, own, bold) for run, bold, own in line]
            left, base = -across * sum(widths), top + 0.76 * high
            for (run, bold, own), width in zip(line, widths, strict=True):
                style |= {"fontsize": self.points(own), "fontweight": "bold" if bold else "normal"}
                at = x + left * cos + base * sin, y - left * sin + base * cos
                self.add(Text(*at, run, va="baseline", transform=self.to_page, parse_math=False, **style))
                left += width
            top, wide = top + high, max(wide, sum(widths))
        return wide, sum(highs)

    # Axes.

    def across(self, share: float) -> float:
        return float(self.box[0] + share * (self.box[2] - self.box[0]))

    def up(self, share: float) -> float:
        return float(self.box[3] - share * (self.box[3] - self.box[1]))

    def _axes(self) -> None:
        self.axes: dict[str, _Axis] = {}
        usual = theme.template().layout.to_plotly_json()
        for number in dict.fromkeys(_number(trace) for trace in self.data if trace["type"] != "table"):
            for letter, to in (("x", self.across), ("y", self.up)):
                given = self.layout.get(f"{letter}axis{number}") or self.layout.get(
                    f"{letter}axis{number or 1}"
                )
                spec = {**usual[f"{letter}axis"], **(given or {})}
                traces = [each for each in self.data if _number(each) == number]
                start, end = (to(share) for share in spec.get("domain", (0, 1)))
                axis = _Axis(spec, start, end, _names(letter, traces, spec))
                axis.fit(traces, letter)
                self.axes[letter + number] = axis
            x, y = self.axes["x" + number], self.axes["y" + number]
            if "scaleanchor" in y.spec:
                _alike(x, y)

    def body(self, number: str) -> Box:
        """Left, top, right and bottom of the axes with a number."""
        x, y = self.axes["x" + number], self.axes["y" + number]
        return x.start, y.end, x.end, y.start

    def _grid(self, number: str) -> None:
        """The lines behind the traces."""
        left, top, right, bottom = self.body(number)
        for letter in "xy":
            axis = self.axes[letter + number]
            places = [place for place, _ in axis.ticks()] if axis.spec.get("showgrid", True) else []
            lines = [(place, 0.7) for place in places]
            if axis.spec.get("zeroline") and not axis.is_log and axis.low * axis.high < 0:
                lines.append((float(axis.at(0)), 1.4))
            for place, width in lines if axis.spec.get("visible", True) else ():
                ends = ([place] * 2, [top, bottom]) if letter == "x" else ([left, right], [place] * 2)
                self.line(*ends, self.pale, width)

    def _beside(self, number: str) -> None:
        """Ticks, their words and the titles of both axes."""
        left, top, right, bottom = self.body(number)
        for letter, beside in (("x", self._beside_x), ("y", self._beside_y)):
            axis = self.axes[letter + number]
            if axis.spec.get("visible", True):
                if axis.spec.get("showline"):
                    edges = ([left, right], [bottom] * 2) if letter == "x" else ([left] * 2, [top, bottom])
                    self.line(*edges, _colour(axis.spec.get("linecolor")))
                ticks = axis.ticks() if axis.spec.get("showticklabels", True) else []
                apart = min((abs(b - a) for (a, _), (b, _) in pairwise(ticks)), default=math.inf)
                size = axis.spec.get("tickfont", {}).get("size", PIXELS)
                beside(axis, ticks, apart, size, max(4, axis.spec.get("ticklabelstandoff") or 0))

    def _beside_x(self, axis: _Axis, ticks: Any, apart: float, size: float, standoff: float) -> None:
        number = next(name[1:] for name, each in self.axes.items() if each is axis)
        left, top, right, bottom = self.body(number)
        above = axis.spec.get("side") == "top"
        edge, outwards = (top - standoff, -1) if above else (bottom + standoff, 1)
        turned, letters = -(axis.spec.get("tickangle") or 0), self.points(size) / self.scale
        widest, far = self.widest((text for _, text in ticks), size), 0.0
        if not turned and widest + 3 > apart > 0:  # smaller letters, before some are left out
            smaller = max(min(1.0, LEAST / self.scale / size), min(1.0, (apart - 3) / widest))
            size, widest = size * smaller, widest * smaller
        two_lines = any("<br>" in text for _, text in ticks)
        if not turned and widest + 2 > apart and not two_lines:
            turned = 90 if axis.names or (axis.spec.get("ticktext") is not None and len(ticks) > 4) else 0
        if 0 < turned < 90 and 1.5 * letters > apart:
            turned = 90  # upright names need less room than slanted ones
        slant = abs(math.sin(math.radians(turned)))
        needed = 1.05 * letters / slant if turned else widest + 2
        step = max(1, math.ceil(needed / apart)) if ticks and not two_lines else 1
        across = 0.5 if not turned else 1.0 if (turned > 0) != above else 0.0
        down = 0.5 if turned else 1.0 if above else 0.0
        for place, text in _thinned(ticks, step, needed):
            wide, tall = self.text(text, place, edge, size=size, across=across, down=down, turned=turned)
            far = max(far, wide * slant + letters / 3 if turned else tall)
        y = edge + outwards * (far + min(6, axis.spec.get("title", {}).get("standoff", 4)))
        self._title(axis, ticks, step, (left + right) / 2, y, down=float(above))

    def _beside_y(self, axis: _Axis, ticks: Any, apart: float, size: float, standoff: float) -> None:
        number = next(name[1:] for name, each in self.axes.items() if each is axis)
        left, top, _, bottom = self.body(number)
        needed, far = 1.05 * self.points(size) / self.scale, 0.0
        step = max(1, math.ceil(needed / apart)) if ticks else 1
        for place, text in _thinned(ticks, step, needed):
            far = max(far, self.text(text, left - standoff, place, size=size, across=1.0)[0])
        x = left - standoff - far - min(6, axis.spec.get("title", {}).get("standoff", 4))
        self._title(axis, ticks, step, x, (top + bottom) / 2, down=1.0, turned=90)

    def _title(self, axis: _Axis, ticks: Any, step: int, x: float, y: float, **how: Any) -> None:
        title = axis.spec.get("title") or {}
        if title.get("text"):
            words, font = title["text"] + skipping([text for _, text in ticks], step), title.get("font", {})
            colour, size = _colour(font.get("color")), min(14, font.get("size", 13))
            self.text(words, x, y, size=size, colour=colour, across=0.5, **how)

    # What the figure holds.

    def _draw(self) -> None:
        """All of it: as Plotly does, cells below lines below words, whatever their order."""
        numbers = list(dict.fromkeys(name[1:] for name in self.axes))
        for number in numbers:
            self._grid(number)
        for trace in self.data:
            match trace["type"]:
                case "image":  # a picture in grey, whose pixels are rectangles, too
                    grey = np.asarray(trace["z"], float)[..., :3].mean(-1) // 4 * 4
                    ends = {"zmin": 0, "zmax": 255, "colorscale": _GREYS, "showscale": False}
                    self._heatmap({"z": grey, **ends}, _number(trace))
                case "heatmap":
                    self._heatmap(trace, _number(trace))
                case "bar":
                    self._bars(trace, _number(trace))
                case "table":
                    self._table(trace)
        for trace in self.data:
            if trace["type"] == "scatter" and trace.get("x") is not None:
                self._scatter(trace, _number(trace))
        for number in numbers:
            self._beside(number)
        for shape in self.layout.get("shapes", ()):
            self._shape(shape)
        for note in self._fitting(self.layout.get("annotations", ())):
            self._note(note)
        for name, entries in self.listed.items():
            of = name.removeprefix("legend")  # a board's legends are numbered as the axes of their charts
            right = self.body("" if of == "1" else of)[2] if of else self.width
            if entries:
                self._legend(self.layout.get(name, {}), entries, right)

    def _heatmap(self, trace: Spec, number: str) -> None:
        x, y = (self.axes[letter + number] for letter in "xy")
        z = np.array(trace["z"], float)  # [row, column]
        known = z[np.isfinite(z)]
        low, high = known.min(initial=math.inf), known.max(initial=-math.inf)
        low, high = (float(each if (end := trace.get(name)) is None else end)
                     for name, each in (("zmin", low), ("zmax", high)))  # fmt: skip
        table = _shades(trace.get("colorscale") or theme.colour_scale("sequential"))
        table[:, 3] *= trace.get("opacity", 1)
        shade = np.clip(np.nan_to_num((z - low) / (high - low or 1)), 0, 1) * 255
        # So that more neighbours are of one colour.
        shade = np.rint(shade / 4) * 4 if z.size > MANY else shade
        level = np.where(np.isfinite(z), np.rint(shade).clip(0, 255), -1).astype(int)
        xs, ys = x.at(x.edges(trace, "x")), y.at(y.edges(trace, "y"))
        self._cells(level, xs, ys, table, trace.get("xgap") or 0, self.body(number))
        opaque = table * table[:, 3:] + 1 - table[:, 3:]  # on white
        opaque[:, 3] = 1
        dark = opaque[:, :3] @ [0.299, 0.587, 0.114] < 0.55  # [level]
        if trace.get("texttemplate") and trace.get("text") is not None:
            self._words(trace, level, xs, ys, dark)
        elif low < 0 < high:
            self._minus(level, (z < 0.06 * low) & np.isfinite(z), xs, ys, dark)
        if trace.get("showscale", True):
            self._bar(trace.get("colorbar") or {}, (low, high), opaque, self.body(number))

    def _cells(self, level: Any, xs: Any, ys: Any, table: np.ndarray, gap: float, clip: Box) -> None:
        """A path for each colour; neighbours of one colour in a row are one rectangle, white ones none."""
        white = np.append((table * table[:, 3:] + 1 - table[:, 3:] > 0.995)[:, :3].all(-1) & (gap == 0), True)
        runs: dict[int, list[Box]] = {}
        inset = gap / 2 if gap else -0.12  # neighbours overlap by a hair
        for row, levels in enumerate(level):
            top, bottom = sorted((ys[row], ys[row + 1]))
            starts = range(len(levels)) if gap else [0, *(np.flatnonzero(np.diff(levels)) + 1)]
            for start, end in pairwise([*starts, len(levels)]):
                if not white[shade := int(levels[start])]:
                    left, right = sorted((xs[start], xs[end]))
                    cell = left + inset, top + inset, right - inset, bottom - inset
                    runs.setdefault(shade, []).append(cell)
        self.cells += sum(map(len, runs.values()))
        if self.cells > MOST:
            raise ValueError(
                f"The figure has over {MOST:,} cells, too many for a page; show a part of it, or fewer heads."
            )
        for shade, cells in sorted(runs.items()):
            path = Path.make_compound_path(*(_rectangle(*each) for each in cells))
            self.area(path, tuple(table[shade]), clip=clip)

    def _words(self, trace: Spec, level: Any, xs: Any, ys: Any, dark: np.ndarray) -> None:
        """What stands in cells, as small as it needs to be; nothing where it could not be read."""
        size = (trace.get("textfont") or {}).get("size", PIXELS)
        texts = np.asarray(trace["text"], dtype=object)
        for (row, column), text in np.ndenumerate(texts):
            if text and level[row, column] >= 0:
                room, width = abs(xs[column + 1] - xs[column]) - 2, self.widest([text], size)
                points = self.points(size) * min(1.0, room / width if width else 1.0)
                if points >= LEAST - 0.6:
                    at = (xs[column] + xs[column + 1]) / 2, (ys[row] + ys[row + 1]) / 2
                    colour = "white" if dark[level[row, column]] else self.ink
                    how: Any = {"ha": "center", "va": "center_baseline", "parse_math": False, "color": colour}
                    self.add(Text(*at, html.unescape(text), fontsize=points, transform=self.to_page, **how))

    def _minus(self, level: Any, below: np.ndarray, xs: Any, ys: Any, dark: np.ndarray) -> None:
        """A minus in each cell below zero, since red and blue are the same grey."""
        for is_dark, colour in ((False, self.ink), (True, "white")):
            rows, columns = np.nonzero(below & (dark[level] == is_dark))
            left, right = (
                0.75 * xs[a] + 0.25 * xs[b] for a, b in ((columns, columns + 1), (columns + 1, columns))
            )
            x = np.stack([left, right, np.full(len(left), np.nan)], -1)
            if len(left):
                self.line(x.ravel(), np.repeat((ys[rows] + ys[rows + 1]) / 2, 3), colour, 0.5)

    def _bar(self, bar: Spec, ends: tuple[float, float], table: np.ndarray, body: Box) -> None:
        """The colours of a heat map with their numbers."""
        x = self.across(bar["x"]) if "x" in bar else body[2] + 12
        fixed = bar["len"] if bar.get("lenmode") == "pixels" else math.inf
        length = min(fixed, body[3] - body[1])
        bottom = body[3] if bar.get("yanchor") == "bottom" else body[1] + length
        steps = np.linspace(bottom, bottom - length, 65)
        for at, (lower, upper) in enumerate(pairwise(steps)):
            box = _rectangle(x, upper, x + 12, lower + 0.3 * (at > 0))
            self.area(box, tuple(table[int((at + 0.5) / 64 * 255)]))
        if ends[0] < 0 < ends[1]:
            self.line([x + 4, x + 8], [steps[10]] * 2, "white", 0.6)
        self.area(_rectangle(x, steps[-1], x + 12, bottom), None, self.muted, 0.5)
        axis, far = _Axis(bar, bottom, bottom - length, {}, *ends), 0.0
        for place, text in axis.ticks():
            self.line([x + 12, x + 15], [place, place], self.muted, 0.6)
            far = max(far, self.text(text, x + 17, place, size=PIXELS - 1)[0])
        if (bar.get("title") or {}).get("text"):
            self.text(bar["title"]["text"], x + far + 22, steps[-1], across=1.0, down=0.0, turned=90)

    def _bars(self, trace: Spec, number: str) -> None:
        x, y = (self.axes[letter + number] for letter in "xy")
        half, floor, colour = trace.get("width", 0.8) / 2, float(y.at(0)), trace["marker"]["color"]
        shades = [colour] * len(trace["x"]) if isinstance(colour, str) else colour
        for at, value, own in zip(x.numbers(trace["x"]), np.asarray(trace["y"], float), shades, strict=True):
            if np.isfinite(value):
                box = _rectangle(float(x.at(at - half)), float(y.at(value)), float(x.at(at + half)), floor)
                red, green, blue, alpha = _colour(own)
                opaque = [each * alpha + 1 - alpha for each in (red, green, blue)]  # no line shines through
                self.area(box, opaque, clip=self.body(number))

    def _scatter(self, trace: Spec, number: str) -> None:
        x_axis, y_axis = self.axes["x" + number], self.axes["y" + number]
        x, y = x_axis.at(x_axis.numbers(trace["x"])), y_axis.at(y_axis.numbers(trace["y"]))
        left, top, right, bottom = self.body(number)
        outside = left - 1.5, top - 1.5, right + 1.5, bottom + 1.5
        clip = None if trace.get("cliponaxis") is False else outside
        mode, line, style = trace.get("mode", "lines"), trace.get("line", {}), self._style(trace)
        if trace.get("fill") == "toself" and (known := np.isfinite(x) & np.isfinite(y)).any():
            self.area(Path(np.stack([x[known], y[known]], -1)), _colour(trace.get("fillcolor")), clip=clip)
        if "lines" in mode:
            x, y = _smooth(x, y) if line.get("shape") == "spline" else (x, y)
            steps = {"drawstyle": "steps-post"} if line.get("shape") == "hv" else {}
            self.line(x, y, style["colour"], style["width"], style["dash"], clip, **steps)
        if "markers" in mode:
            self._markers(trace.get("marker", {}), x, y, style, clip)
        if "text" in mode:
            self._labels(trace, x, y)

    def _style(self, trace: Spec) -> Spec:
        """How a trace is drawn; those in one legend differ by dashes and shapes, too."""
        line, marker, mode = trace.get("line", {}), trace.get("marker", {}), trace.get("mode", "lines")
        colour, group = (line if "lines" in mode else marker).get("color"), trace.get("legendgroup")
        style = {
            "colour": _colour(colour) if isinstance(colour, str) else _colour(theme.palette()["accent"]),
            "width": line.get("width", 2), "dash": _DASHES.get(line.get("dash", ""), ()), "group": group,
            "marker": _SYMBOLS.get(marker.get("symbol", ""), "o"), "mode": mode,
        }  # fmt: skip
        legend = self.listed.setdefault(trace.get("legend", "legend"), [])
        earlier = [entry for _, entry in legend if group and entry["group"] == group]
        if earlier:
            return style | {"dash": earlier[0]["dash"]}
        if trace.get("showlegend", self.layout.get("showlegend", False)) and trace.get("name"):
            style["dash"] = style["dash"] or DASHES[len(legend) % len(DASHES)]
            style["marker"] = style["marker"] if "symbol" in marker else MARKERS[len(legend) % len(MARKERS)]
            legend.append((trace["name"], style))
        return style

    def _markers(self, marker: Spec, x: np.ndarray, y: np.ndarray, style: Spec, clip: Box | None) -> None:
        # A list of sizes that is too short begins again, as in Plotly.
        sizes = np.resize(np.asarray(marker.get("size", 6), float), len(x))
        colour, edge = marker.get("color"), marker.get("line", {})
        if isinstance(colour, str) or colour is None:
            shades = [_colour(colour) or style["colour"]] * len(x)
        elif isinstance(colour[0], str):
            shades = [_colour(each) for each in colour]
        else:
            low, high, table = marker["cmin"], marker["cmax"], _shades(marker["colorscale"])
            shares = np.clip((np.asarray(colour, float) - low) / (high - low), 0, 1)
            shades = [tuple(table[int(255 * share)]) for share in shares]
            if marker.get("showscale"):
                self._bar(marker.get("colorbar", {}), (low, high), table, self.body(""))
        groups: dict[Any, list[int]] = {}
        for at in np.flatnonzero((sizes > 1) & np.isfinite(x) & np.isfinite(y)).tolist():
            if marker.get("symbol") == "arrow":
                self._head((x[at - 1], y[at - 1]), (x[at], y[at]), shades[at], sizes[at])
            else:
                groups.setdefault((shades[at], sizes[at]), []).append(at)
        for (shade, size), places in groups.items():
            outline = _colour(edge["color"]) if edge.get("width") else "none"
            how: Any = {"markeredgecolor": outline, "markeredgewidth": edge.get("width", 0) * self.scale}
            how |= {
                "marker": style["marker"],
                "markersize": 0.9 * size * self.scale,
                "markerfacecolor": shade,
            }
            self.line(x[places], y[places], "none", clip=clip, **how)

    def _labels(self, trace: Spec, x: np.ndarray, y: np.ndarray) -> None:
        """Words beside points; names of points go where no other name lies."""
        font, count = trace.get("textfont", {}), len(trace["text"])
        where = trace.get("textposition", "middle center")
        shades = [font.get("color")] * count if isinstance(font.get("color"), str | None) else font["color"]
        wheres = [where] * count if isinstance(where, str) else where
        away, size = 5 if "markers" in trace["mode"] else 2, font.get("size", 13)
        for text, at_x, at_y, where, shade in zip(trace["text"], x, y, wheres, shades, strict=False):
            if not text or not np.isfinite([at_x, at_y]).all():
                continue
            wide, tall = self.widest([text], size), self.points(size) / self.scale
            others = ["bottom center", "middle right", "middle left"] if where == "top center" else []
            for place in (where, *others[: 3 * (away > 2)]):
                vertical, horizontal = place.split()
                across = {"left": 1.0, "right": 0.0}.get(horizontal, 0.5)
                down = {"top": 1.0, "bottom": 0.0}.get(vertical, 0.5)
                at = at_x + away * (1 - 2 * across), at_y + away * (1 - 2 * down)
                left, top = at[0] - across * wide, at[1] - down * tall
                box = left, top, left + wide, top + tall
                if not any(_meet(box, other) for other in self.taken):
                    break
            self.taken.append(box)
            self.text(text, *at, size=size, colour=_colour(shade), across=across, down=down)

    def _head(self, tail: Sequence[float], tip: Sequence[float], colour: Any, size: float) -> None:
        """The head of an arrow."""
        (x0, y0), (x, y) = tail, tip
        if long := math.hypot(x - x0, y - y0):
            dx, dy, back, half = (x - x0) / long, (y - y0) / long, min(size, long), size * 0.38
            base = x - back * dx, y - back * dy
            sides = [(base[0] - half * dy, base[1] + half * dx), (base[0] + half * dy, base[1] - half * dx)]
            self.area(Path([tip, *sides, tip], closed=True), colour)

    def _table(self, trace: Spec) -> None:
        left, right = (self.across(share) for share in trace["domain"]["x"])
        top, widths = self.up(trace["domain"]["y"][1]), np.cumsum([0, *trace["columnwidth"]])
        edges = left + widths / widths[-1] * (right - left)
        header, cells = trace["header"], trace["cells"]
        fills = [header["fill"]["color"], *cells["fill"]["color"][0]]
        for row, (fill, *texts) in enumerate(
            zip(fills, *([*column] for column in _columns(trace)), strict=True)
        ):
            part = cells if row else header
            bottom, font = top + part["height"], part["font"]
            size, colour = font["size"] - 1, _colour(font["color"])
            self.area(_rectangle(left, top, right, bottom), _colour(fill))
            for text, (start, end) in zip(texts, pairwise(edges), strict=True):
                room, width = end - start - 10, self.widest([text], size)
                if width > room and not row:  # in two lines
                    plain = text.removeprefix("<b>").removesuffix("</b>")
                    text = f"<b>{'<br>'.join(textwrap.wrap(plain, -(-len(plain) // 2) + 3))}</b>"
                    width = self.widest([text], size)
                smaller = max(min(1.0, LEAST / self.points(size)), min(1.0, room / width if width else 1.0))
                self.text(text, start + 8, (top + bottom) / 2, size=size * smaller, colour=colour)
            self.line([left, right], [bottom, bottom], self.pale)
            top = bottom

    def _shape(self, shape: Spec) -> None:
        line, opacity = shape.get("line", {}), shape.get("opacity", 1)
        fill, edge = (_colour(each, opacity) for each in (shape.get("fillcolor"), line.get("color")))
        if shape["type"] == "path":
            path = self._path(shape["path"])
        else:
            path = _rectangle(*(self._along(shape, *place) for place in ("x0", "y0", "x1", "y1")))
        self.area(path, fill, edge if line.get("width", 2) else None, line.get("width", 2))

    def _along(self, shape: Spec, letter: str, end: str) -> float:
        """The pixel of an end of a shape."""
        value, ref = shape[letter + end], shape.get(f"{letter}ref", letter)
        if ref == "paper":
            return self.across(value) if letter == "x" else self.up(value)
        axis, of_domain = self.axes[ref.split()[0]], ref.endswith("domain")
        pixels = value if shape.get(f"{letter}sizemode") == "pixel" else 0
        value = shape[f"{letter}anchor"] if pixels else value
        at = axis.start + value * (axis.end - axis.start) if of_domain else float(axis.at(value))
        return float(at + (pixels if letter == "x" else -pixels))

    def _path(self, path: str) -> Path:
        """The path of a shape: of M, H, V and Z, on the first axes."""
        points, codes, here = [], [], [0.0, 0.0]
        for letter, rest in re.findall(r"([MHVZ])([^MHVZ]*)", path):
            numbers = [float(each) for each in rest.split()]
            here = {"H": [*numbers, here[1]], "V": [here[0], *numbers], "Z": here, "M": numbers}[letter]
            points.append((float(self.axes["x"].at(here[0])), float(self.axes["y"].at(here[1]))))
            codes.append({"M": Path.MOVETO, "Z": Path.CLOSEPOLY}.get(letter, Path.LINETO))
        return Path(points, codes)

    def _fitting(self, notes: Sequence[Spec]) -> Sequence[Spec]:
        """Names over the heads of a grid are shorter where they would meet."""
        names = [note for note in notes if _LAYER_HEAD.fullmatch(note.get("text", "")) and "xref" not in note]
        if not names:
            return notes
        places = sorted({float(self.axes["x"].at(note["x"])) for note in names})
        room = min((b - a for a, b in pairwise(places)), default=math.inf) - 7
        for short in (r"layer \1 · head \2", r"L\1 H\2", r"\1.\2"):
            texts = [_LAYER_HEAD.sub(short, note["text"]) for note in notes]
            if self.widest(texts, names[0]["font"]["size"]) <= room:
                break
        return [{**note, "text": text} for note, text in zip(notes, texts, strict=True)]

    def _note(self, note: Spec) -> None:
        place = {
            "x0": note["x"],
            "y0": note["y"],
            **{ref: note[ref] for ref in ("xref", "yref") if ref in note},
        }
        opacity, font = note.get("opacity", 1), note.get("font", {})
        x = self._along(place, "x", "0") + note.get("xshift", 0)
        y = self._along(place, "y", "0") - note.get("yshift", 0)
        if note.get("text") and opacity:
            across, down = _ANCHORS[note.get("xanchor", "center")], _ANCHORS[note.get("yanchor", "middle")]
            size, colour = font.get("size", 14), _colour(font.get("color"))
            how = {"across": across, "down": down, "opacity": opacity}
            self.text(note["text"], x, y, size=size, colour=colour, **how)

    def _legend(self, spec: Spec, entries: list[tuple[str, Spec]], right: float) -> None:
        size, swatch, high = spec.get("font", {}).get("size", PIXELS), 24, 18
        widths = [self.widest([name], size) + swatch + 18 for name, _ in entries]
        beside, contained = spec.get("orientation") == "h", spec.get("xref") == "container"
        left = self.width if contained else self.across(spec.get("x", 1.02))
        if spec.get("xanchor") == "right":
            left = max(self.box[0], left - (sum(widths) if beside else max(widths, default=0)))
        lines: list[list[int]] = [[]]
        for at, width in enumerate(widths):
            full = lines[-1] and (not beside or left + sum(widths[i] for i in lines[-1]) + width > right + 18)
            lines = [*lines, [at]] if full else [*lines[:-1], [*lines[-1], at]]
        top = 0 if contained else self.up(spec.get("y", 1))
        top -= high * len(lines) + 2 if spec.get("yanchor") == "bottom" else 0
        for row, line in enumerate(lines):
            x, y = left, top + (row + 0.5) * high
            for at in line:
                name, style = entries[at]
                if "lines" in style["mode"]:
                    width = min(3, style["width"])
                    self.line([x, x + swatch - 4], [y, y], style["colour"], width, style["dash"])
                if "markers" in style["mode"]:
                    how: Any = {
                        "marker": style["marker"],
                        "markersize": 6 * self.scale,
                        "markeredgecolor": "none",
                    }
                    self.line([x + swatch / 2 - 2], [y], style["colour"], **how)
                self.text(name, x + swatch, y, size=size)
                x += widths[at]


def _number(trace: Spec) -> str:
    """The number of a trace's axes, nothing for the first."""
    return str(trace.get("xaxis") or "x")[1:]


def _columns(trace: Spec) -> list[list[str]]:
    """The texts of a table, with each column's heading."""
    pairs = zip(trace["header"]["values"], trace["cells"]["values"], strict=True)
    return [[name, *values] for name, values in pairs]


def _rectangle(x0: float, y0: float, x1: float, y1: float) -> Path:
    return Path([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], closed=True)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _colour(value: str | None, opacity: float = 1) -> Any:
    """A colour of Plotly's as Matplotlib takes it."""
    if not value:
        return None
    if not value.startswith("rgb"):
        return *colors.to_rgb(value), opacity
    red, green, blue, *alpha = (float(each) for each in re.findall(r"[\d.]+", value))
    return red / 255, green / 255, blue / 255, (alpha[0] if alpha else 1.0) * opacity


def _shades(scale: Any) -> np.ndarray:
    """[256, red green blue alpha] of a colour scale."""
    rgba = np.array([_colour(str(colour)) for _, colour in scale])
    at = [float(place) for place, _ in scale]
    return np.stack([np.interp(np.linspace(0, 1, 256), at, rgba[:, channel]) for channel in range(4)], -1)


def _names(letter: str, traces: list[Spec], spec: Spec) -> dict[str, int]:
    """The places of the names of an axis that has names."""
    listed = spec.get("categoryarray")
    if listed is None:
        values = next((trace[letter] for trace in traces if trace.get(letter) is not None), ())
        listed = [each for each in values if isinstance(each, str)]
    return {name: at for at, name in enumerate(listed)}


def _alike(x: _Axis, y: _Axis) -> None:
    """One unit is as long on both axes: one of them shows more, or a picture's body shrinks."""
    wide, high = x.end - x.start, y.start - y.end
    per_x, per_y = abs(x.high - x.low) / wide, abs(y.high - y.low) / high
    if x.spec.get("constrain") == "domain":
        x.end, y.start = x.start + wide * min(1, per_x / per_y), y.end + high * min(1, per_y / per_x)
        return
    axis, share = (x, per_y / per_x) if per_x < per_y else (y, per_x / per_y)
    middle, half = (axis.low + axis.high) / 2, (axis.high - axis.low) / 2 * share
    axis.low, axis.high = middle - half, middle + half


def _thinned(ticks: list[tuple[float, str]], step: int, needed: float) -> list[tuple[float, str]]:
    """Each step-th tick, counted anew in each of several tiles, and none close to the next tile's first."""
    gaps = [abs(b - a) for (a, _), (b, _) in pairwise(ticks)]
    firsts = [0, *(at + 1 for at, gap in enumerate(gaps) if gap > 1.5 * min(gaps))]
    if step == 1 or len(firsts) > len(ticks) / 2:
        return ticks[::step]
    tiles = [ticks[start:end:step] for start, end in pairwise([*firsts, len(ticks)])]
    for tile, (first, *_) in pairwise(tiles):
        while len(tile) > 1 and abs(tile[-1][0] - first[0]) < needed:
            tile.pop()
    return [each for tile in tiles for each in tile]


def _smooth(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A wave through points, of which it has only some."""
    from scipy.interpolate import CubicSpline

    if len(x) < 3 or not np.isfinite([x, y]).all() or (np.diff(x) <= 0).any():
        return x, y
    fine = np.linspace(x[0], x[-1], 8 * len(x))
    return fine, CubicSpline(x, y)(fine)


def _runs(text: str, size: float) -> list[list[tuple[str, bool, float]]]:
    """Lines of words, each with whether it is bold, and its size."""
    lines: list[list[tuple[str, bool, float]]] = [[]]
    bold, own = False, size
    for part in _TAG.split(str(text)):
        if part.startswith("<br"):
            lines.append([])
        elif part in ("<b>", "</b>"):
            bold = part == "<b>"
        elif part.startswith(("<span", "</span")):
            own = float(part.split("size:")[1].split("px")[0]) if "size:" in part else size
        elif part and not _TAG.fullmatch(part):
            # Marks of names, not read.
            words = html.unescape(part).replace("\u200b", "").replace("\u2060", "")
            lines[-1].append((words, bold, own))
    return lines
