"""What the page on encoder and decoder can be asked, and the values that it offers."""

from dataclasses import dataclass

from pages.lab.any_model import NAME, OPTION, Other
from pages.shared import widget
from pages.shared.link import characters, number, one_of, param, whole

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

    other: str = param("translator-plain", NAME, widget.select("Name"))
    reader: str = param("translator", one_of(READERS), widget.select("Model"))
    text: str = param(SENTENCE, characters(400), widget.line("Sentence"))
    direction: str = param("en-fr", one_of(DIRECTIONS), widget.select("Direction"))
    moment: int = param(AT_THE_PRONOUN, whole(0, MOST_MOMENTS))
    head: int = param(7, whole(0, MOST_HEADS - 1))
    phrase: str = param(INCOMPLETE, characters(400), widget.line("Sentence"))
    phrase_direction: str = param("fr-en", one_of(DIRECTIONS), widget.select("Direction"))
    width: int = param(2, one_of(WIDTHS), widget.steps("Beam width", "Sentences kept at each step"))
    length_penalty: float = param(
        0.0,
        number(0, 2),
        widget.slider(
            "Exponent α",
            "Finished sentences rank by log p divided by the penalty; 0 is none, which favours short ones",
            step=0.1,
        ),
    )
    penalty: str = param(
        "gnmt",
        one_of(PENALTIES),
        widget.segmented(
            "Length penalty",
            "The paper's is that of GNMT (Wu et al. 2016), with α = 0.6; with length^1, log p is the mean "
            "per word",
        ),
    )
    step: int = param(20, whole(0, MAX_STEPS))
    word: int = param(8, whole(1, MAX_STEPS), widget.select("Word to choose"))
    temperature: float = param(1.0, number(0.1, 4))
    top_k: int = param(
        0,
        one_of(TOP_K),
        widget.select("Top-k", "Fan et al. 2018: only the k likeliest words", lambda k: str(k or "all")),
    )
    top_p: float = param(
        1.0,
        one_of(TOP_P),
        widget.select(
            "Top-p",
            "Holtzman et al. 2020: the fewest words that together reach p",
            lambda p: "all" if p == 1 else str(p),
        ),
    )
    seed: int = param(0, whole(0, 999), widget.slider("Seed", "Another seed draws other sentences"))
    put: str = param(
        "elle", characters(40), widget.line("Word put there", "One word that the translator knows")
    )
    at: int = param(11, whole(1, MAX_STEPS))
