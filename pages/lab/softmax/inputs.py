"""What the page on softmax computes from, for all of its parts."""

from dataclasses import dataclass

from models.fields import characters, number, one_of, setting, whole
from pages.lab.any_model import OPTION, Other

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

    deviation: float = setting(1.0, number(0.01, 100))
    n_logits: int = setting(16, one_of(N_LOGITS), "Logits", control="steps")
    seed: int = setting(0, whole(0, 999), "Seed of the random numbers")
    d_k: int = setting(64, whole(1, 1_024))
    n_keys: int = setting(64, one_of(N_KEYS), "Keys", control="steps")
    temperature: float = setting(1.0, number(0.02, 50))
    text: str = setting(TEXT, characters(2_000), "Sentence")
    stack: str = setting("encoder.self", one_of(STACKS), "Attention")
    layer: int = setting(1, one_of(range(2)), "Layer", control="segments")
    head: int = setting(3, one_of(range(4)), "Head", control="segments")
    scope: str = setting("layer", one_of(SCOPES), "Heated", control="segments")
    query: int = setting(PRONOUN, whole(PRONOUN, MAX_POSITION), "Looks from", control="list")
    step: int = setting(PRONOUN, whole(PRONOUN, MAX_POSITION), "Next word", control="list")
    reader: str = setting("translator", one_of(READERS), "Model", control="segments")
    height: int = setting(20, whole(-120, 120))
