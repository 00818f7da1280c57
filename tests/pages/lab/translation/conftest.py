"""The translator, called by hand, for what the page shows."""

import pytest
import torch

from models import Trace, load_model
from pages.lab.any_model import Translator
from pages.lab.translation.inputs import INCOMPLETE, SENTENCE, Reading, translation_of
from viz_core.boards import Board, Panel


def panel(board: Board, title: str) -> Panel:
    """The panel whose title begins so."""
    return next(p for row in board.rows for p in row if getattr(p, "title", "").startswith(title))


def facts(board: Board) -> dict:
    return {f.label: f.values for row in board.rows for p in row if hasattr(p, "facts") for f in p.facts}


@pytest.fixture(scope="session")
def translator() -> Translator:
    return load_model("translator")


@pytest.fixture(scope="session")
def traced(translator: Translator) -> Trace:
    """The model's own translation of the page's first sentence."""
    return translator.trace(SENTENCE)


def close(found, expected: torch.Tensor) -> None:
    torch.testing.assert_close(torch.as_tensor(found), expected, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="session")
def tired(translator: Translator) -> Reading:
    return translation_of(translator, SENTENCE, "en-fr", 14)


@pytest.fixture(scope="session")
def incomplete(translator: Translator) -> Reading:
    """A noun is missing, so the model is in doubt."""
    return translation_of(translator, INCOMPLETE, "fr-en", 14)


def ids_of(read: Reading) -> list[int]:
    return [read.vocabulary.index(word) for word in read.written]
