"""What the page on the objective computes from, for all of its parts, and its colours."""

from dataclasses import dataclass

from pages.lab.any_model import NAME, OPTION
from pages.lab.any_model import Other as AnyModel
from pages.shared import widget
from pages.shared.link import characters, number, one_of, param, table, whole
from viz_core.boards import Colour

STEPS = (10, 20, 40, 100)
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
SMOOTHINGS = (0, 0.1, 0.2, 0.4)
WIDTHS = (64, 128, 256, 512, 1_024)
TOTALS = (10_000, 20_000, 50_000, 100_000)
NORMS = {"post": "Post-norm", "pre": "Pre-norm"}
READERS = {"shakespeare": "Shakespeare, by letters"} | OPTION
DESCENTS = (0.1, 0.3, 1, 3)
WORDS = ("a", "am", "I", "thanks", "student", "<eos>")
"""The lesson's words, here so that a first visit need not wait for torch."""
MODEL: Colour = "accent"
OTHER: Colour = 7
TARGET: Colour = "muted"


@dataclass(frozen=True)
class Inputs(AnyModel):
    """The controls of the page."""

    other: str = param("sparse", NAME, widget.select("Name"))
    step: int = param(max(STEPS), whole(0, max(STEPS)))
    steps: int = param(20, one_of(STEPS), widget.steps("Training steps"))
    rate: float = param(0.01, one_of(RATES), widget.steps("Learning rate η", show="{:g}".format))
    smoothing: float = param(0, one_of(SMOOTHINGS), widget.segmented("Label smoothing ε", show="{:g}".format))
    seed: int = param(0, whole(0, 999), widget.count("Seed", "Draws the toy's weights and the noise"))
    eps: float = param(0.1, number(0, 0.5))
    word: int = param(2, one_of(dict(enumerate(WORDS))), widget.select("Right word"))
    q: tuple[tuple[float, ...], ...] = param(
        ((0.01, 0.02, 0.93, 0.01, 0.02, 0.01),), table((1, 1), (6, 6), limit=1e6)
    )
    text: str = param("To be, or not to be, that is the question", characters(500), widget.line("Text"))
    reader: str = param("shakespeare", one_of(READERS), widget.select("Model"))
    logits: tuple[tuple[float, ...], ...] = param(
        ((0.5, 2.0, 0.0, -0.5, 1.0, 0.0),), table((1, 1), (6, 6), limit=50)
    )
    descent: float = param(1, one_of(DESCENTS), widget.segmented("Step size η", show="{:g}".format))
    walked: int = param(0, whole(0, 60))
    d_model: int = param(512, one_of(WIDTHS), widget.steps("d_model", show="{:,}".format))
    warmup: int = param(4_000, whole(500, 16_000))
    total: int = param(20_000, one_of(TOTALS), widget.steps("Training steps in all", show="{:,}".format))
    norm: str = param("post", one_of(NORMS), widget.segmented("Norm of the toy", show=str.capitalize))
