"""The report on the command line: scores of each class, and a reader who has enough."""

import subprocess
import sys

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from attention_lab.models.runs.report import table
from attention_lab.models.scores.report import class_scores, confusion

NAMES = ["gut", "mittel", "schlecht"]


def reported(truth, answers, names):
    matrix = confusion(truth, answers, len(names))
    rows = [{"class": n, **s._asdict()} for n, s in zip(names, class_scores(matrix), strict=True)]
    found = {"names": names, "confusion": matrix.tolist(), "rows": rows}
    score = {"name": "loss", "value": 0.5, "n": len(truth), "low": None, "high": None, "method": ""}
    return table({"parts": {"held out": {"n": len(truth), "scores": [score], "classes": found}}})


def test_a_table_has_the_scores_of_each_class_and_who_is_taken_for_whom():
    truth, answers = np.random.default_rng(0).integers(3, size=(2, 40)).tolist()
    lines = reported(truth, answers, NAMES).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("CLASS"))
    assert lines[at].endswith("TAKEN FOR gut  TAKEN FOR mittel  TAKEN FOR schlecht")
    scores = np.array(precision_recall_fscore_support(truth, answers))
    expected = np.vstack([scores, confusion_matrix(truth, answers).T]).T
    shown = [[float(word) for word in line.split()[1:]] for line in lines[at + 1 : at + 4]]
    np.testing.assert_allclose(shown, expected, atol=1e-4)


def test_a_class_that_nothing_is_taken_for_has_no_precision_and_many_classes_no_matrix():
    assert "mittel    –          0       0" in reported([0, 1, 2], [0, 0, 2], NAMES)
    assert "TAKEN FOR" not in reported([0, 1, 2], [0, 0, 2], [f"class {i}" for i in range(7)])


def test_scores_of_100_say_so_and_no_interval_is_spoken_of_where_there_is_none():
    score = {
        "name": "BLEU",
        "value": 0.5,
        "n": 2,
        "low": None,
        "high": None,
        "method": "",
        "signature": "v:2",
    }
    said = table({"parts": {"test": {"n": 2, "scores": [score]}}})
    assert "BLEU (of 100)  0.5" in said and said.endswith("BLEU: v:2") and "intervals:" not in said


def test_a_reader_who_has_enough_ends_a_command_without_a_word():
    command = [sys.executable, "-m", "attention_lab.models.training", "tasks"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()  # as `head` does
        assert (process.stderr.read(), process.wait(30)) == (b"", 141)
