"""Scores of a classifier: who is taken for whom, and precision, recall and F1 of each class."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Num

from models.scores.intervals import Interval, between, counts


class ClassScores(NamedTuple):
    """Of one class; n: examples that are of it. None: nothing was taken for it, or nothing is of it."""

    precision: float | None
    recall: float | None
    f1: float
    n: int


def confusion(
    truth: Sequence[int], answers: Sequence[int], n_classes: int
) -> Int[np.ndarray, "truth answer"]:
    """How many examples of each class were taken for each."""
    pairs = np.asarray(truth, dtype=np.int64) * n_classes + np.asarray(answers, dtype=np.int64)
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def class_scores(matrix: Int[np.ndarray, "truth answer"]) -> list[ClassScores]:
    """Precision: of those taken for a class, the share that are; recall: of those that are, the share found;
    F1: their harmonic mean, 2 right / (taken + being), 0 where none is right (van Rijsbergen 1979).
    """
    found = []
    for right, taken, being in zip(np.diag(matrix), matrix.sum(axis=0), matrix.sum(axis=1), strict=True):
        f1 = 2 * float(right) / float(taken + being) if taken + being else 0.0
        precision, recall = (float(right / n) if n else None for n in (taken, being))
        found.append(ClassScores(precision, recall, f1, int(being)))
    return found


def macro_f1(matrix: Num[np.ndarray, "*some truth answer"]) -> Float[np.ndarray, "*some"]:
    """The mean F1 of the classes that occur, in the truth or among the answers, of counts or resamples."""
    right = np.diagonal(matrix, axis1=-2, axis2=-1)
    both = matrix.sum(axis=-2) + matrix.sum(axis=-1)
    f1 = np.where(both > 0, 2 * right / np.maximum(both, 1), 0.0)
    return np.asarray(f1.sum(axis=-1) / np.maximum((both > 0).sum(axis=-1), 1))


def macro_f1_interval(truth: Sequence[int], answers: Sequence[int], n_classes: int) -> Interval | None:
    """The 95% interval of the mean F1, over resamples of the examples."""
    n = len(truth)
    if n < 2:
        return None
    pairs = np.asarray(truth, dtype=np.int64) * n_classes + np.asarray(answers, dtype=np.int64)
    which = np.zeros((n, n_classes**2))
    which[np.arange(n), pairs] = 1.0
    found = [macro_f1((times @ which).reshape(len(times), n_classes, n_classes)) for times in counts(n)]
    within = between(np.concatenate(found))
    return within if within and within[0] < within[1] else None  # all alike, which tells nothing of others
