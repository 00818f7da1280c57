"""Which language a text is in, and what the translator says of one in the other language."""

import pytest

from models import load_model
from models.data.grammar_text import kept_vocabulary
from models.data.tasks import Advice
from models.data.tasks.languages import advice, direction_of
from models.zoo.trained import Translator

WORDS = kept_vocabulary()
FRENCH, ENGLISH = "le chat a mangé la pomme", "the cat ate the apple"


@pytest.fixture(scope="module")
def lm() -> Translator:
    return load_model("translator")


def test_words_that_one_language_has_alone_decide() -> None:
    assert direction_of(WORDS, FRENCH.split()) == "fr-en"
    assert direction_of(WORDS, ENGLISH.split()) == "en-fr"
    both = sorted(set(WORDS.english) & set(WORDS.french))
    assert {"a", "animal"} <= set(both)
    assert direction_of(WORDS, both) == "en-fr" and advice(WORDS, both, "en-fr") is None


def test_a_text_in_the_other_language_is_noticed_and_one_in_its_own_is_not(lm: Translator) -> None:
    found = lm.read(FRENCH, direction="en-fr").advice
    said = "5 of these words are known in French only, 0 in English only."  # "a" is known in both
    assert found == Advice("direction", "fr-en", said)
    said = "5 of these words are known in English only, 0 in French only."
    assert lm.read(ENGLISH, direction="fr-en").advice == Advice("direction", "en-fr", said)
    for text, direction in ((FRENCH, "fr-en"), (ENGLISH, "en-fr"), ("zzz", "fr-en"), (FRENCH, "")):
        assert lm.read(text, direction=direction).advice is None


def test_unknown_words_get_words_of_the_language_that_is_read(lm: Translator) -> None:
    (sat,) = lm.read("the cat sat", direction="en-fr").unknown
    assert sat.suggestions == ["cat", "eat", "hat"]
    (sat,) = lm.read("le chat sat", direction="fr-en").unknown
    assert set(sat.suggestions) <= set(WORDS.french) and "sac" in sat.suggestions
    (typed,) = lm.read("the cat", direction="en-fr", target="le chatt").unknown
    assert (typed.where, typed.suggestions[0]) == ("target", "chat")


def test_what_never_ends_is_cut_where_it_can_be_read_again(lm: Translator) -> None:
    """Sixty words, which send the translator round in circles."""
    made = lm.read("the cat saw the dog " * 12, direction="en-fr")
    assert len(made.tokens["decoder"]) == 127 and made.following is None
    again = lm.read(made.answer, direction="fr-en")
    assert again.tokens["encoder"][1:-1] == made.tokens["decoder"][1:]
