"""The translator, called by hand, for what the page shows."""

import pytest

from attention_lab.models import Trace, load_model
from attention_lab.pages.lab.any_model import Translator
from attention_lab.pages.lab.translation.inputs import INCOMPLETE, SENTENCE, Reading, translation_of


@pytest.fixture(scope="session")
def translator() -> Translator:
    return load_model("translator")


@pytest.fixture(scope="session")
def traced(translator: Translator) -> Trace:
    """The model's own translation of the page's first sentence."""
    return translator.trace(SENTENCE)


@pytest.fixture(scope="session")
def tired(translator: Translator) -> Reading:
    return translation_of(translator, SENTENCE, "en-fr", 14)


@pytest.fixture(scope="session")
def incomplete(translator: Translator) -> Reading:
    """A noun is missing, so the model is in doubt."""
    return translation_of(translator, INCOMPLETE, "fr-en", 14)


def ids_of(read: Reading) -> list[int]:
    return [read.vocabulary.index(word) for word in read.written]
