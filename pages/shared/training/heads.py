"""A run's heads at its snapshots: patterns and pictures as panels of a board, measures as curves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from attention_lab.models.byte_units import MB
from attention_lab.models.engine.address import Address, attention_at, sides_of
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.training import curves, runs, tasks_on_offer
from attention_lab.pages.shared.training.curves import View
from attention_lab.pages.shared.training.runs import Run
from attention_lab.viz_core.boards import Curves, Line, Matrix, Panel
from attention_lab.viz_core.labels import MAX_LENGTH, tick_labels
from attention_lab.viz_core.measures import MEASURES, head_scores

ACROSS = 8
FRAME_BYTES = 6 * MB
"""All frames together; a board's message may hold 8 MB."""

_ORDER = {"encoder.self": 0, "decoder.self": 1, "decoder.cross": 2}
Patterns = Mapping[str, np.ndarray]  # address -> [head, query, key]


def addresses(patterns: Patterns) -> list[str]:
    """The patterns among a snapshot's tensors, stack by stack, lower layers first."""
    places = [
        where for a in patterns if (where := Address.parse(a)).name == "pattern" and where.family in _ORDER
    ]
    return [str(where) for where in sorted(places, key=lambda each: (_ORDER[each.family], each.layer))]


def fitting_frames(count: int, frame_bytes: int) -> list[int]:
    """Which of `count` frames of so many bytes are shown: all, or as many as fit with the first and last."""
    most = max(2, FRAME_BYTES // max(1, frame_bytes))
    if count <= most:
        return list(range(count))
    return sorted(set(np.linspace(0, count - 1, most).round().astype(int).tolist()))


def size_of(patterns: Patterns) -> int:
    """Bytes that a frame of these patterns takes in a message."""
    return sum(2 * patterns[address].size for address in addresses(patterns))


def grid(frames: Sequence[Patterns], tokens: Mapping[str, Sequence[str]]) -> list[list[Panel]]:
    """A thumbnail for every head, in rows of whole layers; one frame for each of `frames`, or none for one.

    tokens: labels by side, as a probe has them. Heads that are not in every frame are left out.
    """
    panels = [_thumbnails(frames, address, tokens) for address in addresses(frames[-1])] if frames else []
    rows: list[list[Panel]] = []
    for layer in panels:
        if rows and len(rows[-1]) + len(layer) <= ACROSS:
            rows[-1] += layer
        elif layer:
            rows.append(list(layer))
    return rows


def large(rows: Sequence[Sequence[Panel]], title: str) -> list[Matrix]:
    """The large matrix, which shows the head of this title first; [] where there are no heads."""
    small = [panel for row in rows for panel in row if isinstance(panel, Matrix)]
    if not small:
        return []
    first = next((panel for panel in small if panel.title == title), small[-1])
    content: dict[str, Any] = {name: getattr(first, name) for name in ("title", "values", "rows", "columns")}
    return [Matrix(**content, scale="weights", row_axis="query", column_axis="key", picture=True, large=True)]


def title(address: str, head: int, *, several: bool) -> str:
    """What a head is called on a board: L1 H3, and in front the stack where a model has several."""
    where = Address.parse(address)
    return f"{_PREFIX[where.family] if several else ''}L{where.layer} H{head}"


def _thumbnails(
    frames: Sequence[Patterns], address: str, tokens: Mapping[str, Sequence[str]]
) -> list[Matrix]:
    shape = frames[-1][address].shape
    if any(address not in frame or frame[address].shape != shape for frame in frames) or len(shape) != 3:
        return []
    stack = [frame[address].astype(np.float16, copy=False) for frame in frames]
    where = Address.parse(address)
    side, crosses = where.stack, where.kind == "cross"
    asking = tokens.get(side)
    rows = _labels(_writing(asking), shape[1], 2 * MAX_LENGTH) if crosses else _labels(asking, shape[1])
    columns = _labels(tokens.get(where.keys_stack), shape[2])
    axes: dict[str, Any] = {"rows": rows, "columns": columns, "row_axis": "query", "column_axis": "key"}
    matrices = []
    for head in range(shape[0]):
        values = stack[0][head] if len(stack) == 1 else np.stack([pattern[head] for pattern in stack])
        name = title(address, head, several=len(tokens) > 1)
        matrices.append(Matrix(title=name, values=values, scale="weights", small=True, **axes))
    return matrices


_PREFIX = {"encoder.self": "enc ", "decoder.self": "dec ", "decoder.cross": "cross "}


def _writing(tokens: Sequence[str] | None) -> Sequence[str] | None:
    """Of cross-attention, which looks for what to write: each word with what follows, "la → rue"."""
    return tokens and [*(f"{read} → {next_}" for read, next_ in pairwise(tokens)), tokens[-1]]


def _labels(tokens: Sequence[str] | None, count: int, most: int = MAX_LENGTH) -> list[str]:
    """A label per position; none where the probe's words do not fit the pattern."""
    if tokens is None or len(tokens) != count:
        return []
    return tick_labels([str(token) for token in tokens], max_length=most, escaped=False)


Arrays = dict[str, np.ndarray]


def patterns_at(run: Run, step: int) -> Arrays:
    """The probe's patterns at a step, address -> [head, query, key]; {} where they cannot be read."""
    return _kept(("patterns", run.id, step), lambda: run.folder.snapshot(step))


def _kept(key: tuple[str, str, int], read: Callable[[], dict[str, Any]]) -> Arrays:
    def make() -> tuple[Arrays, int]:
        arrays = {name: tensor.numpy() for name, tensor in read().items()}
        return arrays, 1_000 + sum(array.nbytes for array in arrays.values())

    try:
        return cast(Arrays, cache.cached(cache.payloads, key, make))
    except (ValueError, OSError):
        return {}


PICTURES = 10
MOST_LAYERS, MOST_HEADS = 48, 64
AWAITED = 16
"""Positions of a head that is not there yet, where the probe is not, either."""


def probe_tokens(run: Run) -> dict[str, list[str]]:
    """The labels of the probe's positions by side; {} before the run has begun."""
    try:
        tokens = run.folder.probe().get("tokens")
    except ValueError:
        return {}
    if not isinstance(tokens, dict):
        return {}
    return {side: [str(t) for t in labels] for side, labels in tokens.items() if isinstance(labels, list)}


def pictures_panel(run: Run) -> list[list[Panel]]:
    """Ten originals above their reconstructions, the last that were made; [] where there are none."""
    rows: list[list[Panel]] = []
    steps = run.folder.picture_steps()
    if not steps:
        return rows
    # [picture, row, column]
    arrays = _kept(("pictures", run.id, steps[-1]), lambda: run.folder.pictures(steps[-1]))
    for name, title in (("originals", "original"), ("pictures", "made")):
        pictures = arrays.get(name)
        if pictures is not None and pictures.ndim == 3 and len(pictures):
            shown = enumerate(pictures[:PICTURES].astype(np.float16), start=1)
            rows.append([picture_panel(f"{title} {number}", picture) for number, picture in shown])
    return rows


def picture_panel(title: str, picture: np.ndarray) -> Matrix:
    """A small picture [row, column], bright where its values are high."""
    axes: dict[str, Any] = {"row_axis": "row", "column_axis": "column", "quantity": "brightness"}
    return Matrix(title=title, values=picture, scale="weights", small=True, **axes)


def sample_text(samples: object) -> str:
    """A model's samples, one after another, as plain text; "" where it made pictures, or nothing."""
    blocks = []
    for sample in samples[:6] if isinstance(samples, list) else ():
        if not isinstance(sample, dict):
            continue
        prompt, answer, target = (str(sample.get(name) or "")[:2_000] for name in ("given", "made", "wanted"))
        if not answer:
            continue
        parts = [f"given   {prompt}"] if prompt else []
        parts.append(f"made    {answer}")
        if target:
            parts.append(f"wanted  {target}  {'✓' if answer == target else '✗'}")
        blocks.append("\n".join(parts))
    return "\n\n".join(blocks)


def head_rows(run: Run, steps: Sequence[int]) -> tuple[list[list[Panel]], list[int]]:
    """Thumbnails of every head, and the steps of their frames: as many of `steps` as a message holds."""
    first = patterns_at(run, steps[-1]) if steps else {}
    if not first:
        return [], []
    frame_steps = [steps[at] for at in fitting_frames(len(steps), size_of(first))]
    frames = [(step, patterns) for step in frame_steps if (patterns := patterns_at(run, step))]
    rows = grid([patterns for _, patterns in frames], probe_tokens(run))
    return rows, [step for step, _ in frames]


def awaited_rows(run: Run) -> list[list[Panel]]:
    """Empty thumbnails where the heads of a run will be, so that nothing moves when the first ones come."""
    model, tokens = runs.described(run)["model"], probe_tokens(run)
    n_layers, n_heads, kind = (model.get(name) for name in ("n_layers", "n_heads", "kind"))
    if not (isinstance(n_layers, int) and isinstance(n_heads, int)):
        return []
    n_layers, n_heads = min(n_layers, MOST_LAYERS), min(max(n_heads, 1), MOST_HEADS)

    def blank(stack: str) -> np.ndarray:
        lengths = [len(tokens.get(side, ())) or AWAITED for side in sides_of(stack)]
        return np.zeros((n_heads, *lengths), dtype=np.float16)  # [head, query, key]

    both = ["encoder.self", "decoder.self", "decoder.cross"]
    has = {"encoder-only": ["encoder.self"], "decoder-only": ["decoder.self"]}.get(str(kind), both)
    patterns = {
        f"{attention_at(stack, layer)}.pattern": blank(stack) for stack in has for layer in range(n_layers)
    }
    return grid([patterns], tokens)


MOST_LINES, MOST_NAMED, MOST_SNAPSHOTS = 64, 16, 60
USUAL, INDUCTION = "entropy", "induction"
_TITLES = {measure.name: measure.title for measure in MEASURES}
_SHARES = {measure.name for measure in MEASURES if measure.label} | {"confidence", "punctuation", "rare"}
Measured = dict[str, dict[str, float]]  # head -> measure -> value


def measured(run: Run, step: int, tokens: Mapping[str, Sequence[str]]) -> Measured:
    """All measures of every head at a snapshot, computed once; {} where it cannot be read."""

    def make() -> tuple[Measured, int]:
        measured_heads: Measured = {}
        patterns = patterns_at(run, step)
        for address in addresses(patterns):
            pattern = patterns[address]
            where = Address.parse(address)
            labels = tokens.get(where.keys_stack)
            labels = labels if labels and len(labels) == pattern.shape[-1] else None
            try:
                scores = head_scores(pattern.astype(np.float64), cross=where.kind == "cross", tokens=labels)
            except ValueError:
                continue  # no pattern, or rows that sum to neither 0 nor 1
            for head in range(len(pattern)):
                name = title(address, head, several=len(tokens) > 1)
                measured_heads[name] = {measure: float(values[head]) for measure, values in scores.items()}
        return measured_heads, 200 * (1 + sum(map(len, measured_heads.values())))

    return cast(Measured, cache.cached(cache.payloads, ("measures", run.id, step), make))


def measure_of(run: Run, view: View) -> str:
    """The measure of every head that a view shows of a run: where it names none, that of the run's task."""
    task = runs.described(run)["task"].get("name")
    return view.measure or (INDUCTION if task == INDUCTION else USUAL)


def head_curves(
    run: Run, entries: Sequence[dict[str, Any]], x: np.ndarray, view: View, **more: Any
) -> Curves | None:
    """The measure of every head at every snapshot, or at some where there are many; None without any.

    Of many heads, each layer has one colour; 64 at most.
    """
    tokens, steps = probe_tokens(run), run.folder.snapshots()
    places = sorted(set(np.linspace(0, len(steps) - 1, min(len(steps), MOST_SNAPSHOTS)).round().astype(int)))
    steps = [steps[at] for at in places]
    by_step = [measured(run, step, tokens) for step in steps]
    measure = measure_of(run, view)
    last = by_step[-1] if by_step else {}
    names = [name for name, scores in last.items() if measure in scores][:MOST_LINES]
    if not names or len(steps) < 2:
        return None
    at = curves.places(entries, np.array(steps, dtype=np.float64), view)
    layers = list(dict.fromkeys(name.rsplit(" ", 1)[0] for name in names))
    curve_lines, few = [], len(names) <= MOST_NAMED
    for head, name in enumerate(names):
        layer = name.rsplit(" ", 1)[0]
        values = np.array([scores.get(name, {}).get(measure, np.nan) for scores in by_step])
        y, colour = np.interp(x, at, values, right=np.nan), head if few else layers.index(layer)
        dashed, listed = few and layer.endswith("L0"), few or name.endswith(" H0")
        curve_lines.append(Line(y=y, name=name, colour=colour, dashed=dashed, listed=listed))
    title = f"{_TITLES[measure]} of every head" if few else f"{_TITLES[measure]}, a colour a layer"
    y_range = (0, 1) if measure in _SHARES else None
    linear = replace(view, log_y=False)  # measures are shares, nats and distances that reach 0
    return curves.chart(title, curve_lines, x, linear, y_range=y_range, **more)


COPIES, BEGINS = 0.5, 0.1
"""A head copies that gives half of its attention to the next token; it has begun where it gives 0.1 more than
at the start: of a short text, chance alone gives much.
"""


def at_work(run: Run, steps: Sequence[int]) -> tuple[str, tuple[float, ...]]:
    """The head that does the task best at the last of these snapshots, with its share of `copying` at the
    first and there; where the task copies nothing, the one that has changed most, with (); of none "".
    """
    if not steps:
        return "", ()
    first, last, tokens = patterns_at(run, steps[0]), patterns_at(run, steps[-1]), probe_tokens(run)
    info = tasks_on_offer.task_of(runs.described(run))
    shares, changes = dict[str, tuple[float, ...]](), dict[str, float]()
    for address in addresses(last):
        pattern = last[address]
        names = [title(address, head, several=len(tokens) > 1) for head in range(len(pattern))]
        before, read = first.get(address, pattern[:0]), tokens.get("decoder", ())
        if before.shape != pattern.shape:
            continue
        moved = np.abs(pattern.astype(np.float32) - before).mean((1, 2))
        changes |= dict(zip(names, moved.tolist(), strict=True))
        if address.startswith("decoder") and pattern.shape[1:] == (len(read), len(read)):
            copied = [
                copying(each, read) if info and info.group == "Algorithms" else []
                for each in (before, pattern)
            ]
            shares |= dict(zip(names, zip(*copied, strict=True), strict=False))
    if shares:
        best = max(shares, key=lambda name: shares[name][-1])
        return best, shares[best]
    return max(changes, key=changes.__getitem__, default=""), ()


def copying(pattern: np.ndarray, tokens: Sequence[str]) -> list[float]:
    """The share of each head's attention on tokens like the next one, a mean over the queries that have one
    before them, from "=" on where it stands; [] where no query has. pattern: [head, query, key].
    """
    names = np.array(tokens)
    wanted = np.tril(names[1:, None] == names[None, :-1])  # [query, key]
    wanted[: tokens.index("=") if "=" in tokens else 0] = False
    asks = wanted.any(1)
    shares = (pattern[:, :-1, :-1].astype(np.float64) * wanted).sum(-1)  # [head, query]
    return list(shares[:, asks].mean(-1).tolist()) if asks.any() else []
