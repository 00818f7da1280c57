"""What a recipe is: how a shipped model is trained, and what its card says of it beyond the numbers."""

from dataclasses import dataclass, field
from typing import Any

from models.data.grammar.lexemes import rows

Example = tuple[str, str, str] | tuple[str, str, str, dict[str, int]]
Examples = tuple[Example, ...]
"""(label, text to type, what to see, and where: a query, and the layer and head where they are others)."""
_FEW = "It is small and was trained for minutes: a model to look into, not to work with."


def examples_of(table: str) -> Examples:
    """The examples of a table with one a line: label | text | what to see."""
    return tuple((label, text, see) for label, text, see in rows(table))


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A task with its options, what differs from the task's own sizes and training, and words for the card.

    title: in pickers, where the name alone does not say enough. contrast: the model to compare it with, and
    the label of the button that opens it; models with the same memory read the same texts. note: what
    else is known of it.
    showcase: the view that Explore opens with, of the head whose story the first example tells.
    keeps_run: the run's curves and snapshots ship, too, so that its heads can be watched as they form.
    """

    task: str
    summary: str = ""
    title: str = ""
    contrast: dict[str, str] = field(default_factory=dict)
    memory: str = ""
    note: str = ""
    examples: Examples = ()
    options: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    limits: str = _FEW
    showcase: dict[str, Any] = field(default_factory=dict)
    keeps_run: bool = False
