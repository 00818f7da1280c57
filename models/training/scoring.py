"""The shipped translator's measures as a table."""

from typing import Any

from models.data.grammar_text import held_out
from models.data.tasks.translation import Translation
from models.training.evaluation import evaluate
from models.zoo import load_model


def score(source: str, sentences: int) -> str:
    """The table of a translator's measures on so many held-out sentences. source: its name, folder or file.

    Raises ValueError for a model that is no translator.
    """
    loaded = load_model(source)
    if not isinstance(loaded.task, Translation):
        raise ValueError(
            f"{source!r} is no translator of the grammar's sentences; its own card states its scores"
        )
    return table(evaluate(loaded.model, loaded.task.words, held_out(sentences)))


def table(metrics: dict[str, Any]) -> str:
    """The measures beside the values that they must reach, one per line."""
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
