"""The shipped translator, and sentences that it has translated."""

import pytest

from models import load_model
from models.lessons.translation import reading
from models.lessons.translation.reading import Reading
from models.zoo.engine_model import Translator

TIRED = "the animal did not cross the street because it was too tired"
INCOMPLETE = "la vieille loutre voit toujours le petit la nuit"


@pytest.fixture(scope="session")
def translator() -> Translator:
    return load_model("translator")


@pytest.fixture(scope="session")
def tired(translator: Translator) -> Reading:
    return reading.of(translator, TIRED, "en-fr", 14)


@pytest.fixture(scope="session")
def incomplete(translator: Translator) -> Reading:
    """A noun is missing, so the model is in doubt."""
    return reading.of(translator, INCOMPLETE, "fr-en", 14)


def ids_of(read: Reading) -> list[int]:
    return [read.vocabulary.index(word) for word in read.written]
