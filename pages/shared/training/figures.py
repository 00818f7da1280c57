"""Panels that Train and Runs share: the probe's heads, and pictures that were made."""

from collections.abc import Sequence

import numpy as np

from pages.shared.training import heads, runs, snapshots
from pages.shared.training.runs import Run
from viz_core.boards import Matrix, Panel

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


def pictures(run: Run, step: int) -> list[list[Panel]]:
    """Ten originals above their reconstructions at a step; [] where there are none."""
    arrays = snapshots.pictures(run, step)
    rows = [
        _row(arrays.get(name), title) for name, title in (("originals", "original"), ("pictures", "made"))
    ]
    return [row for row in rows if row]


def _row(pictures: np.ndarray | None, title: str) -> list[Panel]:
    if pictures is None or pictures.ndim != 3:
        return []
    return [
        Matrix(
            title=f"{title} {at + 1}",
            values=picture,
            scale="weights",
            quantity="brightness",
            row_axis="row",
            column_axis="column",
            small=True,
        )
        for at, picture in enumerate(pictures[:PICTURES].astype(np.float16))
    ]


def sample_text(samples: object) -> str:
    """A model's samples, one after another, as plain text; "" where it made pictures, or nothing."""
    blocks = []
    for sample in samples[:6] if isinstance(samples, list) else ():
        if not isinstance(sample, dict):
            continue
        given, made, wanted = (str(sample.get(name) or "")[:2_000] for name in ("given", "made", "wanted"))
        if not made:
            continue
        parts = [f"given   {given}"] if given else []
        parts.append(f"made    {made}")
        if wanted:
            parts.append(f"wanted  {wanted}  {'✓' if made == wanted else '✗'}")
        blocks.append("\n".join(parts))
    return "\n\n".join(blocks)


def head_rows(run: Run, steps: Sequence[int]) -> tuple[list[list[Panel]], list[int]]:
    """Thumbnails of every head, and the steps of their frames: as many of `steps` as a message holds."""
    first = snapshots.patterns(run, steps[-1]) if steps else {}
    if not first:
        return [], []
    shown = [steps[at] for at in heads.kept(len(steps), heads.size_of(first))]
    frames = [(step, found) for step in shown if (found := snapshots.patterns(run, step))]
    rows = heads.grid([found for _, found in frames], probe_tokens(run))
    return rows, [step for step, _ in frames]


def awaited_rows(run: Run) -> list[list[Panel]]:
    """Empty thumbnails where the heads of a run will be, so that nothing moves when the first ones come."""
    model, tokens = runs.described(run)["model"], probe_tokens(run)
    n_layers, n_heads, kind = (model.get(name) for name in ("n_layers", "n_heads", "kind"))
    if not (isinstance(n_layers, int) and isinstance(n_heads, int)):
        return []
    n_layers, n_heads = min(n_layers, MOST_LAYERS), min(max(n_heads, 1), MOST_HEADS)

    def blank(side: str, seen: str) -> np.ndarray:
        lengths = [len(tokens.get(each, ())) or AWAITED for each in (side, seen)]
        return np.zeros((n_heads, *lengths), dtype=np.float16)  # [head, query, key]

    stacks = {"encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "encoder"}
    has = {"encoder-only": ["encoder.self"], "decoder-only": ["decoder.self"]}.get(str(kind), list(stacks))
    patterns = {
        f"{side}.{layer}.{attention}.pattern": blank(side, stacks[f"{side}.{attention}"])
        for side, attention in (stack.split(".") for stack in has)
        for layer in range(n_layers)
    }
    return heads.grid([patterns], tokens)
