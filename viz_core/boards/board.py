"""A board: rows of panels, a sentence to notice in them, and the control that chooses their frame."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz_core._checks import check_axes, check_length
from viz_core.boards.panel import Panel


@dataclass(frozen=True, kw_only=True)
class Scrub:
    """A control that chooses the frame: input `field` of the page takes one of `values` [frame].

    words: the text beside it at each frame; by default the value itself. speed: frames per second while it
    plays. plays: it begins to play by itself once a person has changed what the frames show.
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
    """Rows of panels, and a sentence about them: one, or one per frame. **Stars** make words bold."""

    rows: Sequence[Sequence[Panel]]
    notice: str | Sequence[str]
    scrub: Scrub | None = None

    def __post_init__(self) -> None:
        n_frames = len(self.scrub.values) if self.scrub else 0
        if not isinstance(self.notice, str):
            check_length("notice", self.notice, n_frames, needed=True)
        for name, array, own_axes in [each for row in self.rows for panel in row for each in panel.framed()]:
            if array.ndim > own_axes and len(array) != n_frames:
                raise ValueError(
                    f"{name} has {len(array)} frames, the scrub {n_frames}; give one for each of its values"
                )
