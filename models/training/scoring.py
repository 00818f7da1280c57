"""The shipped translator's measures as a table, and the suite of position schemes trained anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from models.data.corpus import held_out
from models.training.evaluation import evaluate
from models.training.positions import SuiteConfig, train_and_write, training_text
from models.zoo import load_model
from models.zoo.loaded import LoadedModel


def score(source: str, sentences: int) -> str:
    """The measures of a translator by name, folder or file, on held-out sentences.

    Raises ValueError for a model that is none.
    """
    loaded = load_model(source)
    if not isinstance(loaded, LoadedModel):
        raise ValueError(
            f"{source!r} is no translator of the grammar's sentences; its own card states its scores"
        )
    return table(evaluate(loaded.model, loaded.tokenizer, held_out(sentences)))


def train_positions(schemes: list[str], config: SuiteConfig, out: Path, command: str) -> None:
    """Trains language models on the same text, one a scheme, and writes each with its card."""
    torch.set_num_threads(1)
    text, tokenizer = training_text(config)
    for scheme in schemes:
        losses = train_and_write(scheme, text, tokenizer, config, out=out, command=command)
        with tqdm(losses, desc=scheme, total=config.steps, unit="step", mininterval=1.0) as bar:
            for loss in bar:
                bar.set_postfix(loss=f"{loss:.4f}", refresh=False)


def table(metrics: dict[str, Any]) -> str:
    """The measures beside what issue 2 asks for, one a line."""
    layer, head = metrics["layer"], metrics["head"]
    translation = metrics["translation"]
    in_layer = f"from the pronoun, mean over the heads of encoder layer {layer['layer']}"
    in_head = f"the best single head, {head['layer']}.{head['head']}"
    rows = [
        ("whole translation right", translation["all"], ">= 99%"),
        ("    English to French", translation["en-fr"], ""),
        ("    French to English", translation["fr-en"], ""),
        ("pronouns right in the translation", metrics["pronoun"], ">= 99.5%"),
        ("antecedent named by the encoder", metrics["named"], ""),
        (f"{in_layer}: antecedent above the other noun", layer["right"], ">= 99%"),
        ("    attention on the antecedent, mean", layer["weight"], ">= 40%"),
        ("    the deciding adjective changed: it flips", layer["flip"], ">= 99%"),
        (f"{in_head}: antecedent above the other noun", head["right"], ""),
        ("    attention on the antecedent, mean", head["weight"], ""),
        ("    the deciding adjective changed: it flips", head["flip"], ""),
    ]
    first = (
        f"{metrics['sentences']:,} held-out sentences, {metrics['pronouns']:,} with a pronoun to resolve, "
        f"{metrics['flips']:,} that a changed adjective turns round"
    )
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(
        [first, *(f"{name:<{width}}  {value:8.2%}  {asked}".rstrip() for name, value, asked in rows)]
    )
