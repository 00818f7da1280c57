"""The engine, called by hand, for what the heads page shows."""

import pytest
import torch

from models import ModelConfig, Trace, UntrainedModel, load_model
from pages.lab.heads.inputs import Inputs
from viz_core.boards import Board, Panel


def panel(board: Board, title: str) -> Panel:
    return next(panel for row in board.rows for panel in row if getattr(panel, "title", "") == title)


def engine(**fields) -> tuple[UntrainedModel, Trace]:
    """One layer of the model that Explore has for the same sizes, and its trace of the page's sentence."""
    sizes = {"n_layers": 1, "n_heads": 4, "d_model": 32, "vocab_size": 1_025, "max_len": 1_027, **fields}
    model = UntrainedModel(ModelConfig(kind="encoder-only", **sizes), seed=0)
    return model, model.trace(Inputs().text)


@pytest.fixture(scope="session")
def translated() -> Trace:
    return load_model("translator").trace(Inputs().text)


def close(found, expected: torch.Tensor) -> None:
    torch.testing.assert_close(torch.as_tensor(found), expected, rtol=1e-4, atol=1e-5)
