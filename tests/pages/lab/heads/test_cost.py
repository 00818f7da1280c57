"""Counted costs against modules; measured ones are there."""

import re

import numpy as np

from attention_lab.pages.lab.heads import cost
from attention_lab.pages.lab.heads.inputs import HEAD_COUNTS, Inputs
from attention_lab.viz_core.boards import Board


def facts(board: Board, kind: str) -> dict:
    found = next(p for row in board.rows for p in row if p.title == f"{kind} heads")
    return {fact.label: fact.values for fact in found.facts}


def test_times_are_measured():
    board = cost.lesson(Inputs(width=32, length=16)).board
    for kind in ("narrow", "wide"):
        assert (facts(board, kind)["measured"] > 0).all()
    curves = next(p for row in board.rows for p in row if p.title == "time")
    np.testing.assert_array_equal(curves.lines[0].y, facts(board, "narrow")["measured"])
    np.testing.assert_array_equal(curves.lines[1].y, facts(board, "wide")["measured"])


def test_the_notice_counts():
    for h, notice in zip(HEAD_COUNTS, cost.lesson(Inputs()).board.notice, strict=True):
        numbers = re.findall(r"\*\*([\d,]+)\*\*", notice)
        if h == 1:  # two timings of one computation were compared: "0.9 × the time"
            assert notice == "With 1 head, narrow and wide are the same layer of **16,384** parameters."
            continue
        assert numbers == ["16,384", f"{h * 16_384:,}"]
        assert re.search(r"these take \d+\.\d times as long\.$", notice)
