"""Scores of written translations beside the right ones, as sacrebleu computes them (Post 2018)."""

from collections.abc import Sequence
from typing import NamedTuple

from models.scores.intervals import Interval, n_resamples


class CorpusScore(NamedTuple):
    """A score of all sentences together, 0 to 100. signature: how sacrebleu computed it."""

    name: str
    value: float
    interval: Interval | None
    signature: str


def corpus_scores(made: Sequence[str], wanted: Sequence[str]) -> list[CorpusScore]:
    """chrF (Popović 2015), which counts shared strings of 1 to 6 letters, and BLEU (Papineni et al. 2002),
    which counts shared strings of 1 to 4 words.

    The interval is sacrebleu's: sentences are drawn again (Koehn 2004), and 95% of the scores lie within it
    around their mean; of fewer than two sentences there is none.
    """
    from sacrebleu.metrics.bleu import BLEU  # takes a moment, and only translators need it
    from sacrebleu.metrics.chrf import CHRF

    found = []
    for metric in (CHRF(), BLEU()):
        again = n_resamples(len(made)) if len(made) > 1 else 1
        score = metric.corpus_score(list(made), [list(wanted)], n_bootstrap=again)
        interval = None
        if len(made) > 1:
            mean, half = float(score._mean), float(score._ci)  # as its own printout has them
            # All sentences alike, as where nothing is right: that tells nothing about others.
            interval = (max(0.0, mean - half), min(100.0, mean + half)) if half else None
        name = {"chrF2": "chrF"}.get(score.name, score.name)
        found.append(CorpusScore(name, float(score.score), interval, str(metric.get_signature())))
    return found


def sentence_chrf(made: Sequence[str], wanted: Sequence[str]) -> list[float]:
    """chrF of each sentence by itself, 0 to 100."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    return [float(metric.sentence_score(m, [w]).score) for m, w in zip(made, wanted, strict=True)]
