"""What the heads page can be asked, and the values that it offers."""

from dataclasses import dataclass

from pages.lab.any_model import OPTION, Other
from pages.shared import widget
from pages.shared.link import characters, one_of, param, whole

SENTENCE = "the animal did not cross the street because it was too tired"
MAX_WORDS = 20
MODELS = {
    "random": "random weights", "layer0": "translator, layer 0", "layer1": "translator, layer 1"
} | OPTION  # fmt: skip
N_HEADS = (1, 2, 3, 4, 6, 8, 12, 16)
D_MODELS = (8, 16, 24, 32, 48, 64)
D_HEADS = (0, 1, 2, 3, 4, 8, 16, 32, 64)  # 0: d_model / n_heads
POSITIONS = ("sinusoidal", "rotary", "none")
WIDTHS = (32, 64, 128)
LENGTHS = (16, 32, 64, 128)
HEAD_COUNTS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Inputs(Other):
    """All parts' inputs; `width`, `length` and `heads` are those of the costs."""

    text: str = param(SENTENCE, characters(400), widget.line("Sentence"))
    model: str = param("random", one_of(MODELS), widget.select("Model"))
    n_heads: int = param(4, one_of(N_HEADS), widget.steps("n_heads"))
    d_model: int = param(32, one_of(D_MODELS), widget.steps("d_model", "Numbers per token"))
    d_head: int = param(
        0,
        one_of(D_HEADS),
        widget.steps(
            "d_head", "Numbers per token in one head; auto = d_model / n_heads", lambda d: str(d or "auto")
        ),
    )
    positions: str = param("sinusoidal", one_of(POSITIONS), widget.select("Positions"))
    seed: int = param(0, whole(0, 999), widget.slider("Seed", "Another seed draws other random weights"))
    head: int = param(0, whole(0, max(N_HEADS) - 1))
    query: int = param(8, whole(0, MAX_WORDS + 1))
    width: int = param(64, one_of(WIDTHS), widget.steps("d_model", "Numbers per token"))
    length: int = param(64, one_of(LENGTHS), widget.steps("Tokens", "Length of the text"))
    heads: int = param(8, one_of(HEAD_COUNTS))
