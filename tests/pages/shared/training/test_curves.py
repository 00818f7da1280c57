import numpy as np
import pytest

from attention_lab.pages.shared.training import curves


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


def test_curves_over_tokens_and_seconds_stand_where_the_records_say() -> None:
    entries = [{"step": s, "loss": 1.0 / s, "tokens": 100 * s, "seconds": s / 4} for s in range(1, 51)]
    view = curves.View(x="tokens")
    x = curves.axis(entries, 100, view)
    assert x[-1] == pytest.approx(10_000) and view.known_in(entries) is view
    y = curves.series(entries, curves.of("loss"), x, view)
    assert np.isnan(y[x > 5_030]).all() and np.isfinite(y[(x > 100) & (x < 5_000)]).all()
    np.testing.assert_allclose(curves.places(entries, np.array([0.0, 10, 50]), view), [0, 1_000, 5_000])
    np.testing.assert_allclose(curves.places(entries, np.array([8.0]), curves.View(x="seconds")), [2.0])
    logs = curves.View(x="seconds", log_x=True)
    assert curves.axis(entries, 50, logs)[[0, -1]] == pytest.approx([0.25, 12.5])
    assert curves.View(x="tokens").known_in([{"step": 1, "loss": 1.0}]) == curves.View(x="steps")


def test_a_smoothed_curve_stands_before_the_one_that_was_recorded() -> None:
    entries = [{"step": s, "loss": float(s % 2), "gradient_norm": 3.0} for s in range(1, 200)]
    view = curves.View(smoothing=0.9)
    found = curves.loss_curves(entries, curves.grid(200), view)
    assert [(line.name, line.faint, line.listed) for line in found.lines] == [
        ("training, as recorded", True, False),
        ("training", False, True),
        ("held out", False, True),
    ]
    raw, smooth = (line.y[np.isfinite(line.y)][20:] for line in found.lines[:2])
    assert raw.std() > 5 * smooth.std() and smooth.mean() == pytest.approx(0.5, abs=0.02)
    traces = found.chart.traces
    assert [trace["showlegend"] for trace in traces] == [False, True, True]
    assert traces[0]["line"]["color"].alpha < 1
    gradient = curves.gradient_curve(entries, curves.grid(200), 1.0, view)
    assert gradient.lines[-1].dashed and (gradient.lines[-1].y == 1.0).all()


def test_norms_of_parts_are_read_and_bounded() -> None:
    parts = {f"encoder.{at}": [0.1 * at, float(at)] for at in range(30)}
    entries = [{"step": s, "norms": parts} for s in range(1, 11)]
    found = curves.part_curves(entries, curves.grid(10), curves.View(norms="weights"))
    assert found.title == "weight norm of each part, 12 of 30"
    assert [found.lines[0].name, found.lines[-1].name] == ["encoder.0", "encoder.29"]
    assert found.lines[-1].y[100] == pytest.approx(29)
    odd = [{"step": 1, "norms": {"a": 3}}, {"step": 2, "norms": []}]
    assert np.isnan(curves.part_curves(odd, curves.grid(9)).lines[0].y).all()


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
