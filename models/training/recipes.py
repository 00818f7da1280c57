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


_ALONE = {"threads": 1}  # the same numbers on any machine of this kind
_TEXT = {"source": "tiny-shakespeare"}
_LONG = {"steps": 1200, "batch_size": 8, "learning_rate": 4e-3, **_ALONE}
_NONSENSE = "It writes lines that look like Shakespeare's and mean little."
_SPEECH = "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n"

RECIPES: dict[str, Recipe] = {
    "induction": Recipe(
        task="induction",
        summary="Two layers that learnt to look up what came after a letter the first time",
        examples=(
            ("twice", "RtnuOIVwNfpRtnuOIVwNfp", "the diagonal in the second half: an induction head"),
            ("short", "abcdabcd", "each letter of the second half looks behind its first self"),
            ("broken", "kBmPzqkBmPzU", "a letter that never was has nowhere to look"),
        ),
        training={"steps": 800, **_ALONE},
        keeps_run=True,
    ),
    "shakespeare": Recipe(
        task="language-model",
        summary="Writes Shakespeare letter by letter",
        examples=(
            ("speak", "First Citizen:\nBefore we proceed any", "which letters a head looks back to"),
            ("romeo", "ROMEO:\nBut soft, what light through yonder", "the name in capitals, then a line"),
            ("spaces", "To be, or not to be, that is the", "heads that look at the last space"),
        ),
        options=_TEXT,
        training={"steps": 2000, "learning_rate": 3e-3, "warmup_steps": 100, **_ALONE},
        limits=_NONSENSE,
    ),
    "masked": Recipe(
        task="masked",
        summary="Tells hidden words from those around them, as BERT does",
        examples=(
            ("cross", "the animal did not cross the [MASK] because it was too tired", "what is crossed?"),
            ("pronoun", "the animal did not cross the street because [MASK] was too wide", "it, not they"),
            ("number", "the [MASK] did not read the letters because they were too long", "who reads?"),
        ),
        options={"vocabulary": 2000},
        training={"steps": 3000, "batch_size": 64, **_ALONE},
        limits="It knows the sentences of its own grammar only.",
    ),
    "sentiment": Recipe(
        task="sentiment",
        summary="Praise or blame: reads reviews, and what negation and contrast make of them",
        examples=(
            ("contrast", "the plot was dull , but the acting was superb .", "what follows but decides"),
            ("negation", "the story was not good .", "not turns good round"),
            ("anything but", "the acting was anything but boring .", "two words that turn the third round"),
            ("although", "although the music was lovely , the ending was weak .", "the main clause decides"),
        ),
        training=_ALONE,
        limits="It knows the words and patterns of its own corpus only.",
    ),
    "digits-autoencoder": Recipe(
        task="digits-autoencoder",
        summary="Rebuilds 8 x 8 pictures of digits from their rows",
        examples=(("first", "1", "the picture, and what it became"), ("another", "7", "another hand")),
        training=_ALONE,
    ),
    "digits-classifier": Recipe(
        task="digits-classifier",
        summary="Says which digit an 8 x 8 picture shows",
        examples=(("first", "1", "the rows that [CLS] looks at"), ("another", "7", "another digit")),
        training=_ALONE,
    ),
    "long-memory": Recipe(
        task="long-context",
        summary="Transformer-XL on letters of Shakespeare: a segment, and a memory of the one before",
        examples=(("speech", _SPEECH, "heads that look beyond their segment, into the memory"),),
        options={**_TEXT, "attention": "transformer-xl"},
        training=_LONG,
        limits=_NONSENSE,
    ),
    "sparse": Recipe(
        task="long-context",
        summary="Sparse attention on letters of Shakespeare: a block, and the last letters of earlier ones",
        examples=(("speech", _SPEECH, "columns that all later blocks look at"),),
        options={**_TEXT, "attention": "fixed"},
        training=_LONG,
        limits=_NONSENSE,
    ),
}
