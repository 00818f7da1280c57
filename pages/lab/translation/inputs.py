"""What the page on encoder and decoder can be asked, and the values that it offers."""

from dataclasses import dataclass

from models.fields import characters, number, one_of, setting, whole
from pages.lab.any_model import NAME, OPTION, Other

SENTENCE = "the animal did not cross the street because it was too tired"
INCOMPLETE = "la vieille loutre voit toujours le petit la nuit"
MAX_WORDS = 14
MAX_STEPS = 20
AT_THE_PRONOUN = 115
"""The moment when the pronoun is chosen in the translation of the first sentence."""
MOST_MOMENTS = 400
READERS = {"translator": "the shipped translator"} | OPTION
MOST_HEADS = 1_024
DIRECTIONS = {"en-fr": "English → French", "fr-en": "French → English"}
WIDTHS = tuple(range(1, 9))
PENALTIES = {"gnmt": "the paper's", "length": "length^α"}
TOP_K = (0, 1, 2, 3, 5, 10, 40)  # 0: all words
TOP_P = (1.0, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Inputs(Other):
    """All parts' inputs; `phrase` is the sentence of beam search and sampling, where words may be missing."""

    other: str = setting("translator-plain", NAME, "Name", control="list")
    reader: str = setting("translator", one_of(READERS), "Model")
    text: str = setting(SENTENCE, characters(400), "Sentence")
    direction: str = setting("en-fr", one_of(DIRECTIONS), "Direction")
    moment: int = setting(AT_THE_PRONOUN, whole(0, MOST_MOMENTS))
    head: int = setting(7, whole(0, MOST_HEADS - 1))
    phrase: str = setting(INCOMPLETE, characters(400), "Sentence")
    phrase_direction: str = setting("fr-en", one_of(DIRECTIONS), "Direction")
    width: int = setting(2, one_of(WIDTHS), "Beam width", "Sentences kept at each step", control="steps")
    length_penalty: float = setting(
        0.0,
        number(0, 2),
        "Exponent α",
        "Finished sentences rank by log p divided by the penalty; 0 is none, which favours short ones",
        control="slider",
        more={"step": 0.1},
    )
    penalty: str = setting(
        "gnmt",
        one_of(PENALTIES),
        "Length penalty",
        "The paper's is that of GNMT (Wu et al. 2016), with α = 0.6; with length^1, log p is the mean "
        "per word",
        control="segments",
    )
    step: int = setting(20, whole(0, MAX_STEPS))
    word: int = setting(8, whole(1, MAX_STEPS), "Word to choose", control="list")
    temperature: float = setting(1.0, number(0.1, 4))
    top_k: int = setting(
        0,
        one_of(TOP_K),
        "Top-k",
        "Fan et al. 2018: only the k likeliest words",
        show=lambda k: str(k or "all"),
    )
    top_p: float = setting(
        1.0,
        one_of(TOP_P),
        "Top-p",
        "Holtzman et al. 2020: the fewest words that together reach p",
        show=lambda p: "all" if p == 1 else str(p),
    )
    seed: int = setting(0, whole(0, 999), "Seed", "Another seed draws other sentences", control="slider")
    put: str = setting("elle", characters(40), "Word put there", "One word that the translator knows")
    at: int = setting(11, whole(1, MAX_STEPS))
