"""Names and numbers in words, for every page."""

import math
import re
from collections.abc import Sequence

from attention_lab.viz_core.labels import tick_labels


def distinct(tokens: Sequence[str]) -> list[str]:
    """Names for tokens, all different, as every figure writes them: the, cat, the₂."""
    return tick_labels(tokens, escaped=False)


def numbered(names: Sequence[str]) -> list[str]:
    """Names for what is counted, such as boxes of a diagram: norm 1, attention, norm 2."""
    return [
        f"{name} {names[: at + 1].count(name)}" if names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]


def duration(seconds: float) -> str:
    """About how long: 8 s, 3 min 20 s, 2 h 5 min."""
    if not math.isfinite(seconds) or seconds < 0:
        return "unknown"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if minutes < 10 and rest else f"{minutes} min"
    hours, rest = divmod(whole // 60, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def capitalised(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def sentence(problem: str) -> str:
    """A problem as a sentence: a capital, but where it begins with what was typed, and its full stop."""
    if not problem:
        return ""
    begins_with_input = "=" in problem.split()[0]
    return f"{(problem if begins_with_input else capitalised(problem)).removesuffix('.')}."


def plain(text: str) -> str:
    """Text that Streamlit's labels and Markdown show as it stands: none of it is Markdown, or a link.

    Escapes do not keep an address from becoming a link, so an invisible character splits it.
    """
    parted = _ADDRESS.sub(rf"\g<0>{_UNSEEN}", " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$:<>|~&^=])", r"\\\1", parted)


_ADDRESS = re.compile(r"https?(?=://)|www(?=\.)|@", re.IGNORECASE)
_UNSEEN = "\N{WORD JOINER}"
