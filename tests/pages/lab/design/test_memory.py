"""The lesson's megabytes, what each switch does to them, and the measured table."""

import re
from dataclasses import replace

import numpy as np
import pytest

from models.lessons.design import memory as lesson
from models.lessons.design import training_step
from pages.lab.design import calculator, memory, paths
from pages.lab.design.inputs import LONG, Inputs
from tests.pages.lab.design.conftest import facts, panel, rows

AT = LONG.index(1_000)


def test_the_lessons_numbers():
    board = memory.lesson(Inputs()).board
    found = facts(board)
    assert found["one head's matrices, 16 sequences"][AT] == 16 * 1_000 * 1_000 * 4 / 1e6 == 64
    assert found["four copies of them"][AT] == 256
    assert found["× heads × layers"][AT] == pytest.approx(256e6 * 8 * 6 / 1e9)
    kept = 6 * (8 * 64e6 + 5 * 16 * 1_000 * 512 * 4)
    assert found["PyTorch keeps, plain"][AT] == pytest.approx(kept / 1e9)
    assert found["peak, with your switches"][AT] == pytest.approx((kept + 2 * 8 * 64e6) / 1e9)
    said = "the attention matrices of one head, one for each of 16 sequences, take **64 MB**"
    assert said in board.notice[AT] and "**12.3 GB**" in board.notice[AT]


SWITCHES = {
    "half": {"half": True}, "4 pieces": {"pieces": 4}, "checkpoint": {"checkpointing": True},
    "fused": {"fused": True},
}  # fmt: skip


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_does_what_its_bar_says(name: str):
    board = memory.lesson(Inputs(**SWITCHES[name])).board
    bars = panel(board, "peak, % of plain: each saving alone, and your switches")
    by_name = dict(zip(bars.labels, bars.values.T, strict=True))
    np.testing.assert_allclose(by_name["yours"], by_name[name])
    np.testing.assert_allclose(by_name["plain"], 100)
    curves = {line.name: line.y for line in panel(board, "peak over the length").lines}
    np.testing.assert_allclose(100 * curves["your switches"] / curves["plain"], by_name[name])
    said = re.search(r"peaks at ([\d.,]+) GB; with your switches \*\*([\d.,]+) GB", board.notice[AT]).groups()
    before, after = (float(number.replace(",", "")) for number in said)
    assert 100 * after / before == pytest.approx(by_name[name][AT], rel=0.01)


def test_the_measured_table_is_measured():
    found = rows(memory.lesson(Inputs(half=True)).board)
    plain = training_step.measure(lesson.SMALL)
    assert found["plain"][1] == f"{plain.kept / 1e3:,.0f}"
    assert found["plain"][4] == f"{plain.peak / 1e3:,.0f}"
    assert found["your switches"] == found["half precision"]
    for cells in found.values():
        assert cells[2] == "1.000"
        assert 0.89 < float(cells[5]) <= 1.001


def test_the_largest_numbers_are_written_out():
    notice = memory.lesson(Inputs(sequences=64, heads=16, layers=24)).board.notice[-1]
    assert "take **65,536 MB**" in notice and f"**{4 * 65.536 * 16 * 24:,.0f} GB**" in notice


def test_an_experiment_changes_one_thing_whatever_was_tried_before():
    for part in (paths, memory, calculator):
        fields = [experiment.set.keys() for experiment in part.TRIES]
        assert fields[0] == fields[1] == fields[2]


def test_pieces_that_are_not_equal_are_refused():
    with pytest.raises(ValueError, match="4 sequences cannot be cut into 8 equal pieces; try 4 pieces"):
        memory.lesson(Inputs(sequences=4, pieces=8))


def test_questions():
    grown, kept, saves = memory.questions()
    assert grown.options[grown.right] == "× 4" and "64 MB and then 256 MB" in grown.because
    assert kept.options[kept.right] == "one"
    long = lesson.Setting(16, 4_000, 8, 6)
    peaks = [
        lesson.peak_bytes(replace(long, **saving))
        for saving in ({"half": True}, {"fused": True}, {"checkpointing": True})
    ]
    assert saves.right == int(np.argmin(peaks))
