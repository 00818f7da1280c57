"""The examples of a run's report, by which two single runs are compared."""

import json

from models.runs.examples import of_report, outcomes_in
from models.runs.folder import RunFolder
from models.runs.results import Result

GOOD = {"parts": {"held out": {"outcomes": {"accuracy": [[1, 0.0, 1], [1, 1, 1]]}}}}


def test_examples_are_read_and_what_is_damaged_is_left_out():
    assert of_report(GOOD, "accuracy") == ([1, 0.0, 1], [1, 1, 1])
    assert of_report(GOOD, "BLEU") is None
    odd = [3, [[1], [1, 2]], [[1], ["x"]], [[1e99], [1]], [[1], [0]], [[], []], [[1]]]
    for outcomes in odd:
        report = {"parts": {"held out": {"outcomes": {"accuracy": outcomes}}}}
        assert of_report(report, "accuracy") is None
    assert of_report({"parts": []}, "accuracy") is None


def test_a_report_of_another_step_does_not_count(tmp_path):
    (tmp_path / "report.json").write_text(json.dumps({"version": 1, "step": 50, **GOOD}))
    folders = {"mine": RunFolder(tmp_path)}
    run = Result(id="mine", name="", task="", data={}, settings={}, seed=0, step=50, scores={})
    assert outcomes_in(folders)(run, "accuracy") == ([1, 0.0, 1], [1, 1, 1])
    later = Result(id="mine", name="", task="", data={}, settings={}, seed=0, step=60, scores={})
    assert outcomes_in(folders)(later, "accuracy") is None
    assert outcomes_in({})(run, "accuracy") is None
    (tmp_path / "report.json").write_text("{")
    assert outcomes_in(folders)(run, "accuracy") is None
