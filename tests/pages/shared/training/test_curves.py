import numpy as np
import pytest

from pages.shared.training import curves


def test_sparse_records_are_joined_by_straight_lines_and_end_where_they_end() -> None:
    x = np.array([0.0, 10, 20, 30, 40, 50])
    entries = [{"step": 10, "loss": 4.0}, {"step": 40, "loss": 1.0}]
    np.testing.assert_allclose(curves.series(entries, curves.of("loss"), x), [np.nan, 4, 3, 2, 1, np.nan])


def test_dense_records_become_their_means() -> None:
    x = np.array([0.0, 10, 20])
    entries = [{"step": step, "loss": float(step)} for step in range(26)]
    # 0..5, 6..15 and 16..25 lie nearest to the three points
    np.testing.assert_allclose(
        curves.series(entries, curves.of("loss"), x)[1], np.mean(range(6, 16)), atol=0.6
    )


@pytest.mark.parametrize("log", [False, True])
def test_a_chart_keeps_its_points_whatever_was_recorded(log: bool) -> None:
    x = curves.grid(1_000, log=log)
    assert len(x) == curves.POINTS and x[-1] == pytest.approx(1_000)
    shapes = {
        tuple(line.y.shape for line in curves.loss_curves(entries, x).lines)
        for entries in ([], [{"step": 1, "loss": 2.0}], [{"step": s, "loss": 1.0} for s in range(1, 999)])
    }
    assert len(shapes) == 1


def test_what_is_no_number_is_not_drawn() -> None:
    entries = [{"step": 1, "loss": "much"}, {"step": 2, "loss": float("nan")}, {"step": 3, "loss": True}]
    assert np.isnan(curves.series(entries, curves.of("loss"), curves.grid(10))).all()


def test_scores_are_named_by_the_first_validation_and_the_loss_is_none() -> None:
    entries = [{"step": 1}, {"step": 2, "validation": {"loss": 1.0, "accuracy": 0.5, "negated": 0.25}}]
    assert curves.scores_of(entries) == ["accuracy", "negated"]
    assert curves.last(entries, curves.validated("negated")) == 0.25
    assert curves.last(entries, curves.validated("none")) is None
    assert [line.name for line in curves.score_curves(entries, curves.grid(9)).lines] == [
        "accuracy",
        "negated",
    ]
