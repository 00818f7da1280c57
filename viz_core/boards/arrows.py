"""Where the arrows of a diagram begin and end; pages/shared/board/arrows.js does alike."""

from collections.abc import Sequence

import numpy as np

from viz_core.boards.sheet import Pair

Line = tuple[Pair, Pair]


def arrows_of(edges: Sequence[Line], boxes: Sequence[Pair], size: Pair) -> list[Line]:
    """The lines of a diagram's arrows, which pass behind as few boxes as can be: all that lead to another row
    leave by the same sides. edges: from the centre of a box to that of another.
    """
    sideways, upright = ([_line(*edge, size, upright=way) for edge in edges] for way in (False, True))

    def crossings(lines: list[Line]) -> int:
        return sum(_passes(line, box, size) for line in lines for box in boxes)

    return upright if crossings(upright) < crossings(sideways) else sideways


def _line(start: Pair, end: Pair, size: Pair, *, upright: bool) -> Line:
    """From one side of a box to the facing side of another; upright: by top and bottom, where it can."""
    (x1, y1), (x2, y2) = start, end
    dx, dy = x2 - x1, y2 - y1
    if abs(dx) <= 1 or (upright and abs(dy) > 1):
        out = float(np.sign(dy)) * size[1] / 2
        return (x1, y1 + out), (x2, y2 - out)
    out = float(np.sign(dx)) * size[0] / 2
    return (x1 + out, y1), (x2 - out, y2)


def _passes(line: Line, box: Pair, size: Pair) -> bool:
    """Whether a line passes behind a box: no side of either parts them."""
    (x1, y1), (x2, y2) = line
    (wide, tall), (x, y) = size, box
    dx, dy = (x2 - x1) / 2, (y2 - y1) / 2
    right, down = x - x1 - dx, y - y1 - dy  # from the line's middle
    return bool(
        abs(right) < wide / 2 + abs(dx)
        and abs(down) < tall / 2 + abs(dy)
        and abs(dx * down - dy * right) < (wide * abs(dy) + tall * abs(dx)) / 2
    )
