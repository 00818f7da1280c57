"""An outcome on the board: every number as it was measured, beside the paper's."""

from dataclasses import replace

import numpy as np
import torch

from attention_lab.models.findings import BarFilm, Chart, Film, Number, Outcome, findings
from attention_lab.pages.findings.board import board_of
from attention_lab.pages.findings.static import parts_of
from attention_lab.viz_core.boards import Bars, Curves, Matrix, Table

OUTCOME = Outcome(
    numbers=(
        Number("share", 0.3456, "0.71"),
        Number("heads", 1234, digits=0),
    ),
    holds=False,
    said="It is less.",
    charts=(
        Chart(
            title="by head", x_label="head", y_label="share", x=["0.0", "0.1"], series={"share": [0.25, 0.5]},
            line=(0.9, "asked"),
        ),
        Chart(
            title="by step", x_label="step", y_label="loss", x=[1.0, 2.0], series={"a": [3, 4], "b": [5, 6]},
            line=(4.5, "chance"),
        ),
    ),
)  # fmt: skip


def test_it_says_whether_the_claim_holds() -> None:
    assert board_of(OUTCOME).notice == "**It does not hold here.** It is less."


def test_numbers_stand_beside_those_of_the_paper() -> None:
    (_, (table,)) = board_of(OUTCOME).rows  # the pictures come first
    assert isinstance(table, Table)
    assert table.rows == [("share", "0.35", "0.71"), ("heads", "1,234", "")]


def test_names_are_bars_and_numbers_are_curves() -> None:
    bars, curves = board_of(OUTCOME).rows[0]
    assert isinstance(bars, Bars) and isinstance(curves, Curves)
    assert bars.values.tolist() == [0.25, 0.5]
    assert (list(bars.labels), bars.title) == (["0.0", "0.1"], "by head (to compare, asked: 0.90)")
    assert [(line.name, line.y.tolist()) for line in curves.lines] == [
        ("a", [3, 4]), ("b", [5, 6]), ("chance", [4.5, 4.5]),
    ]  # fmt: skip
    assert np.array_equal(curves.x, [1, 2])


def test_a_film_is_scrubbed_with_its_curves() -> None:
    patterns = torch.rand(3, 2, 2, generator=torch.Generator().manual_seed(0))
    film = Film(title="head 1.0", tokens=("a", "b"), steps=(0, 10, 2000), patterns=patterns)
    board = board_of(replace(OUTCOME, film=film))
    (matrix,), (_, curves), _ = board.rows
    assert isinstance(matrix, Matrix) and isinstance(curves, Curves)
    assert np.allclose(matrix.values, patterns.numpy(), atol=1e-3)
    assert board.scrub is not None and list(board.scrub.words) == ["0", "10", "2,000"] and board.scrub.film
    assert curves.at is not None and curves.at.tolist() == [0, 10, 2000]
    assert board.notice == ["**It does not hold here.** It is less."] * 3


def test_bars_that_grow_are_scrubbed_and_no_step_0_is_on_a_logarithmic_axis() -> None:
    film = BarFilm(
        title="spectrum", x_label="frequency", y_label="share", names=("1", "2"), steps=(0, 10),
        values=torch.tensor([[0.5, 0.5], [0.25, 0.75]]),
    )  # fmt: skip
    board = board_of(replace(OUTCOME, film=film, charts=(replace(OUTCOME.charts[1], log_x=True),)))
    (bars,), (curves,), _ = board.rows
    assert isinstance(bars, Bars) and isinstance(curves, Curves)
    assert bars.values.tolist() == [[0.5, 0.5], [0.25, 0.75]] and list(bars.labels) == ["1", "2"]
    assert curves.at is not None and curves.at.tolist() == [1, 10]
    assert board.scrub is not None and list(board.scrub.values) == [0, 10]


def test_its_sentence_has_the_minus_sign_of_all_numbers_and_keeps_hyphens() -> None:
    said = "It is -0.31 for GPT-2 and a 1-layer model, from -2 to 3."
    assert "It is −0.31 for GPT-2 and a 1-layer model, from −2 to 3." in str(
        board_of(replace(OUTCOME, said=said)).notice
    )


def test_each_finding_on_our_own_models_is_drawn() -> None:
    own = {finding.title for finding in findings().values() if not str(finding.model).startswith("hf:")}
    assert {part.label for part in parts_of()} == own
