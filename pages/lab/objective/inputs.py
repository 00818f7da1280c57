"""What the page on the objective computes from, for all of its parts, and its colours."""

from dataclasses import dataclass

from attention_lab.models.fields import characters, number, one_of, setting, table, whole
from attention_lab.pages.lab.any_model import NAME, OPTION
from attention_lab.pages.lab.any_model import Other as AnyModel
from attention_lab.viz_core.boards import Colour

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

    other: str = setting("sparse", NAME, "Name", control="list")
    step: int = setting(max(STEPS), whole(0, max(STEPS)))
    steps: int = setting(20, one_of(STEPS), "Training steps", control="steps")
    rate: float = setting(0.01, one_of(RATES), "Learning rate η", control="steps", show="{:g}".format)
    smoothing: float = setting(
        0, one_of(SMOOTHINGS), "Label smoothing ε", control="segments", show="{:g}".format
    )
    seed: int = setting(0, whole(0, 999), "Seed", "Draws the toy's weights and the noise")
    eps: float = setting(0.1, number(0, 0.5))
    word: int = setting(2, one_of(dict(enumerate(WORDS))), "Right word")
    q: tuple[tuple[float, ...], ...] = setting(
        ((0.01, 0.02, 0.93, 0.01, 0.02, 0.01),), table((1, 1), (6, 6), limit=1e6)
    )
    text: str = setting("To be, or not to be, that is the question", characters(500), "Text")
    reader: str = setting("shakespeare", one_of(READERS), "Model")
    logits: tuple[tuple[float, ...], ...] = setting(
        ((0.5, 2.0, 0.0, -0.5, 1.0, 0.0),), table((1, 1), (6, 6), limit=50)
    )
    descent: float = setting(1, one_of(DESCENTS), "Step size η", control="segments", show="{:g}".format)
    walked: int = setting(0, whole(0, 60))
    d_model: int = setting(512, one_of(WIDTHS), "d_model", control="steps", show="{:,}".format)
    warmup: int = setting(4_000, whole(500, 16_000))
    total: int = setting(20_000, one_of(TOTALS), "Training steps in all", control="steps", show="{:,}".format)
    norm: str = setting("post", one_of(NORMS), "Norm of the toy", control="segments", show=str.capitalize)
