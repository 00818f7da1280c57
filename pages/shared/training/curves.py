"""The curves of runs on Train and Runs, and the controls above them, which a link keeps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention_lab.models.fields import Field, number, one_of
from attention_lab.models.runs.results import changed_words, history_of, is_share
from attention_lab.pages.shared.state import State
from attention_lab.pages.shared.training.runs import MOST_STEPS
from attention_lab.viz_core.boards import Colour, Curves, Line
from attention_lab.viz_core.measures import MEASURES
from attention_lab.viz_core.training import moving_average

POINTS = 200
MOST_PARTS = 12
LARGEST = 1e30  # the largest number that is drawn, of either sign
Entry = dict[str, Any]
Reader = Callable[[Entry], Any]


@dataclass(frozen=True)
class View:
    """How curves are drawn. x: along steps, tokens or seconds. smoothing: the weight of the moving average.

    norms: of each part's "gradient" or "weights". measure: that of every head, by its name.
    """

    x: str = "steps"
    log_x: bool = False
    log_y: bool = False
    smoothing: float = 0.0
    norms: str = "gradient"
    measure: str = ""

    @property
    def place(self) -> Reader:
        """Reads where a record stands on the x axis."""
        return of("step" if self.x == "steps" else self.x)

    @property
    def x_label(self) -> str:
        return {"steps": "step", "seconds": "seconds of training"}.get(self.x, self.x)

    def known_in(self, entries: Sequence[Entry]) -> "View":
        """This view, over steps where the records, being older, do not count what x asks for."""
        if self.x == "steps" or any(is_number(self.place(entry)) for entry in entries[-3:]):
            return self
        return replace(self, x="steps")


STEPS = View()


def grid(steps: int, *, log: bool = False) -> np.ndarray:
    """The steps [point] at which a chart of a run of so many steps has its points."""
    last = min(max(2, steps), MOST_STEPS)
    return np.geomspace(1, last, POINTS) if log else np.linspace(0, last, POINTS)


def axis(entries: Sequence[Entry], steps: int, view: View) -> np.ndarray:
    """The places [point] on the x axis of a run of so many steps; of tokens and seconds, as many as they will
    be if the rest takes as long.
    """
    if view.x == "steps":
        return grid(steps, log=view.log_x)
    known = [entry for entry in entries if is_number(view.place(entry))]
    first, last = (float(view.place(known[at])) for at in (0, -1))
    end = max(last * max(1.0, steps / max(1, known[-1]["step"])), first * 2, 1e-3)
    return np.geomspace(max(first, end / 1e6), end, POINTS) if view.log_x else np.linspace(0, end, POINTS)


def places(entries: Sequence[Entry], steps: np.ndarray, view: View) -> np.ndarray:
    """Where steps stand on the x axis [step]; none before the first that a logarithmic one can show."""
    if view.x != "steps":
        known = [(entry["step"], at) for entry in entries if is_number(at := view.place(entry))]
        of_steps, there = np.array([(0, 0.0), *known], dtype=np.float64).T
        steps = np.interp(steps, of_steps, there)
    first = axis(entries, 1, view)[0] if view.log_x and view.x != "steps" else 1
    return np.maximum(steps, first) if view.log_x else steps


def series(entries: Sequence[Entry], read: Reader, x: np.ndarray, view: View = STEPS) -> np.ndarray:
    """What `read` finds in the records, on the points x [point].

    It is a mean where records are dense, a straight line where they are not, NaN before the first and after
    the last.
    """
    pairs = ((view.place(entry), read(entry)) for entry in entries)
    points = [(at, value) for at, value in pairs if is_number(value) and is_number(at)]
    if not points:
        return np.full(len(x), np.nan)
    steps, values = np.array(points, dtype=np.float64).T
    if view.smoothing:
        values = moving_average(values, view.smoothing)
    bins = np.searchsorted((x[1:] + x[:-1]) / 2, steps)
    counts = np.bincount(bins, minlength=len(x))
    some = counts > 0
    sums = [np.bincount(bins, weights=each, minlength=len(x))[some] for each in (steps, values)]
    at, means = (each / counts[some] for each in sums)
    inside = (x >= x[bins.min()]) & (x <= x[bins.max()])
    return np.where(inside, np.interp(x, at, means), np.nan)


def lines(
    entries: Sequence[Entry], read: Reader, x: np.ndarray, name: str, colour: Colour, view: View = STEPS
) -> list[Line]:
    """The curve of what `read` finds; a smoothed one stands before the curve as it was recorded."""
    raw = Line(y=series(entries, read, x, replace(view, smoothing=0.0)), name=name, colour=colour)
    if not view.smoothing:
        return [raw]
    behind = replace(raw, name=f"{name}, as recorded", faint=True, listed=False)
    return [behind, replace(raw, y=series(entries, read, x, view))]


def is_number(value: object) -> bool:
    """Whether a record's entry is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST < value < LARGEST


def of(name: str) -> Reader:
    """Reads an entry of a record by its name."""
    return lambda entry: entry.get(name)


def validated(name: str) -> Reader:
    """Reads a score or loss of the validations."""

    def read(entry: Entry) -> Any:
        scores = entry.get("validation")
        return scores.get(name) if isinstance(scores, dict) else None

    return read


def scores_of(entries: Sequence[Entry]) -> list[str]:
    """The names of the validated scores, the main one first."""
    for entry in entries:
        scores = entry.get("validation")
        if isinstance(scores, dict) and scores:
            return [name for name in scores if name != "loss"]
    return []


def last(entries: Sequence[Entry], read: Reader) -> float | None:
    """The latest number that `read` finds."""
    return next((float(v) for entry in reversed(entries) if is_number(v := read(entry))), None)


def loss_curves(entries: Sequence[Entry], x: np.ndarray, view: View = STEPS, **more: Any) -> Curves:
    """Training and held-out loss; smoothing is for the noise of training alone."""
    plain = replace(view, smoothing=0.0)
    curve_lines = lines(entries, of("loss"), x, "training", "muted", view)
    curve_lines += lines(entries, validated("loss"), x, "held out", "accent", plain)
    return chart("loss", curve_lines, x, view, **more)


def score_curves(entries: Sequence[Entry], x: np.ndarray, view: View = STEPS, **more: Any) -> Curves:
    """All held-out scores, of which a record has one or a few; shares are drawn from 0 to 1."""
    names = scores_of(entries)[:4]
    colours: list[Colour] = ["value", "query", "key", "muted"]
    curve_lines = [
        Line(y=series(entries, validated(name), x, replace(view, smoothing=0.0)), name=name, colour=colour)
        for name, colour in zip(names, colours, strict=False)
    ]
    title = names[0] if len(names) == 1 else "scores"
    blank = Line(y=np.full(len(x), np.nan), name="score", colour="value")
    shares = all(map(is_share, names))
    view = replace(view, log_y=view.log_y and not shares)
    y_range = (0, 1) if shares else None
    return chart(f"{title}, held out", curve_lines or [blank], x, view, y_range=y_range, **more)


def marks_of(
    described: Mapping[str, Any], entries: Sequence[Entry] = (), view: View = STEPS
) -> list[tuple[float, str]]:
    """Where a run was trained further with other settings, each with what changed."""
    history = history_of(described)
    steps = np.array([entry["step"] for entry in history], dtype=np.float64)
    there = places(entries, steps, view) if history else steps
    return [(float(at), changed_words(entry)) for at, entry in zip(there, history, strict=True)]


def rate_curve(
    entries: Sequence[Entry], x: np.ndarray, peak: object = None, view: View = STEPS, **more: Any
) -> Curves:
    """The learning rate, drawn up to its `peak` where that is a number."""
    y = series(entries, of("learning_rate"), x, replace(view, smoothing=0.0))
    line = Line(y=y, name="learning rate", colour="key")
    y_range = (0, peak) if isinstance(peak, int | float) and 0 < peak < LARGEST and not view.log_y else None
    return chart("learning rate", [line], x, view, y_range=y_range, **more)


def gradient_curve(
    entries: Sequence[Entry], x: np.ndarray, clip: object = None, view: View = STEPS, **more: Any
) -> Curves:
    """The norm of the whole gradient before clipping, and the norm to which it is clipped."""
    curve_lines = lines(entries, of("gradient_norm"), x, "before clipping", "accent", view)
    if isinstance(clip, int | float) and 0 < clip < LARGEST:
        level = Line(y=np.full(len(x), float(clip)), name=f"clipped at {clip:g}", colour="muted", dashed=True)
        curve_lines.append(level)
    return chart("gradient norm", curve_lines, x, view, **more)


def has_norms(entries: Sequence[Entry]) -> bool:
    """Whether the norms of parts were recorded: older runs have none."""
    return any(isinstance(entry.get("norms"), dict) for entry in entries)


def part_curves(entries: Sequence[Entry], x: np.ndarray, view: View = STEPS, **more: Any) -> Curves:
    """The norm of the gradient or the weights of each part; of many parts, some evenly spread."""
    names = next((list(entry["norms"]) for entry in entries if isinstance(entry.get("norms"), dict)), [])
    places_shown = np.linspace(0, len(names) - 1, min(len(names), MOST_PARTS)).round().astype(int).tolist()
    which = 0 if view.norms == "gradient" else 1
    curve_lines = [
        line
        for colour, at in enumerate(places_shown)
        for line in lines(entries, _norm(names[at], which), x, names[at], colour, view)
    ]
    blank = Line(y=np.full(len(x), np.nan), name="norm", colour="muted")
    title = f"{'gradient' if which == 0 else 'weight'} norm of each part"
    if len(places_shown) < len(names):
        title = f"{title}, {len(places_shown)} of {len(names)}"
    return chart(title, curve_lines or [blank], x, view, **more)


def speed_curve(entries: Sequence[Entry], x: np.ndarray, view: View = STEPS, **more: Any) -> Curves:
    """Tokens a second, on a linear axis from 0."""
    curve_lines = lines(entries, of("tokens_per_second"), x, "tokens / s", "query", view)
    return chart("tokens / s", curve_lines, x, replace(view, log_y=False), **more)


def chart(title: str, curve_lines: Sequence[Line], x: np.ndarray, view: View, **more: Any) -> Curves:
    """These lines with the axes of a view."""
    axes: dict[str, Any] = {"x_label": view.x_label, "log_x": view.log_x, "log_y": view.log_y}
    return Curves(title=title, x=x, lines=curve_lines, **axes, **more)


def _norm(part: str, which: int) -> Reader:
    def read(entry: Entry) -> Any:
        norms = entry.get("norms")
        both = norms.get(part) if isinstance(norms, dict) else None
        return both[which] if isinstance(both, list) and len(both) == 2 else None

    return read


USUAL = "usual"
CHOSEN = {measure.name: measure.title for measure in MEASURES if measure.needs in (None, "tokens")}
"""The measures of a head that need no more than its pattern and the tokens."""
SMOOTH = (
    "Exponential moving average, s(i) = w s(i-1) + (1 - w) y(i), divided by 1 - w^i; the recorded curve stays"
    " pale."
)
_MEASURE = "A number for every head at every snapshot"


def view_state(page: str, *, log_x: bool = False) -> State:
    """The view of a page's curves; its fields are in the link."""
    x = {"steps": "Steps", "tokens": "Tokens", "seconds": "Seconds"}
    scales = {"linear": "Linear", "log": "Log"}
    norms = {"gradient": "Gradient", "weights": "Weights"}
    measures, first = {USUAL: "usual for the task", **CHOSEN}, "log" if log_x else "linear"
    small, wide = {"step": 0.01, "width": 140}, {"width": 190}
    return State(
        f"{page}.view",
        {
            "curves_x": Field("steps", one_of(x), "x", control="segments"),
            "curves_x_scale": Field(first, one_of(scales), "x axis", control="segments"),
            "curves_y_scale": Field("linear", one_of(scales), "y axis", control="segments"),
            "smoothing": Field(0.0, number(0, 0.99), "Smoothing", SMOOTH, "slider", more=small),
            "part_norms": Field("gradient", one_of(norms), "Parts", control="segments"),
            "head_measure": Field(USUAL, one_of(measures), "Heads", _MEASURE, more=wide),
        },
    )


def draw_view(inputs: State, *, heads: bool = True, parts: bool = True) -> View:
    """Draws the controls behind a button and returns the view. heads: whether parts and heads are drawn, too.
    parts: whether any norms of parts are known.
    """
    fields = [name for name in inputs.params if parts or name != "part_norms"]
    key = f"{inputs.name.replace('.', '_')}_controls"
    with st.popover("Curves…", key=key):
        for field in fields if heads else fields[:4]:
            inputs.draw(field)
    return view_of(inputs)


def view_of(inputs: State) -> View:
    """The view that is set."""
    values = inputs.kept
    return View(
        x=values["curves_x"],
        log_x=values["curves_x_scale"] == "log",
        log_y=values["curves_y_scale"] == "log",
        smoothing=values["smoothing"],
        norms=values["part_norms"],
        measure="" if values["head_measure"] == USUAL else values["head_measure"],
    )
