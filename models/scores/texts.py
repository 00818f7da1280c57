"""Scores of written translations beside the right ones, as sacrebleu computes them (Post 2018)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from models.scores.intervals import Interval, between, n_resamples


class CorpusScore(NamedTuple):
    """A score of all sentences together, 0 to 100. signature: how sacrebleu computed it."""

    name: str
    value: float
    interval: Interval | None
    signature: str


def corpus_scores(made: Sequence[str], wanted: Sequence[str]) -> list[CorpusScore]:
    """chrF (Popović 2015), which counts shared strings of 1 to 6 letters, and BLEU (Papineni et al. 2002),
    which counts shared strings of 1 to 4 words.

    The interval is what 95% of the scores lie between when sentences are drawn again (Koehn 2004), by
    sacrebleu's resamples; of fewer than two sentences there is none.
    """
    from sacrebleu.metrics.bleu import BLEU  # takes a moment, and only translators need it
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.significance import _bootstrap_resample

    found = []
    for metric in (CHRF(), BLEU()):
        score = metric.corpus_score(list(made), [list(wanted)])
        within = None
        if len(made) > 1:
            # Its own printout has the mean ± half of this interval, which can leave 0 to 100.
            each = metric._extract_corpus_statistics(list(made), [list(wanted)])
            metric.n_bootstrap = n_resamples(len(made))
            metric.seed, again = _bootstrap_resample(each, metric, metric.n_bootstrap)
            within = between(np.array([drawn.score for drawn in again]))
            # All sentences alike, as where nothing is right: that tells nothing about others.
            within = within if within and within[0] < within[1] else None
        name = {"chrF2": "chrF"}.get(score.name, score.name)
        found.append(CorpusScore(name, float(score.score), within, str(metric.get_signature())))
    return found


def sentence_chrf(made: Sequence[str], wanted: Sequence[str]) -> list[float]:
    """chrF of each sentence by itself, 0 to 100."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    return [float(metric.sentence_score(m, [w]).score) for m, w in zip(made, wanted, strict=True)]
