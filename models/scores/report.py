"""The report of a run: scores on held-out and test examples, confusions, translations, the worst errors."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from ..data.pictures import N_CLASSES
from ..data.tasks import Answers, Batch, Quotients, Split, Task
from ..data.tasks.finite import Finite
from ..data.tasks.language_model import TextModel
from ..data.tasks.pictures import Pictures
from ..data.tasks.sentence_pairs import Pairs
from ..data.tasks.text_classes import MOST_CLASSES, TextClasses
from ..engine.transformer import Transformer
from .intervals import (
    WILSON,
    Found,
    Interval,
    between,
    counts,
    interval,
    judge,
    method,
    n_of,
    n_resamples,
    right_of,
    value_of,
    verdict,
)


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
    scores = []
    for right, answered, being in zip(np.diag(matrix), matrix.sum(axis=0), matrix.sum(axis=1), strict=True):
        f1 = 2 * float(right) / float(answered + being) if answered + being else 0.0
        precision, recall = (float(right / n) if n else None for n in (answered, being))
        scores.append(ClassScores(precision, recall, f1, int(being)))
    return scores


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
    scores = [macro_f1((times @ which).reshape(len(times), n_classes, n_classes)) for times in counts(n)]
    within = between(np.concatenate(scores))
    return within if within and within[0] < within[1] else None  # all alike, which tells nothing of others


# Examples

HELD_OUT_SEED, TEST_SEED = 1, 2


class Piece(NamedTuple):
    """A batch of a part, and the numbers of its examples there, where they have any."""

    batch: Batch
    numbers: list[int] | None


def pieces(task: Task, split: Split, size: int, at_once: int) -> list[Piece]:
    """Up to `size` examples of a part, the ones that a validation reads where they are held out.

    Examples that are made at random are other ones for a test: what a validation reads is left out of it.
    """
    seed = TEST_SEED if split == "test" else HELD_OUT_SEED
    batches = task.examples(seed, size, split=split, at_once=at_once)
    numbers = task.chosen(seed, size, split=split) if isinstance(task, Finite) else None
    if numbers is None and split == "test":
        known = {key for batch in task.examples(HELD_OUT_SEED, size) for key in keys(batch)}
        batches = [rest for batch in batches if len(rest := without(batch, known))]
    if numbers is None:
        return [Piece(batch, None) for batch in batches]
    starts = [0]
    for batch in batches:
        starts.append(starts[-1] + len(batch))
    return [Piece(b, numbers[first : first + len(b)]) for b, first in zip(batches, starts[:-1], strict=True)]


def keys(batch: Batch) -> Iterator[tuple[object, ...]]:
    """What tells the examples of a batch apart, whatever their padding."""
    for row in range(len(batch)):
        yield tuple(_without_end(side[row]) for side in (*batch.inputs, batch.targets))


def without(batch: Batch, known: set[tuple[object, ...]]) -> Batch:
    """The examples of a batch that are none of those known, each once."""
    rows, known_keys = list[int](), set(known)
    for row, key in enumerate(keys(batch)):
        if key not in known_keys:
            rows.append(row)
            known_keys.add(key)
    return rows_of(batch, rows)


def rows_of(batch: Batch, rows: Sequence[int]) -> Batch:
    """Some examples of a batch."""
    at = torch.tensor(rows, dtype=torch.int64)
    inputs = tuple(side[at] for side in batch.inputs)
    extra = {n: value[at] for n, value in batch.extra.items()}
    return replace(batch, inputs=inputs, targets=batch.targets[at], extra=extra)


def _without_end(row: Tensor) -> tuple[object, ...]:
    """A row without what all padding is: zeros, or targets that ask nothing."""
    values = row.flatten().tolist()
    while values and values[-1] in (0, -100):
        values.pop()
    return tuple(values)


# The worst errors

MOST_ERRORS, MOST_CHARACTERS_OF_ERRORS = 40, 400
Entry = dict[str, Any]


def most_wrong(task: Task, examples: Sequence[Piece], ats: Sequence[Answers]) -> list[Entry]:
    """The held-out examples that are answered wrongly, the highest loss first: what was given, the right
    answer, the model's, and the probability of that (of its least sure token, where it has several).
    """
    worst = []
    for piece, at in zip(examples, ats, strict=True):
        losses = at.loss().above
        texts = task.prompts_of(piece.batch, "held out", piece.numbers)
        for row in (~(at.right | ~at.asked).all(dim=1)).nonzero().flatten().tolist():
            counts_at = at.asked[row]
            truth, answer = (task.written(ids[row][counts_at].tolist()) for ids in (at.targets, at.best))
            words = {"text": texts[row], "truth": truth, "answer": answer}
            entry: Entry = {name: text[:MOST_CHARACTERS_OF_ERRORS] for name, text in words.items()}
            entry["probability"] = float(at.sure[row][counts_at].min())
            worst.append({**entry, "loss": float(losses[row])})
    return sorted(worst, key=lambda entry: -entry["loss"])[:MOST_ERRORS]


def by_class(task: Pictures, examples: Sequence[Piece], findings: Found, split: Split) -> Entry:
    """The error of each class of pictures as a share of the variance; and the pictures with the highest."""
    each = next(iter(findings.judged.scores.values()))
    numbers = [number for piece in examples for number in piece.numbers or []]
    if len(numbers) != len(each.above):  # of an older run, which draws pictures without their numbers
        return {"rows": [], "wrong": []}
    labels = task.pictures_of(split, numbers)[1]
    rows = []
    for label in range(N_CLASSES):
        part = Quotients(*(side[labels == label] for side in each))
        if n_of(part):
            low, high = interval(part) or (None, None)
            entry = {"class": str(label), "n": n_of(part), "value": value_of(part), "low": low, "high": high}
            rows.append(entry)
    shares = (each.above / each.below).tolist()
    order = sorted(range(len(shares)), key=lambda at: -shares[at])[:MOST_ERRORS]
    texts = [text for piece in examples for text in task.prompts_of(piece.batch, split, piece.numbers)]
    wrong = [{"text": texts[at], "class": str(int(labels[at])), "value": shares[at]} for at in order]
    return {"rows": rows, "wrong": wrong if split == "held out" else []}


# Scores of translations, by sacrebleu (Post 2018)


SEED = 12345
"""Of the resamples, as in sacrebleu itself."""


class CorpusScore(NamedTuple):
    """A score of all sentences together, 0 to 100. signature: how sacrebleu computed it."""

    name: str
    value: float
    interval: Interval | None
    signature: str


def corpus_scores(written: Sequence[str], references: Sequence[str]) -> list[CorpusScore]:
    """chrF (Popović 2015), which counts shared strings of 1 to 6 letters, and BLEU (Papineni et al. 2002),
    which counts shared strings of 1 to 4 words.

    The interval is what 95% of the scores lie between when sentences are drawn again (Koehn 2004), by
    sacrebleu's resamples; of fewer than two sentences there is none.
    """
    from sacrebleu.metrics.bleu import BLEU  # takes a moment, and only translators need it
    from sacrebleu.metrics.chrf import CHRF

    scores = []
    for metric in (CHRF(), BLEU()):
        score = metric.corpus_score(list(written), [list(references)])
        within = None
        if len(written) > 1:
            # Its own printout has the mean ± half of this interval, which can leave 0 to 100.
            metric.n_bootstrap, metric.seed = n_resamples(len(written)), str(SEED)
            size = (metric.n_bootstrap, len(written))
            resamples = np.random.default_rng(SEED).choice(len(written), size=size)
            again = _bleu_of if isinstance(metric, BLEU) else _chrf_of
            within = between(again(written, references, resamples))
            # All sentences alike, as where nothing is right: that tells nothing about others.
            within = within if within and within[0] < within[1] else None
        name = {"chrF2": "chrF"}.get(score.name, score.name)
        scores.append(CorpusScore(name, float(score.score), within, str(metric.get_signature())))
    return scores


Drawn = Int[np.ndarray, "resample sentence"]
"""The sentences of each resample of a corpus."""


def _bleu_of(
    written: Sequence[str], references: Sequence[str], resamples: Drawn
) -> Float[np.ndarray, " resample"]:
    """BLEU of each resample, from what sacrebleu counts in each sentence."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)  # which counts the same, and does not warn of short sentences
    each = [metric.sentence_score(m, [w]) for m, w in zip(written, references, strict=True)]
    counted = np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in each])
    n = metric.max_ngram_order
    scores = []
    for rows in resamples:
        *counts, sys_len, ref_len = counted[rows].sum(axis=0).tolist()
        smoothed = metric.smooth_method, metric.smooth_value
        scores.append(BLEU.compute_bleu(counts[:n], counts[n:], sys_len, ref_len, *smoothed).score)
    return np.array(scores)


def _chrf_of(
    written: Sequence[str], references: Sequence[str], resamples: Drawn
) -> Float[np.ndarray, " resample"]:
    """chrF of each resample: F of the mean precision and recall over the lengths of strings that occur."""
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.helpers import extract_all_char_ngrams

    # strings of each length: written, right ones, shared
    counted = np.zeros((len(written), CHRF.CHAR_ORDER, 3))
    for row, pair in enumerate(zip(written, references, strict=True)):
        strings = (extract_all_char_ngrams(text, CHRF.CHAR_ORDER) for text in pair)
        for at, (own, right) in enumerate(zip(*strings, strict=True)):
            counted[row, at] = own.total() if right else 0, right.total(), (own & right).total()
    own, right, shared = np.moveaxis(np.stack([counted[rows].sum(axis=0) for rows in resamples]), -1, 0)
    occurs = (own > 0) & (right > 0)
    n = np.maximum(occurs.sum(axis=-1), 1)
    precision, recall = (
        np.divide(shared, each, out=np.zeros_like(shared), where=occurs).sum(axis=-1) / n
        for each in (own, right)
    )
    below = CHRF.BETA**2 * precision + recall
    above = 100 * (1 + CHRF.BETA**2) * precision * recall
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def sentence_chrf(written: Sequence[str], references: Sequence[str]) -> list[float]:
    """chrF of each sentence by itself, 0 to 100."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    return [float(metric.sentence_score(m, [w]).score) for m, w in zip(written, references, strict=True)]


# Greedy translations, the worst first

MOST_WRITTEN = 128  # sentences: writing takes a pass for each token
MOST_KEPT, MOST_CHARACTERS = 40, 400


def translations(
    task: Pairs, model: Transformer, examples: list[Piece], split: Split
) -> tuple[list[Entry], list[Entry]]:
    """chrF and BLEU of at most 128 sentences, evenly chosen of all lengths; and the worst of them by chrF."""
    total = sum(len(piece.batch) for piece in examples)
    every, first = -(-total // MOST_WRITTEN), 0
    sources, written, references = list[str](), list[str](), list[str]()
    for piece in examples:
        rows = [row for row in range(len(piece.batch)) if (first + row) % every == 0]
        first += len(piece.batch)
        if not rows:
            continue
        batch = rows_of(piece.batch, rows)
        numbers = None if piece.numbers is None else [piece.numbers[row] for row in rows]
        sources += task.prompts_of(batch, split, numbers)
        references += task.references(batch, split, numbers)
        written += task.translations(model, batch.to(next(model.parameters()).device))
    how, scores = f"sacrebleu's bootstrap over sentences, {n_resamples(len(written)):,} resamples", []
    for each in corpus_scores(written, references):
        low, high = each.interval or (None, None)
        entry = {"name": each.name, "value": each.value, "n": len(written), "low": low, "high": high}
        scores.append({**entry, "method": how, "signature": each.signature})
    alone = sentence_chrf(written, references)
    texts = {"text": sources, "made": written, "wanted": references}
    worst = [
        {**{name: lines[at][:MOST_CHARACTERS] for name, lines in texts.items()}, "chrf": alone[at]}
        for at in sorted(range(len(written)), key=lambda at: alone[at])[:MOST_KEPT]
    ]
    return scores, worst


# The report
# It is bounded: as many examples of each part as a validation reads, and at most 128 translations written.

VERSION = 1
PARTS: tuple[Split, ...] = ("held out", "test")

MOST_OUTCOMES = 5_000


def report(task: Task, model: Transformer, *, examples: int, at_once: int) -> Entry:
    """The report as JSON values: "parts" -> scores of each part; of the held-out one also "classes",
    "positions", "wrong" and "translations", where the task has such. Call `eval` first.

    examples: of each part at most; at_once: read together. A part without examples is left out.
    """
    whole: Entry = {"version": VERSION, "unit": unit_of(task), "parts": {}}
    sizes = task.split_sizes()
    for split in PARTS:
        pieces_of_part = pieces(task, split, examples, at_once)
        if not pieces_of_part:
            continue
        judged = judge(task, model, [piece.batch for piece in pieces_of_part])
        part: Entry = {"n": sum(len(piece.batch) for piece in pieces_of_part), "of": sizes[split]}
        part["scores"] = scores_of(judged)
        if split == "held out":
            part["outcomes"] = outcomes(judged)
        whole["parts"][split] = part | _further(task, model, pieces_of_part, judged, split, part["scores"])
    return whole


def _further(
    task: Task, model: Transformer, examples: list[Piece], judged: Found, split: Split, scores: list[Entry]
) -> Entry:
    """What this kind of task has beyond its scores; scores of its own are added to them."""
    more: Entry = {}
    if isinstance(task, Pairs):
        _add(scores, [_grown("perplexity", judged, math.exp)])
        lines, worst = translations(task, model, examples, split)
        _add(scores, lines)
        more["translations"] = worst if split == "held out" else []
    elif type(task).judged is Task.judged:
        device = next(model.parameters()).device
        ats = [task.at(model, piece.batch.to(device)) for piece in examples]
        if "continue" in task.abilities:
            _add(scores, _of_text(task, examples, judged))
            more["positions"] = positions(ats)
        if is_classifier(task):
            more["classes"], macro = classes(task, ats)
            _add(scores, [macro])
        if split == "held out" and ("answer" in task.abilities or is_classifier(task)):
            more["wrong"] = most_wrong(task, examples, ats)
    elif isinstance(task, Pictures):
        more["errors"] = by_class(task, examples, judged, split)
    return more


def is_classifier(task: Task) -> bool:
    """Whether each example has one answer of a few classes."""
    one = task.required_sizes().get("pooling") in ("first", "mean")
    return one and 2 <= len(task.outputs()) <= MOST_CLASSES


def unit_of(task: Task) -> str:
    """What an example is."""
    for kind, unit in ((Pictures, "pictures"), (TextClasses, "texts"), (TextModel, "pieces of text")):
        if isinstance(task, kind):
            return unit
    units = {"translate": "sentences", "answer": "questions", "fill": "sentences"}
    return next((units[ability] for ability in task.abilities if ability in units), "examples")


def outcomes(findings: Found) -> dict[str, list[list[float]]]:
    """What each example adds to a score: sums [example], and what they are divided by [example].

    Two runs with the same data are compared by these (models/runs/ranking.py); the first 5,000 are kept.
    """
    scores = {**findings.judged.losses, **findings.judged.scores}
    rounded = {name: [each[:MOST_OUTCOMES].tolist() for each in pair] for name, pair in scores.items()}
    return {name: [[float(f"{v:.6g}") for v in each] for each in pair] for name, pair in rounded.items()}


def scores_of(findings: Found) -> list[Entry]:
    """The loss and every score of a verdict, each with its n, its interval and how that was found."""
    scores, entries = verdict(findings), []
    for name, value in scores.scores.items():
        each = findings.judged.scores.get(name)
        right = None if each is None else right_of(each)
        how = method(scores.n[name]) if right is None else WILSON
        entry = _entry(name, value, scores.n[name], scores.intervals.get(name), how)
        if right is not None:
            entry["right"] = right[0]  # so many of n examples
        entries.append(entry)
    return entries


def _entry(name: str, value: float, n: int, within: Interval | None, how: str) -> Entry:
    low, high = within or (None, None)
    return {"name": name, "value": value, "n": n, "low": low, "high": high, "method": how if within else ""}


def _grown(name: str, findings: Found, grow: Callable[[float], float]) -> Entry:
    """A score that grows with the loss, so that its interval is that of the loss, grown alike."""
    losses = findings.judged.losses
    (each,) = [losses[name] for name in ("translation", "loss") if name in losses]
    within = interval(each)
    ends = None if within is None else (grow(within[0]), grow(within[1]))
    return _entry(name, grow(value_of(each)), n_of(each), ends, method(n_of(each)))


def _of_text(task: Task, examples: list[Piece], findings: Found) -> list[Entry]:
    """Perplexity, bits per token and, where tokens are parts of a text, bits per byte of it."""
    entries = [
        _grown("perplexity", findings, math.exp),
        _grown("bits per token", findings, lambda nats: nats / math.log(2)),
    ]
    if isinstance(task, TextModel):
        texts = [task.written(row) for piece in examples for row in piece.batch.targets.tolist()]
        # In UTF-8; a character that was cut in two is counted as one byte on each side.
        n_bytes = [len(text.encode()) - 2 * text.count("\N{REPLACEMENT CHARACTER}") for text in texts]
        above = findings.judged.losses["loss"].above / math.log(2)
        each = Quotients(above, torch.tensor(n_bytes, dtype=torch.float64))
        entries.append(
            _entry("bits per byte", value_of(each), n_of(each), interval(each), method(len(texts)))
        )
    return entries


def positions(ats: Sequence[Answers]) -> Entry:
    """The mean loss (nats) at each position over the examples that ask there, with its 95% band."""
    width = max(at.nats.shape[1] for at in ats)
    nats, counts_at = (np.zeros((sum(len(at.nats) for at in ats), width)) for _ in range(2))
    row = 0
    for at in ats:
        n, wide = at.nats.shape
        counts_at[row : row + n, :wide] = at.asked.numpy()
        nats[row : row + n, :wide] = np.where(at.asked.numpy(), at.nats.numpy(), 0.0)
        row += n
    with np.errstate(invalid="ignore", divide="ignore"):
        again = np.concatenate([times @ nats / (times @ counts_at) for times in counts(len(nats))])
        mean = nats.sum(axis=0) / counts_at.sum(axis=0)
    some = [at for at in range(width) if counts_at[:, at].sum() > 1]
    bands = [between(again[:, at]) or (mean[at], mean[at]) for at in some]
    return {
        "position": [at + 1 for at in some],
        "loss": [float(mean[at]) for at in some],
        "low": [float(low) for low, _ in bands],
        "high": [float(high) for _, high in bands],
        "n": [int(counts_at[:, at].sum()) for at in some],
    }


def classes(task: Task, ats: Sequence[Answers]) -> tuple[Entry, Entry]:
    """Who is taken for whom with the scores of each class; and their mean F1 as a score."""
    truth = [int(row[0]) for at in ats for row in at.targets]
    answers = [int(row[0]) for at in ats for row in at.best]
    names = list(task.outputs())
    matrix = confusion(truth, answers, len(names))
    rows = [{"class": name, **each._asdict()} for name, each in zip(names, class_scores(matrix), strict=True)]
    within = macro_f1_interval(truth, answers, len(names))
    macro = _entry("macro F1", float(macro_f1(matrix)), len(truth), within, method(len(truth)))
    return {"names": names, "confusion": matrix.tolist(), "rows": rows}, macro


def _add(scores: list[Entry], more: list[Entry]) -> None:
    scores.extend(entry for entry in more if math.isfinite(entry["value"]))
