"""How each shipped model is trained, and what its card says of it beyond the numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Examples = tuple[tuple[str, str, str], ...]
"""(label, text to type, what to see)."""
_FEW = "It is small and was trained for minutes: a model to look into, not to work with."


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A task with its options, what differs from the task's own sizes and training, and words for the card.

    keeps_run: the run's curves and snapshots ship, too, so that its heads can be watched as they form.
    """

    task: str
    summary: str
    examples: Examples
    options: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    limits: str = _FEW
    keeps_run: bool = False


_SHAKESPEARE = "It writes lines that look like Shakespeare's and mean little."
_TWO_CPU = {"threads": 2}
_LONG = {"source": "tiny-shakespeare"}

RECIPES: dict[str, Recipe] = {
    "induction": Recipe(
        task="induction",
        summary="Two layers that learnt to look up what came after a letter the first time",
        examples=(
            ("twice", "RtnuOIVwNfpRtnuOIVwNfp", "the diagonal in the second half: an induction head"),
            ("short", "abcdabcd", "each letter of the second half looks behind its first self"),
            ("broken", "kWmPzqkWmPzX", "a letter that never was has nowhere to look"),
        ),
        training=_TWO_CPU,
        keeps_run=True,
    ),
    "sentiment": Recipe(
        task="sentiment",
        summary="Praise or blame: reads reviews, and what negation and contrast make of them",
        examples=(
            ("contrast", "the plot was dull , but the acting was superb .", "what follows but decides"),
            ("negation", "the story was not good .", "not turns good round"),
            ("although", "although the music was lovely , the ending was weak .", "the main clause decides"),
        ),
        training=_TWO_CPU,
    ),
    "digits-autoencoder": Recipe(
        task="digits-autoencoder",
        summary="Rebuilds 8 x 8 pictures of digits from their rows, some of them hidden",
        examples=(("first", "1", "the picture and what it became"), ("another", "7", "another hand")),
        training=_TWO_CPU,
    ),
    "digits-classifier": Recipe(
        task="digits-classifier",
        summary="Says which digit an 8 x 8 picture shows",
        examples=(("first", "1", "the rows that [CLS] looks at"), ("another", "7", "another digit")),
        training=_TWO_CPU,
    ),
}
