"""A board: rows of panels, a sentence to notice in them, and the control that chooses their frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from viz_core._checks import check_axes, check_length
from viz_core.boards.panels import Bars, Curves, Facts, Panel, Table


@dataclass(frozen=True, kw_only=True)
class Scrub:
    """A control that chooses the frame: input `field` of the page takes one of `values` [frame].

    words: what is written beside it at each frame; by default the value itself. speed: frames a second when
    it is played. plays: it begins to play by itself once a person has changed what the frames show.
    """

    field: str
    label: str
    values: np.ndarray
    words: Sequence[str] = ()
    speed: int | float = 12
    plays: bool = False

    def __post_init__(self) -> None:
        check_axes("values", self.values, "frame")
        check_length("words", self.words, len(self.values))


@dataclass(frozen=True, kw_only=True)
class Board:
    """Rows of panels, and the sentence to notice in them: one, or one a frame. **Stars** make words bold."""

    rows: Sequence[Sequence[Panel]]
    notice: str | Sequence[str]
    scrub: Scrub | None = None

    def __post_init__(self) -> None:
        n_frames = len(self.scrub.values) if self.scrub else 0
        if not isinstance(self.notice, str):
            check_length("notice", self.notice, n_frames, needed=True)
        for name, array, own_axes in _framed([panel for row in self.rows for panel in row]):
            if array.ndim > own_axes and len(array) != n_frames:
                raise ValueError(
                    f"{name} has {len(array)} frames, the scrub {n_frames}; give one for each of its values"
                )


def has_frames(panel: Panel) -> bool:
    """Whether anything in a panel depends on the frame."""
    return any(array.ndim > own_axes for _, array, own_axes in _framed([panel]))


def _framed(panels: Sequence[Panel]) -> list[tuple[str, np.ndarray, int]]:
    """Every array that may have frames: (name, array, axes it has without them)."""
    axes = {"values": 2, "vectors": 2, "lit": 2, "marked": 2, "levels": 1}
    found: list[tuple[str, np.ndarray, int]] = []
    for panel in panels:
        if isinstance(panel, Facts):
            found += [(f.label, f.values, 0) for f in panel.facts if isinstance(f.values, np.ndarray)]
        elif isinstance(panel, Curves):
            found += [(line.name, array, 1) for line in panel.lines for array in line.arrays]
            found += [("at", panel.at, 0)] if panel.at is not None else []
        elif isinstance(panel, Bars):
            found.append((panel.title or "values", panel.values, 1))
        elif isinstance(panel, Table):
            found += [("marked", panel.marked, 1)] if panel.marked is not None else []
        else:
            for spec in fields(panel):
                array = getattr(panel, spec.name)
                if spec.name in axes and isinstance(array, np.ndarray):
                    found.append((spec.name, array, axes[spec.name]))
    return found
