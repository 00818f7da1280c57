"""What the block page can be asked, and the values that it offers."""

from dataclasses import dataclass

from attention_lab.models.fields import SWITCH, characters, number, one_of, setting, whole
from attention_lab.pages.lab.any_model import OPTION, Other
from attention_lab.pages.lab.lesson import Note

SENTENCE = "the animal did not cross the street because it was too tired"
MAX_WORDS = 16
SUBJECTS = {
    "random": "random weights", "layer0": "translator, layer 0", "layer1": "translator, layer 1"
} | OPTION  # fmt: skip
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

    text: str = setting(SENTENCE, characters(400), "Sentence")
    subject: str = setting("random", one_of(SUBJECTS), "Layer")
    residual: bool = setting(True, SWITCH, "Residual connections", "On: x + f(x). Off: f(x) alone")
    norm: str = setting("pre", one_of(NORMS), "Layer norm")
    ff: int = setting(
        4,
        one_of(FF_WIDTHS),
        "Feed-forward width",
        "d_ff, the width of its hidden layer; none leaves the network out",
        "steps",
        show=lambda times: f"{times} × d_model" if times else "none",
    )
    activation: str = setting("relu", one_of(ACTIVATIONS), "Activation", control="segments")
    seed: int = setting(0, whole(0, 99), "Seed", "Draws other random weights")
    point: int = setting(0, whole(0, 7))
    depth: int = setting(48, one_of(DEPTHS))
    sentences: int = setting(3, whole(1, MOST_SENTENCES), "Sentences", "The batch size", control="slider")
    tokens: int = setting(3, whole(1, MOST_TOKENS), "Tokens", "In each sentence", control="slider")
    statistics: str = setting(
        "batch",
        one_of(STATISTICS),
        "Batch norm's statistics",
        f"Running: averages over {N_BATCHES} earlier batches",
        "radio",
    )
    shift: float = setting(0.0, number(0, MOST_SHIFT))
    reader: str = setting("shakespeare", one_of(READERS), "Model")
    prompt: str = setting(PROMPT, characters(200), "Text", "The model says what follows each letter")
    hidden: str = setting(HIDDEN, characters(200), "Text", "The model says which word [MASK] hides")
    at: int = setting(13, whole(0, MAX_POSITIONS - 1))


SWITCHES = ("residual", "norm", "ff", "activation", "seed")
TRAINED = Note(
    "Its weights fit no other switches: pre-norm, residual connections, relu and d_ff = 4 × d_model."
)
