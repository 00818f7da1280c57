"""The section of a run's scores: what its tables and panels say of a report, and what a bad one says."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.pages.runs import report
from attention_lab.viz_core.labels import TIMES
from tests.pages.shared.runs import write_run

ENTRY = {"name": "accuracy", "value": 0.75, "n": 60, "low": 0.6, "high": 0.85, "method": "how", "right": 45}
FOUND = {
    "version": 1, "unit": "texts", "step": 200,
    "parts": {
        "held out": {
            "n": 60, "of": 61,
            "scores": [ENTRY, {**ENTRY, "name": "loss", "value": 0.0000321, "low": None, "high": None}],
            "classes": {
                "names": ["<b>bad</b>", "good"], "confusion": [[30, 10], [5, 15]],
                "rows": [
                    {"class": "<b>bad</b>", "precision": 30 / 35, "recall": 0.75, "f1": 0.8, "n": 40},
                    {"class": "good", "precision": None, "recall": 0.75, "f1": 2 / 3, "n": 20},
                ],
            },
            "wrong": [
                {"text": "a <i>dull</i> film", "truth": "bad", "answer": "good", "probability": 0.98,
                 "loss": 4.1},
                {"text": "", "truth": "bad", "answer": "good", "probability": 0.9, "loss": 2.0},
            ],
        },
        "test": {
            "n": 55, "of": 55,
            "scores": [{**ENTRY, "value": 0.0, "right": 0, "n": 55, "signature": "nrefs:1"}],
        },
    },
}  # fmt: skip


def test_scores_stand_beside_each_other_with_interval_and_n() -> None:
    columns, rows = report.score_rows(FOUND["parts"])
    assert columns == ("score", "#held out", "#95% interval", "#n", "#test", "#95% interval", "#n")
    assert rows[0].cells == [
        "accuracy",
        "75.0 %",
        "60.0 % to 85.0 %",
        "60",
        "0 of 55",
        "60.0 % to 85.0 %",
        "55",
    ]
    assert rows[1].cells == ["loss", f"3.21{TIMES}10⁻⁵", "–", "60", "–", "–", "–"]
    said = report.about(FOUND, FOUND["parts"])
    assert said == (
        "Step 200. Held out: 60 of 61 texts. Test: 55 of 55 texts. 95% intervals: how. accuracy nrefs:1."
    )


def test_the_confusion_matrix_has_counts_coloured_as_shares_of_the_truth() -> None:
    (panel,) = report.panels_of(FOUND["parts"])
    assert panel.values == pytest.approx(np.array([[0.75, 0.25], [0.25, 0.75]]))
    assert panel.texts == [["30", "10"], ["5", "15"]] and (panel.row_axis, panel.column_axis) == (
        "truth",
        "answer",
    )
    assert panel.quantity == "share of the true class"
    assert "share of the true class <b>%{z" in panel.chart.traces[0]["hovertemplate"]
    columns, rows = report.class_rows(FOUND["parts"]["held out"]["classes"]["rows"])
    assert rows[1].cells == ["good", "–", "0.750", "0.667", "20"] and columns[1] == "#precision"


def test_what_is_most_wrong_can_be_opened_where_it_can_be_typed() -> None:
    found, caption, (columns, rows) = report.examples_of(FOUND["parts"]["held out"])
    assert caption == "Most wrong, the highest loss first" and len(found) == len(rows) == 2
    assert [row.opened for row in rows] == [False, None] and rows[0].cells[3:] == ["0.980", "4.100"]
    assert columns[:3] == ("text", "truth", "answer")
    translated = {"translations": [{"text": "x" * 300, "made": "m", "wanted": "w", "chrf": 12.34}]}
    _, caption, (_, rows) = report.examples_of(translated)
    assert caption.startswith("Translations") and len(rows[0].cells[0]) == 120 and rows[0].cells[1] == "12.3"


def test_the_loss_by_position_has_a_band_for_each_part() -> None:
    band = {"position": [2, 3], "loss": [2.0, 1.5], "low": [1.9, 1.4], "high": [2.1, 1.6], "n": [9, 9]}
    (panel,) = report.panels_of({"held out": {"positions": band}, "test": {"positions": band}})
    assert [line.name for line in panel.lines] == ["held out", "test"] and panel.x.tolist() == [1, 2, 3]
    assert np.isnan(panel.lines[0].y[0]) and panel.lines[0].high[2] == 1.6


def page() -> None:
    from attention_lab.models.runs.folder import Status
    from attention_lab.pages.runs import report
    from attention_lab.pages.shared.training import runs

    run = runs.find("reverse")
    report.draw(run, Status(state="finished", step=200, steps=200))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (json.dumps(FOUND), "Step 200"),
        ("{", "cannot be shown"),
        (json.dumps({"version": 99}), "newer"),
        (json.dumps({"version": 1, "parts": {"held out": {"n": 1}}}), "it is damaged"),
        (json.dumps({"version": 1, "parts": []}), "it is damaged"),
    ],
)
def test_a_report_is_shown_and_a_damaged_one_is_said_in_place(content: str, said: str, root: Path) -> None:
    write_run(root, "reverse")
    (root / "reverse" / "report.json").write_text(content)
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    words = " ".join(str(each.value) for kind in (app.caption, app.text, app.markdown) for each in kind)
    assert said in words.replace("\\", "")
