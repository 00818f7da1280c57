"""Translations that a model writes greedily: scored together, and one by one, the worst first."""

from typing import Any

from models.data.tasks import Split
from models.data.tasks.pairs import Pairs
from models.engine.transformer import Transformer
from models.scores.examples import Piece, rows_of
from models.scores.intervals import n_resamples
from models.scores.texts import corpus_scores, sentence_chrf

MOST_WRITTEN = 128  # sentences: writing takes a pass for each token
MOST_KEPT, MOST_CHARACTERS = 40, 400
Entry = dict[str, Any]


def translations(
    task: Pairs, model: Transformer, held: list[Piece], split: Split
) -> tuple[list[Entry], list[Entry]]:
    """chrF and BLEU of at most 128 sentences, evenly chosen of all lengths; and the worst of them by chrF."""
    total = sum(len(piece.batch) for piece in held)
    every, first = -(-total // MOST_WRITTEN), 0
    given, made, wanted = list[str](), list[str](), list[str]()
    for piece in held:
        rows = [row for row in range(len(piece.batch)) if (first + row) % every == 0]
        first += len(piece.batch)
        if not rows:
            continue
        batch = rows_of(piece.batch, rows)
        numbers = None if piece.numbers is None else [piece.numbers[row] for row in rows]
        given += task.typed(batch, split, numbers)
        wanted += task.wanted(batch, split, numbers)
        made += task.translations(model, batch.to(next(model.parameters()).device))
    scores = [
        {
            "name": each.name,
            "value": each.value,
            "n": len(made),
            "low": each.interval[0] if each.interval else None,
            "high": each.interval[1] if each.interval else None,
            "method": f"sacrebleu's bootstrap over sentences, {n_resamples(len(made)):,} resamples",
            "signature": each.signature,
        }
        for each in corpus_scores(made, wanted)
    ]
    alone = sentence_chrf(made, wanted)
    order = sorted(range(len(made)), key=lambda at: alone[at])[:MOST_KEPT]
    worst = [
        {
            "text": given[at][:MOST_CHARACTERS],
            "made": made[at][:MOST_CHARACTERS],
            "wanted": wanted[at][:MOST_CHARACTERS],
            "chrf": alone[at],
        }
        for at in order
    ]
    return scores, worst
