"""Ranges along the axes of a sweep: what a drag makes of them, which trials they leave, their link."""

import numpy as np
import pytest

from attention_lab.pages.sweeps import brushes
from attention_lab.pages.sweeps.board import board_of
from attention_lab.viz_core.boards import Parallel
from tests.pages.sweeps.conftest import MakeSweep


def drawn(sweep, ranges=None) -> Parallel:
    given = brushes.on_axes(sweep.spec, ranges or {})
    trials = sweep.trials()
    shown = brushes.within(sweep.spec, ranges or {}, trials)
    board = board_of(sweep.spec, trials, {}, by="n_heads", standing_out=shown, ranges=given)
    return board.rows[0][0]


def test_trials_within_all_ranges_stand_out(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(fails=6)  # 1, 2 and 4 heads, each with norm pre and post; the last has failed
    trials = sweep.trials()

    def left(**ranges: tuple[float, float]) -> list[int]:
        ranges = {name.replace("value", brushes.VALUE): each for name, each in ranges.items()}
        kept = brushes.within(sweep.spec, ranges, trials)
        return [trial.number for trial, is_kept in zip(trials, kept, strict=True) if is_kept]

    assert left() == [0, 1, 2, 3, 4, 5]
    assert left(n_heads=(1.5, 4)) == [2, 3, 4, 5]
    assert left(n_heads=(2, 4), norm=(1, 1)) == [3, 5]
    assert left(n_heads=(2, 4), value=(0.2, 1)) == [2, 3, 4]  # a failed trial has no value
    assert left(n_heads=(3, 3)) == []
    assert left(of_another_sweep=(0, 0)) == [0, 1, 2, 3, 4, 5]


def test_a_drag_is_a_range_of_values_and_comes_back_as_the_same_heights(make_sweep: MakeSweep) -> None:
    sweep = make_sweep("n_heads=1,2,4,8", "learning_rate=log(1e-4,1e-2)", "norm=pre,post", trials=8)
    panel = drawn(sweep)
    rates = panel.axes[1].values
    ranges = brushes.changed(sweep.spec, {}, panel, 1, 0.75, 0.25)
    low, high = ranges["learning_rate"]
    ends = np.log10([rates.min(), rates.max()])
    np.testing.assert_allclose(
        np.log10([low, high]), ends[0] + np.array([0.25, 0.75]) * (ends[1] - ends[0]), rtol=1e-4
    )
    ranges = brushes.changed(sweep.spec, ranges, panel, 2, 0.6, 0.9)  # it touches post alone
    assert ranges["norm"] == (1.0, 1.0)
    sent = drawn(sweep, ranges).message()
    assert sent["drawn_by"] == "parallel" and "ranges" not in sent
    assert [each["range"] for each in sent["uprights"]] == [
        None,
        pytest.approx((0.25, 0.75), abs=1e-4),
        (0.5, 1),
        None,
    ]
    assert [len(each["stops"]) for each in sent["uprights"]][1:3] == [8, 3]
    assert sent["uprights"][2]["said"] == ["pre", "post"]
    value, told = panel.axes[-1], sent["told"]
    assert (told["rows"], told["columns"][0]) == (list(panel.names), value.name)
    read = [row[0] if isinstance(row[0], float) else np.nan for row in told["cells"]]
    np.testing.assert_array_equal(read, value.values)
    assert {row[3] for row in told["cells"]} == {"pre", "post"}
    ranges = brushes.changed(sweep.spec, ranges, panel, 1, 0, 1)
    assert list(ranges) == ["norm"]  # all of an axis is no range
    for axis, low in ((4, 0.0), (-1, 0.0), (0, float("nan"))):
        with pytest.raises(ValueError):
            brushes.changed(sweep.spec, {}, panel, axis, low, 1.0)


def test_an_end_at_a_trial_s_value_takes_the_trial_in(make_sweep: MakeSweep) -> None:
    """A range is written with six digits, and the heights that come from the browser may be rounded."""
    sweep = make_sweep("n_heads=1,2,4,8", "learning_rate=log(1e-4,1e-2)", trials=12)
    panel, trials = drawn(sweep), sweep.trials()
    heights = panel.axes[1].heights()
    for low, high in ((2, 7), (5, 5), (0, 11)):
        ends = np.sort(heights)[[low, high]]
        ranges = brushes.changed(sweep.spec, {}, panel, 1, *map(float, ends))
        ranges = brushes.read(brushes.written(ranges))
        assert sum(brushes.within(sweep.spec, ranges, trials)) == high - low + 1


def test_what_a_link_says_is_checked() -> None:
    assert brushes.read("") == {}
    ranges = {"n_heads": (1.0, 4.0), brushes.VALUE: (0.25, 1.0), "learning_rate": (1e-4, 0.01)}
    assert brushes.read(brushes.written(ranges)) == ranges
    wrongs = ("n_heads", "a:1", "n_heads:4:1", "a:b:c", "a:nan:1", "a:0:inf", "<b>:0:1", "a:0:1;a:0:1")
    for wrong in wrongs:
        assert not brushes.RULE.fits(wrong), wrong
    assert not brushes.RULE.fits(";".join(f"a{at}:0:1" for at in range(1_000)))
