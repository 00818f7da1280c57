"""What the block page can be asked, and the values that it offers."""

from __future__ import annotations

from dataclasses import dataclass

from pages.shared.link import characters, number, one_of, param, whole

SENTENCE = "the animal did not cross the street because it was too tired"
MAX_WORDS = 16
SUBJECTS = {"random": "random weights", "layer0": "translator, layer 0", "layer1": "translator, layer 1"}
NORMS = {"pre": "before each sublayer (pre-norm)", "post": "after each add (post-norm)", "none": "none"}
FF_WIDTHS = (0, 1, 2, 4, 8)
ACTIVATIONS = ("relu", "gelu")
DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
STATISTICS = {"batch": "of this batch (training)", "running": "running (evaluation)"}
MOST_SENTENCES, MOST_TOKENS = 3, 4
MOST_SHIFT = 4.0
READERS = {"shakespeare": "Shakespeare, 4 layers", "masked": "hidden words, 2 layers"}
PROMPT = "What light through yond"
HIDDEN = "the animal did not cross the [MASK] because it was too tired"
MAX_POSITIONS = 24


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs. `ff` is the feed-forward's width over d_model, 0 for none; `at` a position."""

    text: str = param(SENTENCE, characters(400))
    subject: str = param("random", one_of(tuple(SUBJECTS)))
    residual: bool = param(True, one_of((True, False)))
    norm: str = param("pre", one_of(tuple(NORMS)))
    ff: int = param(4, one_of(FF_WIDTHS))
    activation: str = param("relu", one_of(ACTIVATIONS))
    seed: int = param(0, whole(0, 99))
    point: int = param(0, whole(0, 7))
    depth: int = param(48, one_of(DEPTHS))
    sentences: int = param(3, whole(1, MOST_SENTENCES))
    tokens: int = param(3, whole(1, MOST_TOKENS))
    statistics: str = param("batch", one_of(tuple(STATISTICS)))
    shift: float = param(0.0, number(0, MOST_SHIFT))
    reader: str = param("shakespeare", one_of(tuple(READERS)))
    prompt: str = param(PROMPT, characters(200))
    hidden: str = param(HIDDEN, characters(200))
    at: int = param(13, whole(0, MAX_POSITIONS - 1))
