"""Scores each member of a family with several seeds: the tables of docs/today.md.

    python -m benchmarks.families induction-sizes
    python -m benchmarks.families translator-sizes --seeds 3

Seed 0 is the member that ships; with the others each is trained anew by its recipe. Scores are those of 1,024
held-out examples, and stay in the family's scores.json, so that a killed run goes on. Intervals are of 95%,
of Student's t over the seeds.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import torch

from attention_lab.models import load_model
from attention_lab.models.data.grammar.pairs import held_out
from attention_lab.models.data.tasks import Batch, Task
from attention_lab.models.data.tasks.translation import Translation
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.files import write_json
from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.runs.train_shipped import config_of
from attention_lab.models.scores.intervals import validated
from attention_lab.models.scores.report import corpus_scores
from attention_lab.models.training.evaluation import evaluate, translations
from attention_lab.models.training.loop import HELD_OUT_SEED, Training
from attention_lab.models.zoo.families import FAMILIES, SCORES, Family, scores_of
from attention_lab.models.zoo.folders import SHIPPED

HELD_OUT = 1_024
_AT_ONCE = 64


def trained(name: str, seed: int) -> tuple[Transformer, Task]:
    """A member that was trained with this seed, and its task."""
    if seed == 0:
        shipped = load_model(name)
        return shipped.model, shipped.task
    config = config_of(RECIPES[name])
    training = Training(replace(config, training=replace(config.training, seed=seed, validate_every=10**6)))
    for _ in training:
        pass
    return training.model.eval(), config.task


def scores(name: str, seed: int) -> dict[str, float]:
    """The held-out scores of a member that is trained with this seed."""
    model, task = trained(name, seed)
    batches = task.examples(HELD_OUT_SEED, HELD_OUT, at_once=_AT_ONCE)
    found = validated(task, model, batches).scores
    if isinstance(task, Translation):
        found = {**found, **of_translator(model, task, batches)}
    return found


@torch.no_grad()
def of_translator(model: Transformer, task: Translation, batches: Sequence[Batch]) -> dict[str, float]:
    """The perplexity of a word, chrF of greedy translations, the share whose pronouns are right, and what the
    head that does best gives on average to the noun that a pronoun means.
    """
    nats = sum(task.losses(model, batch)["translation"].item() * batch.n_asked for batch in batches)
    examples = held_out(HELD_OUT)
    firsts = [task.encode_source(" ".join(p.source(way)), direction=way).ids[0] for p, way in examples]
    written = [
        task.spoken(ids, at)
        for ids, at in zip(translations(model, task.words, examples), firsts, strict=True)
    ]
    wanted = [
        task.spoken([task.words.id(word) for word in pair.target(way)], at)
        for (pair, way), at in zip(examples, firsts, strict=True)
    ]
    metrics = evaluate(model, task.words, examples)
    chrf = corpus_scores(written, wanted)[0]
    return {
        "perplexity": math.exp(nats / sum(batch.n_asked for batch in batches)),
        "chrF": chrf.value,
        "pronouns": metrics["pronoun"],
        "weight of the noun": metrics["head"]["weight"],
    }


def score_all(family: Family, n_seeds: int) -> None:
    """Scores every member with one seed, then with the next, and keeps each score as it comes."""
    path = SHIPPED / family.name / SCORES
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for seed, name in product(range(n_seeds), family.members()):
        own = known.setdefault(name.partition("/")[2], [])
        if len(own) == seed:
            found = scores(name, seed)
            own.append({score: round(found[score], 6) for score in family.scores})
            write_json(path, known)


def row(family: Family, values: dict[str, Any]) -> str:
    """A member's dials, and of each score the mean and half its interval."""
    found = [scores_of(family, values, score) for score in family.scores]
    changed = [f"{name} = {value}" for name, value in family.changed(values).items()]
    dials = changed or ["as it is"] if family.alone else map(str, values.values())
    return " | ".join([*dials, *(f"{mean:.3f} ± {half:.3f}" for mean, half in found)])


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.families", description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)  # as the recipes do
    family = FAMILIES[chosen.family]
    score_all(family, chosen.seeds)
    dials = ["differs in"] if family.alone else family.dials
    heads = [*dials, *(f"held-out {score}" for score in family.scores)]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for values in family.members().values():
        print(f"| {row(family, values)} |")


if __name__ == "__main__":
    main()
