"""What a model writes with edits and without them, and the heads that its answer needs, when asked for."""

from typing import Any

from models.interventions.smallest import MOST, Head, smallest_set, switched_off
from pages.explore.state import Inputs
from pages.explore.subject import subject_of
from pages.shared import cache

MOST_OPERATIONS = 400 * 10**9
"""What a search may take: some ten seconds."""


def made(inputs: Inputs) -> dict[str, Any]:
    """What is written to its end, without the edits and with them."""
    subject = subject_of(inputs)

    def both() -> dict[str, Any]:
        model, reading, settings = subject.model, subject.reading, inputs.reading
        plain = model.answer(reading, **settings)
        edited = model.answer(reading, edits=inputs.edits, **settings)
        return {"before": plain.answer, "after": edited.answer}

    return cache.on_worker(both)


def smallest(inputs: Inputs, stack: str) -> dict[str, Any]:
    """The smallest set of heads of a stack without which the answer is another one."""
    subject = subject_of(inputs)
    of = next((each for each in subject.stacks if each.id == stack), subject.stacks[0])
    side, kind = of.id.split(".")
    heads = [Head(f"{side}.{layer}.{kind}", h) for layer in range(of.n_layers) for h in range(of.n_heads)]
    lengths = [len(tokens) for tokens in subject.reading.tokens.values()]
    each = max(1, subject.model.operations(lengths) * lengths[-1])
    most = min(MOST, MOST_OPERATIONS // each)
    if most < len(heads):
        raise ValueError(
            f"Switching off {len(heads)} heads one by one takes more than "
            f"{MOST_OPERATIONS // 10**9:,} billion operations; take a shorter text, or a smaller model."
        )
    found = cache.on_worker(
        lambda: smallest_set(subject.model, subject.reading, heads, most=most, **inputs.reading)
    )
    return {
        "lines": list(switched_off(found.heads)),
        "answer": found.answer,
        "tried": found.tried,
        "whole": found.whole,
        "heads": len(heads),
    }
