"""The sentence to notice, and where the scrub stands, as lines of text."""

import textwrap

from viz_core.boards.board import Scrub
from viz_core.boards.sheet import word
from viz_core.labels import escape
from viz_core.numbers import tick

NOTICE_LINE, NOTICE_SIZE = 22, 16


def notice_lines(notice: str, width: int | float) -> list[str]:
    """The sentence to notice, bold between **stars**, in lines of about `width` pixels."""
    lines, bold = [], False
    for line in textwrap.wrap(notice, int(width / (0.52 * NOTICE_SIZE))):
        parts = line.split("**")
        marked = [
            f"<b>{escape(part)}</b>" if bold != bool(at % 2) else escape(part)
            for at, part in enumerate(parts)
        ]
        lines.append("".join(marked))
        bold ^= len(parts) % 2 == 0
    return lines


def scrub_words(scrub: Scrub, frame: int) -> str:
    """What is written beside the scrub at a frame."""
    if scrub.words:
        return word(scrub.words[frame], 80)
    return tick(float(f"{float(scrub.values[frame]):.3g}"))
