"""Shares in per cent."""

import math


def percent(share: float) -> str:
    """A share as "92%". One that is not whole is never rounded up to 100%: 0.9992 is "99.9%"."""
    rounded = f"{share:.0%}"
    return rounded if share >= 1 or rounded != "100%" else f"{math.floor(1_000 * share) / 10:.1f}%"
