"""A translator that learns which of its heads it can do without, while it goes on translating."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch

from models.data.grammar_text import held_out
from models.data.tasks import generator_of
from models.findings.gates import Gates, Kept, gated, values_of
from models.training.evaluation import translation_scores
from models.zoo import load_model
from models.zoo.trained import Translator

STEPS, SETTLING = 600, 200
"""Steps with drawn gates, and those after them in which each gate is 0 or 1."""
BATCH, RATE, GATE_RATE, SEED = 64, 1e-3, 0.05, 0
SENTENCES = 1_000
MODEL = "translator"
PENALTIES = (0.001, 0.003, 0.006, 0.01, 0.018, 0.03, 0.06)
"""Nats that an open gate costs."""


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Shares of held-out sentences that are right as a whole, and of those with pronouns where these are."""

    translation: float
    pronoun: float


def quality(lm: Translator, sentences: int, kept: Kept | None = None) -> Quality:
    """How well it translates held-out sentences, with these heads alone where they are given."""
    heads = kept or {address: list(range(lm.config.n_heads)) for address in lm.projections()}
    with gated(lm.projections(), values_of(heads, lm.config.n_heads)):
        ways, pronoun = translation_scores(lm.model, lm.task.words, held_out(sentences))
    return Quality(translation=ways["all"], pronoun=pronoun)


def prune(
    lm: Translator,
    penalty: float,
    *,
    steps: int = STEPS,
    settling: int = SETTLING,
    batch_size: int = BATCH,
    gate_rate: float = GATE_RATE,
) -> tuple[Translator, Kept]:
    """The model after training on with gates, each of which costs `penalty` nats while it is open.

    The loss is that of translating alone, and the expected number of open gates times the penalty.
    """
    pruned = deepcopy(lm)
    projections, n_heads = pruned.projections(), lm.config.n_heads
    gates, generator = Gates(list(projections), n_heads), generator_of(SEED, 0)
    weights = list(pruned.model.parameters())
    groups: list[dict[str, Any]] = [{"params": weights}, {"params": [gates.log_alpha], "lr": gate_rate}]
    optimizer = torch.optim.Adam(groups, lr=RATE)
    batches = lm.task.batches(SEED + 1, batch_size)
    pruned.model.train()
    for step in range(steps + settling):
        batch = next(batches)
        drawn = step < steps
        values = gates(len(batch), generator) if drawn else values_of(gates.kept(), n_heads)
        with gated(projections, values):
            loss = lm.task.losses(pruned.model, batch)["translation"]
        if drawn:
            loss = loss + penalty * gates.open().sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.param_groups[0]["lr"] = RATE * (1 - step / (steps + settling))
        optimizer.step()
    pruned.model.eval()
    return pruned, gates.kept()


def found(lm: Translator, penalty: float) -> dict[str, Any]:
    """What one penalty leaves: the heads, and the quality with them, trained on and merely cut."""
    pruned, kept = prune(lm, penalty)
    trained, cut = quality(pruned, SENTENCES, kept), quality(lm, SENTENCES, kept)
    return {"penalty": penalty, "kept": kept, "trained": vars(trained), "cut": vars(cut)}


def made() -> dict[str, Any]:
    """What ships: the quality of the whole translator, and of what each penalty leaves of it."""
    torch.set_num_threads(1)  # the same numbers on any machine of this kind
    lm = load_model(MODEL)
    whole = vars(quality(lm, SENTENCES))
    return {
        "model": MODEL,
        "sentences": SENTENCES,
        "whole": whole,
        "penalties": [found(lm, penalty) for penalty in PENALTIES],
    }
