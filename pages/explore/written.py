"""What a model writes with edits and without them, and the heads that its answer needs, when asked for."""

from typing import Any

from models.engine.long_text import Told
from models.interventions.smallest import MOST, Head, smallest_set, switched_off
from pages.explore.price import operations_of
from pages.explore.state import Inputs
from pages.explore.subject import subject_of
from pages.shared import affordable, cache

CONTINUED = 16
"""Tokens that a model writes after a text."""
MOST_OPERATIONS = 400 * 10**9
"""What a search may take: some ten seconds."""


def price_written(inputs: Inputs) -> int:
    """The floating-point operations of `made`, about: passes without edits and with them for each token."""
    return operations_of(inputs) * _tokens(inputs)


def price_smallest(inputs: Inputs, stack: str) -> int:
    """The most that `smallest` takes, about."""
    return min(MOST_OPERATIONS, MOST * operations_of(inputs.unedited) * _tokens(inputs))


def _tokens(inputs: Inputs) -> int:
    """How many tokens are written, about: a translation is no longer than twice its text."""
    return 2 * len(inputs.text.split()) + CONTINUED


def made(inputs: Inputs, told: Told = lambda share: None) -> dict[str, Any]:
    """What is written to its end, without the edits and with them. Raises ValueError where it takes long."""
    subject = subject_of(inputs)
    model, reading, settings = subject.model, subject.reading, inputs.reading
    affordable.check(model, reading, "or a smaller model", passes=2 * model.writing(reading).most)

    def both() -> dict[str, Any]:
        plain = model.answer(reading, told=told, **settings)
        edited = model.answer(reading, edits=inputs.edits, told=told, **settings)
        return {"before": plain.answer, "after": edited.answer}

    return dict(cache.on_worker(both))


def smallest(inputs: Inputs, stack: str, told: Told = lambda share: None) -> dict[str, Any]:
    """The smallest set of heads of a stack without which the answer is another one."""
    subject = subject_of(inputs)
    of = next((each for each in subject.stacks if each.id == stack), subject.stacks[0])
    side, kind = of.id.split(".")
    heads = [Head(f"{side}.{layer}.{kind}", h) for layer in of.attention.layers for h in range(of.n_heads)]
    lengths = [len(tokens) for tokens in subject.reading.tokens.values()]
    each = max(1, subject.model.operations(lengths) * lengths[-1])
    most = min(MOST, MOST_OPERATIONS // each)
    if most < len(heads):
        raise ValueError(
            f"Switching off {len(heads)} heads one by one takes more than "
            f"{MOST_OPERATIONS // 10**9:,} billion operations; take a shorter text, or a smaller model."
        )
    found = cache.on_worker(
        lambda: smallest_set(subject.model, subject.reading, heads, most=most, told=told, **inputs.reading)
    )
    return {
        "lines": list(switched_off(found.heads)),
        "answer": found.answer,
        "tried": found.tried,
        "whole": found.whole,
        "heads": len(heads),
    }
