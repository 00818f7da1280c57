"""Numbers as texts, the same in figures, sentences and files; browser/numbers.js writes them alike."""

import math
from typing import SupportsFloat

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(value: SupportsFloat, digits: int = 2) -> str:
    """A number with so many digits: −0.31; a smaller one with a power of ten: 2.4 × 10⁻⁷."""
    value = float(value)
    if not math.isfinite(value):
        return _not_finite(value)
    if value != 0 and abs(value) < 0.5 * 10**-digits:
        return scientific(value)
    return f"{value:z.{digits}f}".replace("-", "−")


def brief(value: SupportsFloat, digits: int = 2) -> str:
    """A number for little room: a tiny one has no power of ten."""
    return "≈0" if float(value) != 0 and abs(float(value)) < 0.5 * 10**-digits else written(value, digits)


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
        return scientific(value, 0).removeprefix("1 × ").replace("−1 × ", "−")
    return f"{float(f'{value:.4g}'):,.10g}".replace("-", "−")


def scientific(value: SupportsFloat, digits: int = 1) -> str:
    """A number and its power of ten: −2.4 × 10⁻⁷."""
    mantissa, power = f"{float(value):.{digits}e}".split("e")
    return f"{mantissa} × {power_of_ten(int(power))}".replace("-", "−")


def power_of_ten(power: int) -> str:
    """A power of ten: 10⁻⁷."""
    return f"10{str(power).translate(_RAISED)}"


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
