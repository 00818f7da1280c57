"""Whole sentences drawn by chance, counted."""

from collections import Counter

import torch

from models.lessons.translation import reading, sampling
from pages.lab.translation.inputs import Inputs
from pages.lab.translation.sentence_choice import reading_of
from pages.shared import cache
from viz_core.boards import Table

TEMPERATURES = (0.5, 1.0, 2.0)
N_DRAWN = 10
MOST_ROWS = 6


def table(inputs: Inputs) -> Table:
    """How many of each sentence were drawn at three temperatures."""
    greedy = reading_of(inputs.phrase, inputs.phrase_direction).text
    counts = _counts(inputs)
    order = sorted({s for c in counts for s in c}, key=lambda s: ([-c[s] for c in counts], s))
    rows = [(sentence, *(str(c[sentence] or "·") for c in counts)) for sentence in order[:MOST_ROWS]]
    if others := order[MOST_ROWS:]:
        rest = [sum(c[s] for s in others) for c in counts]
        rows.append((f"{len(others)} others", *(str(n or "·") for n in rest)))
    return Table(
        title=f"{N_DRAWN} whole sentences drawn at each of three temperatures (greedy: {greedy})",
        columns=("sentence", *(f"T = {t:g}" for t in TEMPERATURES)),
        rows=rows,
    )


def cut(inputs: Inputs) -> tuple[int | None, float | None]:
    """Top-k and top-p as the engine takes them."""
    return inputs.top_k or None, None if inputs.top_p == 1 else inputs.top_p


def _counts(inputs: Inputs) -> list[Counter[str]]:
    """How often each sentence was drawn, by temperature; remembered for a look at another word."""
    read = reading_of(inputs.phrase, inputs.phrase_direction)

    def make() -> tuple[list[Counter[str]], int]:
        top_k, top_p = cut(inputs)
        drawn = sampling.sentences(
            read.model,
            read.source_ids,
            [t for t in TEMPERATURES for _ in range(N_DRAWN)],
            torch.Generator().manual_seed(inputs.seed),
            top_k=top_k,
            top_p=top_p,
            most=reading.MOST_STEPS,
        )
        texts = [" ".join(read.vocabulary[id_] for id_ in ids) for ids in drawn]
        groups = [texts[at : at + N_DRAWN] for at in range(0, len(texts), N_DRAWN)]
        return [Counter(group) for group in groups], 100 * len(texts)

    what = ("drawn", inputs.phrase, inputs.phrase_direction, inputs.top_k, inputs.top_p, inputs.seed)
    counts: list[Counter[str]] = cache.cached(cache.results, what, make)
    return counts
