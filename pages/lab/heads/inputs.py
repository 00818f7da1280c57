"""What the heads page can be asked, and the values that it offers."""

from dataclasses import dataclass

from models.fields import characters, one_of, setting, whole
from pages.lab.any_model import OPTION, Other

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

    text: str = setting(SENTENCE, characters(400), "Sentence")
    model: str = setting("random", one_of(MODELS), "Model")
    n_heads: int = setting(4, one_of(N_HEADS), "n_heads", control="steps")
    d_model: int = setting(32, one_of(D_MODELS), "d_model", "Numbers per token", control="steps")
    d_head: int = setting(
        0,
        one_of(D_HEADS),
        "d_head",
        "Numbers per token in one head; auto = d_model / n_heads",
        control="steps",
        show=lambda d: str(d or "auto"),
    )
    positions: str = setting("sinusoidal", one_of(POSITIONS), "Positions")
    seed: int = setting(0, whole(0, 999), "Seed", "Another seed draws other random weights", control="slider")
    head: int = setting(0, whole(0, max(N_HEADS) - 1))
    query: int = setting(8, whole(0, MAX_WORDS + 1))
    width: int = setting(64, one_of(WIDTHS), "d_model", "Numbers per token", control="steps")
    length: int = setting(64, one_of(LENGTHS), "Tokens", "Length of the text", control="steps")
    heads: int = setting(8, one_of(HEAD_COUNTS))
