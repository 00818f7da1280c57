"""Special tokens, such as [CLS], left out of what is shown of a pattern, with or without renormalising.

Hidden queries and keys get the weight 0; what was there is told beside, so that nothing is lost in silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pages.explore.state import SPECIALS
from pages.explore.subject import Stack, Subject

SHOWN, HIDDEN, RENORMALISED = SPECIALS
FOR_WORDS = ("[MASK]", "<mask>", "[UNK]", "<unk>")
"""Special tokens that stand for a word of the text: they are not hidden."""

Patterns = Float[np.ndarray, "head query key"]
Rows = Float[np.ndarray, "head query"]


def special_positions(subject: Subject) -> dict[str, list[int]]:
    """Where the special tokens of each side stand; none where a side has no others."""
    return {side: _special(tokens) for side, tokens in subject.tokens.items()}


def _special(tokens: Sequence[dict[str, str]]) -> list[int]:
    found = [
        at
        for at, token in enumerate(tokens)
        if token.get("mark") == "special" and token["text"] not in FOR_WORDS
    ]
    return found if len(found) < len(tokens) else []


@dataclass(frozen=True)
class Hiding:
    """Which queries and keys of a stack may be hidden."""

    queries: tuple[int, ...]
    keys: tuple[int, ...]

    @property
    def any(self) -> bool:
        return bool(self.queries or self.keys)

    def on_hidden(self, pattern: Patterns) -> Rows:
        """The weight of each row that lies on hidden keys."""
        return pattern[..., list(self.keys)].sum(-1, dtype=np.float64)

    def left(self, pattern: Patterns) -> Rows:
        """The weight of each row that lies on all other keys."""
        return np.delete(pattern, list(self.keys), axis=-1).sum(-1, dtype=np.float64)

    def mean_hidden(self, pattern: Patterns) -> Float[np.ndarray, "head"]:
        """The weight on hidden keys of a head's rows that are shown, on average."""
        return np.delete(self.on_hidden(pattern), list(self.queries), axis=-1).mean(-1)

    def shown(self, pattern: Patterns, how: str) -> Patterns:
        """The pattern as it is shown; a row of which nothing is left stays 0."""
        if how == SHOWN or not self.any:
            return pattern
        shown = pattern.copy()
        shown[..., list(self.queries), :] = 0
        shown[..., list(self.keys)] = 0
        if how == RENORMALISED:
            left = self.left(pattern)[..., None]
            shown = (shown / np.where(left > 0, left, 1)).astype(pattern.dtype)
        return shown


def hiding_code(hiding: Hiding, how: str) -> list[str]:
    """The lines of Python that leave special tokens out of `pattern` [query, key], a tensor."""
    if how == SHOWN or not hiding.any:
        return []
    lines = [
        f"queries = [at for at in range(len(pattern)) if at not in {hiding.queries}]  # no special tokens",
        f"keys = [at for at in range(pattern.shape[1]) if at not in {hiding.keys}]",
        "pattern = pattern[queries][:, keys]",
    ]
    if how == RENORMALISED:
        lines += [
            "left = pattern.sum(-1, keepdim=True)",
            "pattern = pattern / left.where(left > 0, 1)  # a row of which nothing is left stays 0",
        ]
    return lines


def hiding_of(subject: Subject, stack: Stack) -> Hiding:
    """Which queries and keys of a stack are special tokens."""
    special = special_positions(subject)
    return Hiding(tuple(special[stack.query_side]), tuple(special[stack.key_side]))
