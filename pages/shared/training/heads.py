"""The probe's attention as thumbnails of all heads, beside the one that is open."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from models.byte_units import MB
from viz_core.boards import Matrix, Panel
from viz_core.labels import tick_labels

ACROSS = 8
FRAME_BYTES = 6 * MB
"""All frames together; a board's message may hold 8 MB."""

_ADDRESS = re.compile(r"(encoder|decoder)\.(\d{1,4})\.(self|cross)\.pattern")
_ORDER = {"encoder.self": 0, "decoder.self": 1, "decoder.cross": 2}
Patterns = Mapping[str, np.ndarray]  # address -> [head, query, key]


def addresses(patterns: Patterns) -> list[str]:
    """The patterns among a snapshot's tensors, stack by stack, lower layers first."""
    found = [(match, address) for address in patterns if (match := _ADDRESS.fullmatch(address))]
    return [a for _, a in sorted(found, key=lambda each: (_ORDER[_stack(each[0])], int(each[0][2])))]


def kept(count: int, frame_bytes: int) -> list[int]:
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


def large(rows: Sequence[Sequence[Panel]], title: str) -> Matrix | None:
    """The large matrix, which shows the head of this title first; None where there are no heads."""
    small = [panel for row in rows for panel in row if isinstance(panel, Matrix)]
    if not small:
        return None
    first = next((panel for panel in small if panel.title == title), small[-1])
    shown: dict[str, Any] = {name: getattr(first, name) for name in ("title", "values", "rows", "columns")}
    return Matrix(**shown, scale="weights", row_axis="query", column_axis="key", picture=True, large=True)


def title(address: str, head: int, *, several: bool) -> str:
    """What a head is called on a board: L1 H3, and in front the stack where a model has several."""
    match = _ADDRESS.fullmatch(address)
    assert match, address
    return f"{_PREFIX[_stack(match)] if several else ''}L{match[2]} H{head}"


def _thumbnails(
    frames: Sequence[Patterns], address: str, tokens: Mapping[str, Sequence[str]]
) -> list[Matrix]:
    shape = frames[-1][address].shape
    if any(address not in frame or frame[address].shape != shape for frame in frames) or len(shape) != 3:
        return []
    stack = [frame[address].astype(np.float16, copy=False) for frame in frames]
    side = address.split(".")[0]
    rows = _labels(tokens.get(side), shape[1])
    columns = _labels(tokens.get("encoder" if ".cross." in address else side), shape[2])
    return [
        Matrix(
            title=title(address, head, several=len(tokens) > 1),
            values=stack[0][head] if len(stack) == 1 else np.stack([pattern[head] for pattern in stack]),
            scale="weights",
            rows=rows,
            columns=columns,
            row_axis="query",
            column_axis="key",
            small=True,
        )
        for head in range(shape[0])
    ]


_PREFIX = {"encoder.self": "enc ", "decoder.self": "dec ", "decoder.cross": "cross "}


def _stack(match: re.Match[str]) -> str:
    return f"{match[1]}.{match[3]}"


def _labels(tokens: Sequence[str] | None, count: int) -> list[str]:
    """A label per position; none where the probe's words do not fit the pattern."""
    if tokens is None or len(tokens) != count:
        return []
    return tick_labels([str(token) for token in tokens], escaped=False)
