"""What the parts of this page share: two colours that mean the same in all of them, and words for numbers."""

from __future__ import annotations

import math

from viz_core.boards import Colour

AS_IT_IS: Colour = 7
SCALED: Colour = "accent"


def short(value: float) -> str:
    """Three digits, and powers of ten where there would be many zeros: 0.31, 2.1 × 10⁻⁷, ∞."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "NaN"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
