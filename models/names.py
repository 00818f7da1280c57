"""The one remedy for a name that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: object, known: Iterable[str]) -> str:
    """The remedy for a name that is not known."""
    known = list(known)
    near = get_close_matches(str(name), known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
