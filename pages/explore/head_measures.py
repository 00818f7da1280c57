"""What the measures say of the heads of each stack, as the browser gets it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from attention_lab.pages.explore.state import MOVED, Inputs
from attention_lab.pages.explore.subject import Stack, Subject, subject_of
from attention_lab.pages.shared import cache
from attention_lab.viz_core.measures import MEASURES, Measure, head_scores, map_of_heads, name_head
from attention_lab.viz_core.measures.several_heads import Plane

OFF = 1e-2
"""From 1, the sum of a row that a softmax has not made."""
ASKED = "encoder.self"
"""The stack in which a pronoun may look at the noun that it stands for."""

MOVEMENT = Measure(
    name=MOVED,
    title="moved by the edits",
    definition="The share of a query's weights that the edits moved to other keys.",
    formula="mean over q of ½ Σₖ |a′(q,k) − a(q,k)|",
    compute=lambda _: None,
    cross=True,
    source="total variation distance",
)
NAMED = "Pairs join each pronoun with its noun, as the model takes it."
IN_THE_TEXT = "Here, rarity is by counts in this text alone."
CROSS = "decoder.cross"
ALIGNED = (
    "Pairs join each written word with the words it translates, by the grammar or aligned by hand; "
    "articles count, and <eos> has none."
)


class Measured:
    """Takes each layer's pattern, and keeps no more of it than the rows of pronouns."""

    def __init__(self, subject: Subject) -> None:
        self._keys = {stack.id: subject.reading.tokens[stack.key_side] for stack in subject.stacks}
        self._scores: dict[str, list[dict[str, np.ndarray]]] = {stack.id: [] for stack in subject.stacks}
        self._pronouns, self._is_random = subject.pronouns, subject.is_random
        self._rows: list[np.ndarray] = []  # of each layer, [head, pronoun, key]
        self._rarity = subject.model.rarity(subject.reading)
        self._aligned = subject.model.alignments(subject.reading) or []
        self._pairs: dict[str, str] = {CROSS: ALIGNED} if self._aligned else {}  # by stack, what pairs are

    def take(self, stack: str, pattern: np.ndarray) -> None:
        """The next layer's pattern [head, query, key]."""
        cross, pattern = stack.endswith(".cross"), shares(pattern)
        sure = [(query, key) for query, key, is_sure in self._aligned if is_sure]
        pairs = {"pairs": [(query, key) for query, key, _ in self._aligned], "sure": sure}
        own: dict[str, Any] = pairs if stack == CROSS else {}
        counts = None if self._rarity is None else self._rarity.counts
        scores = head_scores(pattern, cross=cross, tokens=self._keys[stack], counts=counts, **own)
        self._scores[stack].append(scores)
        if stack == ASKED and self._pronouns:
            self._rows.append(pattern[:, self._pronouns])

    def agree(self, antecedents: Iterable[dict[str, Any]]) -> None:
        """Adds the measures of pairs: of each pronoun with the noun that the model takes it for."""
        nouns = {each["position"]: each["antecedent"] for each in antecedents}
        pairs = [(at, nouns[p]) for at, p in enumerate(self._pronouns) if nouns.get(p) is not None]
        self._pairs |= {ASKED: NAMED} if pairs else {}
        for scores, rows in zip(self._scores.get(ASKED, ()), self._rows, strict=False):
            of_pairs = head_scores(rows, cross=True, pairs=pairs) if pairs else {}
            scores |= {m.name: of_pairs[m.name] for m in MEASURES if m.needs == "pairs" and pairs}

    @property
    def notes(self) -> dict[str, str]:
        """What is said beside the definition of a measure, by its name."""
        return {"rare": IN_THE_TEXT if self._rarity is None else self._rarity.said}

    def of(self, stack: Stack) -> dict[str, Any]:
        """A number per head [layer * head] for each measure, and what each head is called."""
        layers = self._scores[stack.id]
        values = {name: np.concatenate([layer[name] for layer in layers]) for name in layers[0]}
        every = [dict(zip(values, head, strict=True)) for head in zip(*values.values(), strict=True)]
        return {
            "stats": {name: [round(float(value), 4) for value in of] for name, of in values.items()},
            "labels": [""] * len(every) if self._is_random else list(map(name_head, every)),
            "pairs": self._pairs.get(stack.id, ""),
        }


def shares(pattern: np.ndarray) -> np.ndarray:
    """The pattern as shares of each row's sum, where a sink or a person's own tensors make it not 1."""
    sums = pattern.sum(-1, keepdims=True)  # NumPy adds pairwise: far nearer to the sum than `OFF`
    off = (np.abs(sums - 1) > OFF) & (sums > 0)
    return np.where(off, pattern / np.where(off, sums, 1), pattern) if off.any() else pattern


def declared(stacks: Sequence[dict[str, Any]], notes: Mapping[str, str]) -> list[dict[str, Any]]:
    """The measures that any of these stacks has, or may have, with their definitions; notes: what is said
    beside some of these.
    """
    return [
        {
            "name": measure.name,
            "title": measure.title,
            "definition": measure.definition,
            "formula": measure.formula,
            "source": measure.source,
            "smallestFirst": measure.smallest_first,
            "random": measure.needs == "repeat",
            "said": notes.get(measure.name, ""),
            "paired": measure.needs in ("pairs", "sure"),
        }
        for measure in (*MEASURES, MOVEMENT)
        if any(
            measure.name in stack["stats"]
            # for such a measure the model is run when a person chooses it
            or (measure.needs == "repeat" and stack["id"].endswith(".self"))
            for stack in stacks
        )
    ]


MOST_WORK = 160_000_000
"""heads² x queries x keys: a fifth of a second."""


def map_message(inputs: Inputs, stack: str) -> dict[str, Any]:
    """Points of all heads [layer * head], what the axes show, and of how many queries it was computed."""
    subject = subject_of(inputs)
    rows, plane = plane_of(subject, subject.stack(stack))
    return {
        "points": plane.points.round(4).tolist(),
        "shares": plane.shares.round(4).tolist(),
        "queries": len(rows),
    }


def plane_of(subject: Subject, stack: Stack) -> tuple[np.ndarray, Plane]:
    """Which queries were compared, and where each head lies. Raises ValueError where it would take long."""
    rows = rows_of(stack)
    addresses = stack.patterns()
    trace = cache.on_worker(lambda: subject.run(lambda a, t: t[:, rows] if a in addresses else None))
    patterns = np.concatenate([trace[address].numpy() for address in trace])  # [layer * head, query, key]
    return rows, map_of_heads(shares(patterns))


def rows_of(stack: Stack) -> np.ndarray:
    """The queries by which heads are compared: all, or as many as there is time for, evenly spread."""
    n_heads = stack.n_layers * stack.n_heads
    count = min(stack.n_query, MOST_WORK // (n_heads**2 * stack.n_key))
    if count < 1:
        raise ValueError(
            f"{n_heads} heads over {stack.n_key:,} keys are too many to compare; shorten the text or take "
            "fewer heads."
        )
    return np.linspace(0, stack.n_query - 1, count).round().astype(int)
