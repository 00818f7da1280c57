"""One head is too few and many are too many: rows (A) of the paper's table 3, with a small translator."""

from ..data.grammar.pairs import held_out
from ..fields import Field, whole
from ..training.evaluation import translation_scores
from ..zoo.families import FAMILIES, scores_of
from ..zoo.others.families import load
from .finding import Chart, Finding, Number, Outcome, Tell, words_of

PUBLISHED = {1: "24.9", 2: "25.5", 4: "25.8", 8: "25.8", 16: "25.4"}
"""The paper's BLEU with 1, 4, 8, 16 and 32 heads; 8 are its base, as 4 are ours."""
_RIGHT = "whole sentences"


def right(n_heads: int, sentences: int) -> float:
    """The share of held-out sentences that the shipped model with so many heads translates exactly."""
    family = FAMILIES["translator-sizes"]
    lm = load(family, **{**family.first, "n_heads": n_heads})
    return translation_scores(lm.model, lm.task.words, held_out(sentences))[0]["all"]


def measure(model: None, tell: Tell, *, sentences: int) -> Outcome:
    """The shipped models here and now; those of the other seeds as they were scored."""
    family = FAMILIES["translator-sizes"]
    n_heads = family.dials["n_heads"]
    here = []
    for at, n in enumerate(n_heads):
        here.append(right(n, sentences))
        tell((at + 1) / len(n_heads))
    means, halves = zip(
        *(scores_of(family, {**family.first, "n_heads": n}, _RIGHT) for n in n_heads), strict=True
    )
    best = max(range(len(n_heads)), key=means.__getitem__)

    def is_worse(at: int) -> bool:
        return all(means[best] - means[at] > half for half in (halves[best], halves[at]))

    return Outcome(
        numbers=tuple(
            number
            for n, share, mean, half in zip(n_heads, here, means, halves, strict=True)
            for number in (
                Number(f"heads {n}: sentences right, here", share, PUBLISHED[n], digits=3),
                Number(f"heads {n}: mean over seeds", mean, digits=3),
                Number(f"heads {n}: ± (95%)", half, digits=3),
            )
        ),
        holds=is_worse(0) and is_worse(len(n_heads) - 1),
        said=(
            f"Over the seeds, {n_heads[best]} heads translate most sentences right, {means[best]:.1%}; one "
            f"head {means[0]:.1%}, {n_heads[-1]} heads {means[-1]:.1%}."
        ),
        charts=(
            Chart(
                title="sentences that are right, by heads", x_label="heads", y_label="share of sentences",
                x=[str(n) for n in n_heads], series={"mean over seeds": list(means)}, digits=3,
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("number-of-heads"),
    measure=measure,
    parameters={"sentences": Field(500, whole(10, 5_000), "Held-out sentences")},
    code=(right, scores_of),
)
