"""Labels: tokens, numbers and the names of axes as texts, and the room that these need.

Numbers are written the same in figures, sentences and files; browser/numbers.js writes them alike.
"""

import html
import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any, SupportsFloat

from . import theme

MAX_LENGTH = 16
_SYMBOLS = {"\n": "⏎", "\r": "␍", "\t": "⇥"}
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# Joiners and variation selectors hold emoji and scripts together: alone they are named, else they stay.
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"


def escape(text: str) -> str:
    """Text that plotly shows as typed: no tag, no entity, no `$` that a notebook's MathJax would typeset."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def visible(token: str, *, max_length: int = MAX_LENGTH) -> str:
    """A token with its blanks and control characters made visible, cut to `max_length` with a final `…`.

    Blanks at either end become `␣`, line breaks `⏎`, tabs `⇥`, an empty token `∅`; characters that
    would be invisible or would turn the writing direction round are named, such as `U+202E`.
    Not escaped: see `escape`.
    """
    if not token:
        return "∅"
    # Nothing after the cut is read, so a token of a million characters costs no more than a long one.
    token = token[: 4 * max_length + 4]
    inner = token.strip(" ")
    start = len(token) - len(token.lstrip(" ")) if inner else len(token)
    end = len(token) - start - len(inner)
    lone = all(character in _JOINERS for character in inner)
    text = "␣" * start + "".join(_visible_character(c, lone) for c in inner) + "␣" * end
    return _cut(text, max_length)


def _visible_character(character: str, lone: bool) -> str:
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    if character in _JOINERS:
        return f"U+{ord(character):04X}" if lone else character
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"U+{ord(character):04X}"
    return "␣" if unicodedata.category(character) == "Zs" and character != " " else character


def _cut(text: str, max_length: int) -> str:
    if len(text) <= max_length:
        return text
    end = max_length - 1
    while end > 1 and (
        unicodedata.combining(text[end]) or text[end] in _JOINERS or text[end - 1] in _JOINERS
    ):
        end -= 1
    return text[:end] + "…"


def tick_labels(tokens: Sequence[str], *, max_length: int = MAX_LENGTH, escaped: bool = True) -> list[str]:
    """One label per token, all different: the second `the` is `the₂`.

    Labels are escaped for plotly; with `escaped` false they are plain text (for a canvas, say).
    Raises ValueError when a string is handed in instead of a list.
    """
    if isinstance(tokens, str):
        raise ValueError(f"tokens={tokens[:40]!r} is one string; pass a list of strings, one per position")
    names = [visible(str(token), max_length=max_length) for token in tokens]
    names_in_use, counts, labels = set(names), Counter[str](), []
    for name in names:
        counts[name] += 1
        label = name
        if counts[name] > 1:
            while (label := name + str(counts[name]).translate(_SUBSCRIPTS)) in names_in_use:
                counts[name] += 1  # the text itself may hold the token "the₂"
            names_in_use.add(label)
        labels.append(escape(label) if escaped else label)
    return labels


def invisible_number(number: int) -> str:
    """A number in zero-width binary digits: tells labels apart for plotly that look alike to a reader."""
    return f"{number:b}".replace("0", "\u200b").replace("1", "\u2060")


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


TIMES = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"  # a number never breaks over lines


def decimal(value: SupportsFloat, digits: int = 2) -> str:
    """A number with so many digits: −0.31; a smaller one with a power of ten: 2.4 × 10⁻⁷."""
    value = float(value)
    if not math.isfinite(value):
        return _not_finite(value)
    if value != 0 and abs(value) < 0.5 * 10**-digits:
        return scientific(value)
    return f"{value:z.{digits}f}".replace("-", "−")


def brief(value: SupportsFloat, digits: int = 2) -> str:
    """A number for little room: a tiny one has no power of ten."""
    return "≈0" if float(value) != 0 and abs(float(value)) < 0.5 * 10**-digits else decimal(value, digits)


def short(value: SupportsFloat) -> str:
    """Three digits, and powers of ten where there would be many zeros: 0.31, 2,480, 2.1 × 10⁻⁷, ∞."""
    value = float(value)
    if not math.isfinite(value):
        return _not_finite(value)
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return scientific(value)
    return (f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}").replace("-", "−")


def tick(value: SupportsFloat) -> str:
    """What stands beside a tick: 0.25, 50,000, 10⁻⁷, 3 × 10⁶."""
    value = float(value)
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return scientific(value, 0).removeprefix(f"1{TIMES}").replace(f"−1{TIMES}", "−")
    return f"{float(f'{value:.4g}'):,.10g}".replace("-", "−")


def scientific(value: SupportsFloat, digits: int = 1) -> str:
    """A number and its power of ten: −2.4 × 10⁻⁷."""
    mantissa, power = f"{float(value):.{digits}e}".split("e")
    return f"{mantissa}{TIMES}{power_of_ten(int(power))}".replace("-", "−")


def power_of_ten(power: int) -> str:
    """A power of ten: 10⁻⁷."""
    return f"10{str(power).translate(_RAISED)}"


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"


SPACING = 14  # pixels from one label to the next, at least
TITLE_ROOM = 40


def heading(title: str | None) -> dict[str, Any]:
    """The figure's title, shown as typed."""
    return {"text": None if title is None else escape(title)}


def text_width(label: str, font_size: int | float) -> float:
    """The approximate width of an escaped label in pixels; East Asian characters and emoji count double."""
    plain = html.unescape(label)
    units = sum(1.7 if unicodedata.east_asian_width(c) in "WF" else 1.0 for c in plain)
    return units * font_size * 0.58


def label_room(labels: Sequence[str], font_size: int | float) -> float:
    """Pixels that the widest label needs."""
    return max(text_width(label, font_size) for label in labels)


def label_step(length: int, pixels: int | float) -> int:
    """The step between labelled positions at which the labels of `length` positions fit into `pixels`."""
    return max(1, -int(-length * SPACING // pixels))


def skipping(names: Sequence[str], step: int) -> str:
    """What an axis says that names only some of its entries: ` · every 2nd named`; numbers need none."""
    if step == 1 or all(name.lstrip("-−").isdecimal() for name in names):
        return ""
    return f" · every {step}{'nd' if step == 2 else 'rd' if step == 3 else 'th'} named"


def font_size(pixels_per_label: int | float) -> int:
    """The size of tick labels: 15 where there is room, never below 10."""
    return int(min(15, max(10, pixels_per_label * 0.75)))


def token_axis(
    role: str, names: Sequence[str], ticks: Sequence[str], texts: Sequence[str], *, size: int, dark: bool
) -> dict[str, Any]:
    """Layout of a category axis over unique `names`, with `texts` at `ticks`; `role` is "query" or "key"."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(names),
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": list(texts),
        "tickfont": {"size": size},
        "title": {"text": role, "font": {"color": theme.palette(dark)[role], "size": 16}},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "ticklabelstandoff": 6,
    }
