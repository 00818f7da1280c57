"""A translator's measures as a table."""

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
    metrics = evaluate(loaded.model, loaded.task.words, held_out(sentences))
    return table(metrics, named=loaded.task.antecedent_weight > 0)


def table(metrics: dict[str, Any], *, named: bool = True) -> str:
    """The measures beside the values that they must reach, one per line; nothing is asked of the attention of
    a model that did not learn to name antecedents.
    """
    layer, head = metrics["layer"], metrics["head"]
    translation = metrics["translation"]
    in_layer = f"from the pronoun, mean over the heads of encoder layer {layer['layer']}"
    in_head = f"the best single head, {head['layer']}.{head['head']}"

    def asked(least: str) -> str:
        return f">= {least}" if named else ""

    rows = [
        ("whole translation right", translation["all"], ">= 99%"),
        ("    English to French", translation["en-fr"], ""),
        ("    French to English", translation["fr-en"], ""),
        ("pronouns right in the translation", metrics["pronoun"], ">= 99.5%"),
        ("antecedent named by the encoder", metrics["named"], ""),
        (f"{in_layer}: antecedent above the other noun", layer["right"], asked("99%")),
        ("    attention on the antecedent, mean", layer["weight"], asked("40%")),
        ("    the deciding adjective changed: it flips", layer["flip"], asked("99%")),
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
        [first, *(f"{name:<{width}}  {value:8.2%}  {least}".rstrip() for name, value, least in rows)]
    )
