"""Names and values in sentences that refuse them."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: object, known: Iterable[str]) -> str:
    """The remedy for a name that is not known."""
    known = list(known)
    near = get_close_matches(str(name), known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"


def shortened(text: str, most: int = 40) -> str:
    """A value as a sentence quotes it, whatever its length."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
