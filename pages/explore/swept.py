"""Sweeps: every head switched off alone, or every position of every layer patched from another text; and
beside them what each part gives to a logit, and what one head does through another (`ways`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from models.engine.long_text import Told
from models.engine.size import trace_operations
from models.interventions.direct import direct_heads
from models.interventions.sweep import CHANGES, Sweep, sweep_heads, sweep_positions
from models.zoo.model import Model
from pages.explore import ways
from pages.explore.price import config_of, operations_of, tokens_of
from pages.explore.state import COMMON, SWEEPS, TARGETS, THROUGH, Inputs
from pages.explore.subject import Subject, shown, subject_of
from pages.shared import cache
from pages.shared.affordable import BILLION

MOST_BILLIONS = 400
"""What a sweep may take: some ten seconds."""
EXAMPLES = 16
"""Held-out examples that a score is of, a pass each."""


@dataclass(frozen=True)
class Wish:
    """What a person points at: the names of `View`, at a step, which is a position of the logits."""

    sweep: str = SWEEPS[0]
    goal: str = TARGETS[0]
    step: int = 0
    put: str = CHANGES[0]
    other: str = ""
    sender: str = ""
    receiver: str = ""
    through: str = THROUGH[0]


def price(inputs: Inputs, *what: Any) -> int:
    """The most that `made` takes, about: each head's effect and its direct one, or each position's."""
    wish, config = Wish(*what), config_of(inputs)
    if config is None:
        return 0
    each = operations_of(inputs.unedited)
    if wish.goal == "score":  # of held-out examples, which may be as long as the model reads, not of the text
        each = EXAMPLES * trace_operations(config, [config.max_len] * len(config.stacks))
    if wish.sweep in ways.PASSES:
        return ways.PASSES[wish.sweep] * each
    places = tokens_of(inputs, config, inputs.text) if wish.sweep == "positions" else 2 * config.n_heads
    attentions = config.n_layers * (3 if len(config.stacks) == 2 else 1)
    return min(MOST_BILLIONS * BILLION, attentions * places * each)


def made(inputs: Inputs, *what: Any, told: Told = lambda share: None) -> dict[str, Any]:
    """What each edit alone does to what a person points at, by stack; for heads beside it the direct effect.

    what: a `Wish`, in its order. It is of the text without edits. Raises ValueError for a sweep that takes
    too long or is not possible.
    """
    wish = Wish(*what)
    rule = COMMON["text"].rule
    if not rule.fits(wish.other):
        raise ValueError(f"The other text has {rule.refusal(wish.other)}.")
    subject = subject_of(inputs.unedited)
    if wish.sweep not in ways.PASSES:
        _check_price(subject, wish)
    make = _MAKERS.get(wish.sweep, _heads)
    return dict(cache.on_worker(lambda: make(subject, wish, told)))


def _heads(subject: Subject, wish: Wish, told: Told) -> dict[str, Any]:
    model: Any = subject.model
    target, title = target_of(subject, wish)
    change = wish.put if wish.put in CHANGES else CHANGES[0]
    found = sweep_heads(model, subject.reading, target, change=change, told=told)
    direct = _direct(lambda: direct_heads(model, subject.reading, target, told=told))
    return {"title": title, **_told(found), **direct}


def _positions(subject: Subject, wish: Wish, told: Told) -> dict[str, Any]:
    model: Any = subject.model
    target, title = target_of(subject, wish)
    settings = subject.inputs.reading
    found = sweep_positions(model, subject.reading, target, wish.other, told=told, **settings)
    return {"title": title, **_told(found)}


def _parts(subject: Subject, wish: Wish, told: Told) -> dict[str, Any]:
    line, title = target_of(subject, wish)
    return {"title": title, **ways.parts(subject, line)}


def _path(subject: Subject, wish: Wish, told: Told) -> dict[str, Any]:
    change = wish.put if wish.put in CHANGES else CHANGES[0]
    through = wish.through if wish.through in THROUGH else THROUGH[0]
    return ways.path_patched(subject, wish.sender, change, wish.receiver, through, wish.step)


_MAKERS = {"heads": _heads, "positions": _positions, "parts": _parts, "path": _path}


def target_of(subject: Subject, wish: Wish) -> tuple[str, str]:
    """The line of a target and what the page calls it; outputs are the likeliest ones at the step."""
    kind = wish.goal
    if kind == "loss":
        return "loss", "loss of what is written, in nats"
    if kind == "score":
        return "score", f"share of right answers in {EXAMPLES} held-out examples of its task"
    trace = subject.run(lambda a, t: t if a == "logits" else None)
    rows = trace["logits"]
    at = max(0, min(wish.step, len(rows) - 1))
    if kind == "kl":
        return f"kl at {at}", "KL(before ‖ after) of the outputs, in nats"
    best, second = rows[at].topk(2).indices.tolist()
    names = [shown(subject.names[i]) if i < len(subject.names) else str(i) for i in (best, second)]
    if kind == "logits":
        return f"logits {best}-{second} at {at}", f"logit of “{names[0]}” less that of “{names[1]}”"
    return f"{kind} of {best} at {at}", f"{kind} of “{names[0]}”"


def _told(found: Sweep) -> dict[str, Any]:
    effects = {
        name: [[float(f"{x:.5g}") for x in row] for row in e.tolist()] for name, e in found.effects.items()
    }
    return {"before": float(f"{found.before:.6g}"), "effects": effects, "layers": found.layers}


def _direct(make: Callable[[], Sweep]) -> dict[str, Any]:
    """The direct effects, or why there are none."""
    try:
        return {"direct": _told(make())["effects"]}
    except ValueError as error:
        return {"notDirect": str(error)}


def _check_price(subject: Subject, wish: Wish) -> None:
    model: Model = subject.model
    lengths = [len(tokens) for tokens in subject.reading.tokens.values()]
    heads = sum(stack.n_layers * stack.n_heads for stack in subject.stacks)
    places = sum(stack.n_layers * stack.n_query for stack in subject.stacks)
    rows = places if wish.sweep == "positions" else heads
    rows *= EXAMPLES if wish.goal == "score" else 1
    if model.operations(lengths) * rows > MOST_BILLIONS * BILLION:
        raise ValueError(
            f"A sweep of {rows:,} edits takes more than {MOST_BILLIONS:,} billion operations; take a shorter "
            "text, or a smaller model."
        )
