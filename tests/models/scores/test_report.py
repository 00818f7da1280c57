"""The report of a model: every part's scores, and what each kind of task has beyond them."""

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import sacrebleu
import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import estimate_ci
from scipy.stats import bootstrap
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support
from torch.nn.functional import cross_entropy

from attention_lab.models.data.tasks import IGNORED, Task, make_task
from attention_lab.models.data.tasks.everyday import DIRECTIONS
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.scores.report import (
    SEED,
    _bleu_of,
    _chrf_of,
    class_scores,
    confusion,
    corpus_scores,
    keys,
    macro_f1,
    macro_f1_interval,
    pieces,
    report,
    sentence_chrf,
)
from attention_lab.models.training.config import run_config

SIZES = {"n_layers": 1, "n_heads": 1, "d_model": 16}


def model_of(task: Task) -> Transformer:
    return Transformer(run_config(task, sizes=SIZES).model, seed=1).eval()


def report_of(task: Task, examples: int = 40) -> tuple[dict, Transformer]:
    model = model_of(task)
    found = report(task, model, examples=examples, at_once=16)
    return json.loads(json.dumps(found)), model


def scores(found: dict, part: str) -> dict[str, dict]:
    return {entry["name"]: entry for entry in found["parts"][part]["scores"]}


def test_of_a_classifier_there_are_classes_and_the_most_wrong_which_can_be_read_again() -> None:
    task = make_task("digits-classifier")
    found, model = report_of(task)
    part = found["parts"]["held out"]
    assert (found["unit"], part["n"], part["of"], found["parts"]["test"]["of"]) == ("pictures", 40, 359, 179)
    matrix = np.array(part["classes"]["confusion"])
    assert matrix.sum() == 40 and scores(found, "held out")["accuracy"]["right"] == np.trace(matrix)
    assert [row["n"] for row in part["classes"]["rows"]] == matrix.sum(axis=1).tolist()
    losses = [entry["loss"] for entry in part["wrong"]]
    assert losses == sorted(losses, reverse=True) and len(losses) == min(40, 40 - np.trace(matrix))
    for entry in part["wrong"][:5]:
        logits = model(*task.read(entry["text"]).inputs)[0, 0].double()
        assert entry["answer"] == str(int(logits.argmax())) != entry["truth"]
        assert entry["probability"] == pytest.approx(logits.softmax(-1).max().item(), rel=1e-4)
        assert entry["loss"] == pytest.approx(
            cross_entropy(logits, torch.tensor(int(entry["truth"]))).item(), rel=1e-4
        )
    assert "wrong" not in found["parts"]["test"], "what is for a test is not looked at"
    for name, (above, below) in part["outcomes"].items():
        assert len(above) == len(below) == 40
        assert sum(above) / sum(below) == pytest.approx(scores(found, "held out")[name]["value"], rel=1e-4)
    assert {"loss", "accuracy"} <= part["outcomes"].keys() and "outcomes" not in found["parts"]["test"]


def test_of_a_text_there_are_perplexity_bits_and_the_loss_by_position() -> None:
    task = make_task("language-model", {"length": 16})
    found, model = report_of(task)
    said, band = scores(found, "held out"), found["parts"]["held out"]["positions"]
    held = task.examples(1, 40)
    with torch.no_grad():
        nats = cross_entropy(
            model(*held[0].inputs).double().flatten(0, 1), held[0].targets.flatten(), reduction="none"
        ).view(40, 16)
    assert band["position"] == list(range(1, 17)) and band["n"] == [40] * 16
    assert band["loss"] == pytest.approx(nats.mean(dim=0).tolist(), rel=1e-5)
    assert all(
        low < mean < high for low, mean, high in zip(band["low"], band["loss"], band["high"], strict=True)
    )
    assert said["perplexity"]["value"] == pytest.approx(math.exp(nats.mean()), rel=1e-5)
    assert said["bits per token"]["value"] == pytest.approx(nats.mean().item() / math.log(2), rel=1e-5)
    n_bytes = sum(len(task.written(row).encode()) for row in held[0].targets.tolist())
    assert said["bits per byte"]["value"] == pytest.approx(
        nats.sum().item() / math.log(2) / n_bytes, rel=1e-5
    )
    low, high = (math.exp(said["loss"][edge]) for edge in ("low", "high"))
    assert (said["perplexity"]["low"], said["perplexity"]["high"]) == pytest.approx((low, high))


def test_of_a_translator_there_are_its_translations_the_worst_first(tmp_path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(f"word{n} here\tmot{n} ici {'loin ' * (n % 4)}" for n in range(120)))
    task = make_task("everyday", {"file": str(path), "vocabulary": 300, "length": 32})
    found, model = report_of(task, examples=200)
    part = found["parts"]["held out"]
    assert part["n"] == part["of"] == task.split_sizes()["held out"] < 40
    said = scores(found, "held out")
    assert {"loss", "tokens right", "whole sentences", "perplexity", "chrF", "BLEU"} == set(said)
    assert said["chrF"]["signature"].startswith("nrefs:1|") and said["chrF"]["n"] == part["n"]
    chrf = [entry["chrf"] for entry in part["translations"]]
    assert chrf == sorted(chrf)
    for entry in part["translations"][:4]:
        readings = [task.read(entry["text"], direction=each) for each in DIRECTIONS]
        answers = [task.answered(model, each).answer for each in readings]  # one alone ends where it has room
        assert any(each.startswith(entry["made"]) or entry["made"].startswith(each) for each in answers)
        assert (entry["text"], entry["wanted"].strip()) in task.rows["held out"]
    assert found["parts"]["test"]["translations"] == []


def test_pictures_have_an_error_for_each_class() -> None:
    task = make_task("digits-autoencoder")
    found, _ = report_of(task, examples=359)
    part = found["parts"]["held out"]
    rows = part["errors"]["rows"]
    assert [row["class"] for row in rows] == [str(n) for n in range(10)]
    assert sum(row["n"] for row in rows) == 359
    assert all(row["low"] < row["value"] < row["high"] for row in rows)
    worst = part["errors"]["wrong"][0]
    assert worst["value"] == max(entry["value"] for entry in part["errors"]["wrong"])
    assert task.read(worst["text"]).picture is not None and found["parts"]["test"]["errors"]["wrong"] == []


def test_a_test_of_endless_examples_has_none_that_a_validation_reads() -> None:
    task = make_task("reverse", {"length": 3})  # so short that many come again
    held_out, tested = (pieces(task, split, 200, 64) for split in ("held out", "test"))
    known = [key for piece in held_out for key in keys(piece.batch)]
    other = [key for piece in tested for key in keys(piece.batch)]
    assert len(known) == 200 and not set(known) & set(other) and 20 < len(other) < 200
    found, _ = report_of(task)
    assert all((batch.targets != IGNORED).any() for batch, _ in tested)
    entry = scores(found, "held out")["exact match"]
    assert (entry["right"], entry["low"]) == (0, 0.0) and entry["method"].startswith("Wilson")
    assert found["parts"]["held out"]["wrong"][0]["text"].endswith("=")


RNG = np.random.default_rng(0)
TRUTH = RNG.integers(4, size=300)
ANSWERS = np.where(RNG.random(300) < 0.6, TRUTH, RNG.integers(4, size=300))


def test_precision_recall_and_f1_are_those_of_scikit_learn() -> None:
    matrix = confusion(TRUTH.tolist(), ANSWERS.tolist(), 4)
    assert matrix.tolist() == confusion_matrix(TRUTH, ANSWERS).tolist()
    precision, recall, f1, support = precision_recall_fscore_support(TRUTH, ANSWERS)
    found = class_scores(matrix)
    assert [each.precision for each in found] == pytest.approx(precision.tolist())
    assert [each.recall for each in found] == pytest.approx(recall.tolist())
    assert [each.f1 for each in found] == pytest.approx(f1.tolist())
    assert [each.n for each in found] == support.tolist()
    assert float(macro_f1(matrix)) == pytest.approx(f1_score(TRUTH, ANSWERS, average="macro"))


def test_a_class_that_nobody_names_has_no_precision_and_one_that_is_not_there_does_not_count() -> None:
    truth, answers = [0, 0, 1, 1], [0, 0, 0, 0]
    matrix = confusion(truth, answers, 3)
    zero, one, two = class_scores(matrix)
    assert (one.precision, one.recall, one.f1, one.n) == (None, 0.0, 0.0, 2)
    assert (two.precision, two.recall, two.f1, two.n) == (None, None, 0.0, 0)
    assert zero.precision == 0.5
    assert float(macro_f1(matrix)) == pytest.approx(
        f1_score(truth, answers, average="macro", zero_division=0)
    )


def test_the_interval_of_the_mean_f1_is_that_of_scipy() -> None:
    wanted = bootstrap(
        (TRUTH, ANSWERS), lambda truth, answers: f1_score(truth, answers, average="macro"), paired=True,
        vectorized=False, method="percentile", n_resamples=300, rng=1,
    ).confidence_interval  # fmt: skip
    low, high = macro_f1_interval(TRUTH.tolist(), ANSWERS.tolist(), 4)
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=0.2 * (wanted.high - wanted.low))
    assert macro_f1_interval([0, 1], [0, 1], 2) is None, "all alike"


WANTED = ["the cat sat on the mat .", "a dog ran home", "she reads a long book"] * 8
MADE = ["the cat sat on a mat .", "the dog ran", "he reads one book"] * 8


def chrf_by_hand(made: str, wanted: str) -> float:
    """Popović 2015: the mean over n = 1 to 6 of n-gram precision and recall, F with beta 2, no blanks."""
    made, wanted = made.replace(" ", ""), wanted.replace(" ", "")
    precisions, recalls = [], []
    for n in range(1, 7):
        grams = [Counter(text[at : at + n] for at in range(len(text) - n + 1)) for text in (made, wanted)]
        if not grams[0] or not grams[1]:
            continue
        shared = sum((grams[0] & grams[1]).values())
        precisions.append(shared / sum(grams[0].values()))
        recalls.append(shared / sum(grams[1].values()))
    precision, recall = (sum(each) / len(each) for each in (precisions, recalls))
    return 100 * 5 * precision * recall / (4 * precision + recall)


def test_chrf_of_a_sentence_is_its_definition() -> None:
    wanted = [chrf_by_hand(made, right) for made, right in zip(MADE[:3], WANTED[:3], strict=True)]
    assert sentence_chrf(MADE[:3], WANTED[:3]) == pytest.approx(wanted, rel=1e-6)
    assert sentence_chrf(["the same"], ["the same"]) == [pytest.approx(100)]


def test_scores_of_a_corpus_are_those_of_sacrebleu_with_its_signature_and_an_interval() -> None:
    chrf, bleu = corpus_scores(MADE, WANTED)
    assert (chrf.name, bleu.name) == ("chrF", "BLEU")
    assert chrf.value == pytest.approx(sacrebleu.corpus_chrf(MADE, [WANTED]).score)
    assert bleu.value == pytest.approx(sacrebleu.corpus_bleu(MADE, [WANTED]).score)
    for score in (chrf, bleu):
        low, high = score.interval
        assert low < score.value < high
        assert "version:" in score.signature and "nrefs:1" in score.signature


@pytest.mark.parametrize(("metric", "again"), [(CHRF(), _chrf_of), (BLEU(), _bleu_of)])
def test_scores_of_resamples_are_those_of_sacrebleu_itself(metric: Any, again: Any) -> None:
    made, wanted = [*MADE, "", "a", "the cat"], [*WANTED, "he ran", "", "the cat"]
    drawn = np.random.default_rng(SEED).choice(len(made), size=(300, len(made)))
    printed = metric.corpus_score(made, [wanted], n_bootstrap=300).format(width=6)
    mean_and_half = printed.partition("μ = ")[2].partition(")")[0].split(" ± ")
    expected = pytest.approx([float(each) for each in mean_and_half], abs=1e-4)  # it computes with 32 bits
    assert list(estimate_ci(again(made, wanted, drawn))) == expected


def test_the_interval_is_what_95_of_100_drawn_corpora_lie_between_though_it_is_lopsided() -> None:
    made = [*WANTED[:18], *MADE[18:20]]  # two of twenty sentences have faults
    (low, high), mean = corpus_scores(made, WANTED[:20])[0].interval, []
    for drawn in np.random.default_rng(3).integers(20, size=(500, 20)):
        pair = [made[at] for at in drawn], [[WANTED[at] for at in drawn]]
        mean.append(sacrebleu.corpus_chrf(*pair).score)
    wanted = np.quantile(mean, [0.025, 0.975])
    assert (low, high) == pytest.approx(tuple(wanted), abs=0.5) and high == pytest.approx(100)


def test_where_nothing_is_right_or_one_sentence_is_all_there_is_no_interval() -> None:
    assert [(each.value, each.interval) for each in corpus_scores(["x"] * 5, ["y"] * 5)] == [(0, None)] * 2
    assert all(each.interval is None for each in corpus_scores(["one two"], ["one two three"]))
