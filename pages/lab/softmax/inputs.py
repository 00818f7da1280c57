"""What the page on softmax computes from, for all of its parts."""

from dataclasses import dataclass

from pages.lab.any_model import OPTION, Other
from pages.shared import widget
from pages.shared.link import characters, number, one_of, param, whole

N_LOGITS = (4, 8, 16, 32, 64, 256)
N_KEYS = (8, 16, 64, 128)
STACKS = {
    "encoder.self": "Encoder self-attention",
    "decoder.self": "Decoder self-attention",
    "decoder.cross": "Cross-attention",
}
READERS = {"translator": "the translator"} | OPTION
SCOPES = {"layer": "All its layer", "head": "This head"}
PRONOUN = -1
"""Stands for the position of the sentence's pronoun."""
MAX_POSITION = 64
TEXT = "the animal did not cross the street because it was too wide"
TWO_FEMININE = "the table and the street were too wide because they were small"


@dataclass(frozen=True)
class Inputs(Other):
    """The controls of the page."""

    deviation: float = param(1.0, number(0.01, 100))
    n_logits: int = param(16, one_of(N_LOGITS), widget.steps("Logits"))
    seed: int = param(0, whole(0, 999), widget.count("Seed of the random numbers"))
    d_k: int = param(64, whole(1, 1_024))
    n_keys: int = param(64, one_of(N_KEYS), widget.steps("Keys"))
    temperature: float = param(1.0, number(0.02, 50))
    text: str = param(TEXT, characters(2_000), widget.line("Sentence"))
    stack: str = param("encoder.self", one_of(STACKS), widget.select("Attention"))
    layer: int = param(1, one_of(range(2)), widget.segmented("Layer"))
    head: int = param(3, one_of(range(4)), widget.segmented("Head"))
    scope: str = param("layer", one_of(SCOPES), widget.segmented("Heated"))
    query: int = param(PRONOUN, whole(PRONOUN, MAX_POSITION), widget.select("Looks from"))
    step: int = param(PRONOUN, whole(PRONOUN, MAX_POSITION), widget.select("Next word"))
    reader: str = param("translator", one_of(READERS), widget.segmented("Model"))
    height: int = param(20, whole(-120, 120))
