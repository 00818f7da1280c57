"""Tokens as axis labels: visible, unique, short, and safe to hand to plotly, which reads a subset of HTML."""

import html
import unicodedata
from collections import Counter
from collections.abc import Sequence

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
    shown = "␣" * start + "".join(_visible_character(c, lone) for c in inner) + "␣" * end
    return _cut(shown, max_length)


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
    taken, seen, labels = set(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        label = name
        if seen[name] > 1:
            while (label := name + str(seen[name]).translate(_SUBSCRIPTS)) in taken:
                seen[name] += 1  # the text itself may hold the token "the₂"
            taken.add(label)
        labels.append(escape(label) if escaped else label)
    return labels


def invisible_number(number: int) -> str:
    """A number in zero-width binary digits: tells labels apart for plotly that look alike to a reader."""
    return f"{number:b}".replace("0", "\u200b").replace("1", "\u2060")
