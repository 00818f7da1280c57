"""Sweeps: every head switched off alone, or every position of every layer patched from another text."""

from collections.abc import Callable
from typing import Any

from models.engine.long_text import Told
from models.interventions.direct import direct_heads
from models.interventions.sweep import Sweep, sweep_heads, sweep_positions
from models.zoo.model import Model
from pages.explore.price import config_of, operations_of, tokens_of
from pages.explore.state import COMMON, Inputs
from pages.explore.subject import Subject, shown, subject_of
from pages.shared import cache
from pages.shared.affordable import BILLION

KINDS = ("probability", "logits", "kl", "loss")
CHANGES = ("zero", "mean")
OF = ("heads", "positions")
MOST_BILLIONS = 400
"""What a sweep may take: some ten seconds."""


def price(inputs: Inputs, of: str, *more: Any) -> int:
    """The most that `made` takes, about: each head's effect and its direct one, or each position's."""
    config = config_of(inputs)
    if config is None:
        return 0
    places = tokens_of(inputs, config, inputs.text) if of == "positions" else 2 * config.n_heads
    attentions = config.n_layers * (3 if len(config.stacks) == 2 else 1)
    return min(MOST_BILLIONS * BILLION, attentions * places * operations_of(inputs.unedited))


def made(
    inputs: Inputs, of: str, kind: str, step: int, change: str, text: str, told: Told = lambda share: None
) -> dict[str, Any]:
    """What each edit alone does to what a person points at, by stack; for heads beside it the direct effect.

    It is of the text without edits. Raises ValueError for a sweep that takes too long or is not possible.
    """
    rule = COMMON["text"].rule
    if not rule.fits(text):
        raise ValueError(f"The other text has {rule.refusal(text)}.")
    subject = subject_of(inputs.unedited)
    model: Any = subject.model
    _check_price(subject, of)

    def swept() -> dict[str, Any]:
        target, title = _target(subject, kind, step)
        reading, settings = subject.reading, inputs.reading
        if of == "positions":
            found = sweep_positions(model, reading, target, text, told=told, **settings)
            return {"title": title, **_told(found)}
        change_of = change if change in CHANGES else CHANGES[0]
        found = sweep_heads(model, reading, target, change=change_of, told=told)
        return {
            "title": title,
            **_told(found),
            **_direct(lambda: direct_heads(model, reading, target, told=told)),
        }

    return cache.on_worker(swept)


def _target(subject: Subject, kind: str, step: int) -> tuple[str, str]:
    """The line of a target and what the page calls it; outputs are the likeliest ones at the step."""
    if kind == "loss":
        return "loss", "loss of what is written, in nats"
    trace = subject.run(lambda a, t: t if a == "logits" else None)
    rows = trace["logits"]
    at = max(0, min(step, len(rows) - 1))
    if kind == "kl":
        return f"kl at {at}", "KL(before ‖ after) of the outputs, in nats"
    best, second = rows[at].topk(2).indices.tolist()
    names = [shown(subject.names[i]) if i < len(subject.names) else str(i) for i in (best, second)]
    if kind == "logits":
        return f"logits {best}-{second} at {at}", f"logit of “{names[0]}” less that of “{names[1]}”"
    return f"probability of {best} at {at}", f"probability of “{names[0]}”"


def _told(found: Sweep) -> dict[str, Any]:
    effects = {
        name: [[float(f"{x:.5g}") for x in row] for row in e.tolist()] for name, e in found.effects.items()
    }
    return {"before": float(f"{found.before:.6g}"), "effects": effects}


def _direct(make: Callable[[], Sweep]) -> dict[str, Any]:
    """The direct effects, or why there are none."""
    try:
        return {"direct": _told(make())["effects"]}
    except ValueError as error:
        return {"notDirect": str(error)}


def _check_price(subject: Subject, of: str) -> None:
    model: Model = subject.model
    lengths = [len(tokens) for tokens in subject.reading.tokens.values()]
    heads = sum(stack.n_layers * stack.n_heads for stack in subject.stacks)
    places = sum(stack.n_layers * stack.n_query for stack in subject.stacks)
    rows = heads if of == "heads" else places
    if model.operations(lengths) * rows > MOST_BILLIONS * BILLION:
        raise ValueError(
            f"A sweep of {rows:,} edits takes more than {MOST_BILLIONS:,} billion operations; take a shorter "
            "text, or a smaller model."
        )
