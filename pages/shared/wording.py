"""Names and numbers in words, for every page."""

import math
import re
from collections.abc import Sequence


def numbered(names: Sequence[str]) -> list[str]:
    """Names for rows, columns and boxes; one that stands twice gets its number: the 1, cat, the 2."""
    return [
        f"{name} {names[: at + 1].count(name)}" if names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]


def short(value: float) -> str:
    """Three digits, and powers of ten where there would be many zeros: 0.31, 2,480, 2.1 × 10⁻⁷, ∞."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "NaN"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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


def plain(text: str) -> str:
    """Text that Streamlit's labels and Markdown show as it stands: none of it is Markdown, or a link.

    Escapes do not keep an address from becoming a link, so an invisible character splits it.
    """
    parted = _ADDRESS.sub(rf"\g<0>{_UNSEEN}", " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$:<>|~&^=])", r"\\\1", parted)


_ADDRESS = re.compile(r"https?(?=://)|www(?=\.)|@", re.IGNORECASE)
_UNSEEN = "\N{WORD JOINER}"
