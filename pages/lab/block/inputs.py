"""What the block page can be asked, and the values that it offers."""

from dataclasses import dataclass

from pages.lab.any_model import OPTION, Other
from pages.shared import widget
from pages.shared.link import characters, number, one_of, param, whole

SENTENCE = "the animal did not cross the street because it was too tired"
MAX_WORDS = 16
SUBJECTS = {
    "random": "random weights",
    "layer0": "translator, layer 0",
    "layer1": "translator, layer 1",
} | OPTION
NORMS = {"pre": "before each sublayer (pre-norm)", "post": "after each add (post-norm)", "none": "none"}
FF_WIDTHS = (0, 1, 2, 4, 8)
ACTIVATIONS = ("relu", "gelu")
DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
STATISTICS = {"batch": "of this batch (training)", "running": "running (evaluation)"}
N_BATCHES = 60
MOST_SENTENCES, MOST_TOKENS = 3, 4
MOST_SHIFT = 4.0
READERS = {"shakespeare": "Shakespeare, 4 layers", "masked": "hidden words, 2 layers"} | OPTION
PROMPT = "What light through yond"
HIDDEN = "the animal did not cross the [MASK] because it was too tired"
MAX_POSITIONS = 24


@dataclass(frozen=True)
class Inputs(Other):
    """All parts' inputs. `ff` is the feed-forward's width over d_model, 0 for none; `at` a position."""

    text: str = param(SENTENCE, characters(400), widget.line("Sentence"))
    subject: str = param("random", one_of(SUBJECTS), widget.select("Layer"))
    residual: bool = param(
        True, one_of((True, False)), widget.toggle("Residual connections", "On: x + f(x). Off: f(x) alone")
    )
    norm: str = param("pre", one_of(NORMS), widget.select("Layer norm"))
    ff: int = param(
        4,
        one_of(FF_WIDTHS),
        widget.steps(
            "Feed-forward width",
            "d_ff, the width of its hidden layer; none leaves the network out",
            lambda times: f"{times} × d_model" if times else "none",
        ),
    )
    activation: str = param("relu", one_of(ACTIVATIONS), widget.segmented("Activation"))
    seed: int = param(0, whole(0, 99), widget.count("Seed", "Draws other random weights"))
    point: int = param(0, whole(0, 7))
    depth: int = param(48, one_of(DEPTHS))
    sentences: int = param(3, whole(1, MOST_SENTENCES), widget.slider("Sentences", "The batch size"))
    tokens: int = param(3, whole(1, MOST_TOKENS), widget.slider("Tokens", "In each sentence"))
    statistics: str = param(
        "batch",
        one_of(STATISTICS),
        widget.radio(
            "Batch norm's statistics",
            f"Running: averages over {N_BATCHES} batches like this one, before it was moved",
        ),
    )
    shift: float = param(0.0, number(0, MOST_SHIFT))
    reader: str = param("shakespeare", one_of(READERS), widget.select("Model"))
    prompt: str = param(
        PROMPT, characters(200), widget.line("Text", "The model says what follows each letter")
    )
    hidden: str = param(
        HIDDEN, characters(200), widget.line("Text", "The model says which word [MASK] hides")
    )
    at: int = param(13, whole(0, MAX_POSITIONS - 1))
