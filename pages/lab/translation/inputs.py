"""What the page on encoder and decoder can be asked, and the values that it offers."""

from __future__ import annotations

from dataclasses import dataclass

from pages.shared.link import characters, number, one_of, param, whole

SENTENCE = "the animal did not cross the street because it was too tired"
INCOMPLETE = "la vieille loutre voit toujours le petit la nuit"
MAX_WORDS = 14
MAX_STEPS = 20
DIRECTIONS = {"en-fr": "English → French", "fr-en": "French → English"}
WIDTHS = tuple(range(1, 9))
TOP_K = (0, 1, 2, 3, 5, 10, 40)  # 0: all words
TOP_P = (1.0, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs; `phrase` is the sentence of beam search and sampling, where words may be missing."""

    text: str = param(SENTENCE, characters(400))
    direction: str = param("en-fr", one_of(tuple(DIRECTIONS)))
    moment: int = param(115, whole(0, 400))
    head: int = param(7, whole(0, 7))
    phrase: str = param(INCOMPLETE, characters(400))
    phrase_direction: str = param("fr-en", one_of(tuple(DIRECTIONS)))
    width: int = param(2, one_of(WIDTHS))
    length_penalty: float = param(0.0, number(0, 2))
    step: int = param(20, whole(0, MAX_STEPS))
    word: int = param(8, whole(1, MAX_STEPS))
    temperature: float = param(1.0, number(0.1, 4))
    top_k: int = param(0, one_of(TOP_K))
    top_p: float = param(1.0, one_of(TOP_P))
    seed: int = param(0, whole(0, 999))
    put: str = param("elle", characters(40))
    at: int = param(11, whole(1, MAX_STEPS))
