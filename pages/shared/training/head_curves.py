"""A measure of every head over a run's snapshots, for every task."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from pages.shared import cache
from pages.shared.training import curves, figures, heads, snapshots
from pages.shared.training.curves import View
from pages.shared.training.runs import Run
from viz_core.boards import Curves, Line
from viz_core.measures import MEASURES, head_scores

MOST_LINES, MOST_NAMED, MOST_SNAPSHOTS = 64, 16, 60
USUAL = "entropy"
_TITLES = {measure.name: measure.title for measure in MEASURES}
_SHARES = {measure.name for measure in MEASURES if measure.label} | {"confidence", "punctuation", "rare"}
Measured = dict[str, dict[str, float]]  # head -> measure -> value


def measured(run: Run, step: int, tokens: Mapping[str, Sequence[str]]) -> Measured:
    """All measures of every head at a snapshot, computed once; {} where it cannot be read."""

    def make() -> tuple[Measured, int]:
        found: Measured = {}
        patterns = snapshots.patterns(run, step)
        for address in heads.addresses(patterns):
            pattern = patterns[address]
            side, _, kind, _ = address.split(".")
            labels = tokens.get("encoder" if kind == "cross" else side)
            labels = labels if labels and len(labels) == pattern.shape[-1] else None
            try:
                scores = head_scores(pattern.astype(np.float64), cross=kind == "cross", tokens=labels)
            except ValueError:
                continue  # no pattern, or rows that sum to neither 0 nor 1
            for head in range(len(pattern)):
                name = heads.title(address, head, several=len(tokens) > 1)
                found[name] = {measure: float(values[head]) for measure, values in scores.items()}
        return found, 200 * (1 + sum(map(len, found.values())))

    return cast(Measured, cache.cached(cache.payloads, ("measures", run.id, step), make))


def head_curves(
    run: Run, entries: Sequence[dict[str, Any]], x: np.ndarray, view: View, usual: str = USUAL, **more: Any
) -> Curves | None:
    """The measure of every head at every snapshot, or at some where there are many; None without any.

    usual: the measure where the view names none. Of many heads, each layer has one colour; 64 at most.
    """
    tokens, steps = figures.probe_tokens(run), run.folder.snapshots()
    kept = sorted(set(np.linspace(0, len(steps) - 1, min(len(steps), MOST_SNAPSHOTS)).round().astype(int)))
    steps = [steps[at] for at in kept]
    found = [measured(run, step, tokens) for step in steps]
    measure = view.measure or usual
    names = [name for name, scores in (found[-1] if found else {}).items() if measure in scores][:MOST_LINES]
    if not names or len(steps) < 2:
        return None
    at = curves.places(entries, np.array(steps, dtype=np.float64), view)
    layers = list(dict.fromkeys(name.rsplit(" ", 1)[0] for name in names))
    drawn = []
    for head, name in enumerate(names):
        layer = name.rsplit(" ", 1)[0]
        values = np.array([scores.get(name, {}).get(measure, np.nan) for scores in found])
        few = len(names) <= MOST_NAMED
        line = Line(
            y=np.interp(x, at, values, right=np.nan),
            name=name,
            colour=head if few else layers.index(layer),
            dashed=few and layer.endswith("L0"),
            listed=few or name.endswith(" H0"),
        )
        drawn.append(line)
    title = (
        f"{_TITLES[measure]} of every head"
        if len(names) <= MOST_NAMED
        else f"{_TITLES[measure]}, a colour a layer"
    )
    y_range = (0, 1) if measure in _SHARES else None
    return curves.chart(title, drawn, x, _linear(view), y_range=y_range, **more)


def best(scores: Curves) -> str:
    """The head with the highest measure at the last snapshot."""
    last = [line.y[np.isfinite(line.y)][-1] for line in scores.lines]
    return scores.lines[int(np.argmax(last))].name


def _linear(view: View) -> View:
    """Measures are shares, nats and distances that reach 0."""
    return replace(view, log_y=False)
