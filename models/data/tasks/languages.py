"""Which of two languages the words of a text are of, by the words that only one of them has."""

from collections.abc import Sequence

from models.data.grammar.simple import Direction
from models.data.grammar_text import Vocabulary
from models.data.tasks.batch import Advice

NAMES = {"en": "English", "fr": "French"}


def words_of(vocabulary: Vocabulary, language: str) -> Sequence[str]:
    """All known words of a language, "en" or "fr"."""
    return {"en": vocabulary.english, "fr": vocabulary.french}[language]


def direction_of(vocabulary: Vocabulary, words: Sequence[str]) -> Direction:
    """The direction is from French if more of the words are only French than only English."""
    return "fr-en" if _only(vocabulary, words, "fr") > _only(vocabulary, words, "en") else "en-fr"


def advice(vocabulary: Vocabulary, words: Sequence[str], direction: str) -> Advice | None:
    """The other direction, where more of the words are of its language alone than of the one that is read."""
    read, written = direction.split("-")
    there, here = _only(vocabulary, words, written), _only(vocabulary, words, read)
    if there <= here:
        return None
    because = f"{there} of these words are known in {NAMES[written]} only, {here} in {NAMES[read]} only."
    return Advice("direction", f"{written}-{read}", because)


def _only(vocabulary: Vocabulary, words: Sequence[str], language: str) -> int:
    """How many words are known in this language and not in the other one."""
    other = "fr" if language == "en" else "en"
    known = set(words_of(vocabulary, language)) - set(words_of(vocabulary, other))
    return sum(word.lower() in known for word in words)
