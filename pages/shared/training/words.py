"""Numbers of a run in words: times and scores."""

from __future__ import annotations

import math
import re


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
    """Text that Streamlit's labels show as it stands: none of it is Markdown."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$:<>|~&^=])", r"\\\1", " ".join(text.split()))


def score(name: str, value: float) -> str:
    """A score as it is usually given: shares in per cent, other numbers with their digits."""
    if is_share(name):
        return f"{100 * value:.1f} %"
    return f"{value:.3f}"


def is_share(name: str) -> bool:
    """Whether a score is a share of right answers. Errors and bits are not, whatever their size."""
    return not any(word in name.lower() for word in ("error", "loss", "bits", "perplexity", "variance"))
