"""The sentence that is translated, remembered, and the widgets that choose it."""

from models.lessons.translation import reading
from models.lessons.translation.reading import Reading
from pages.lab.translation.inputs import MAX_WORDS
from pages.shared import cache

CONTROLS = ("text", "direction")
PHRASE = ("phrase", "phrase_direction")


def reading_of(text: str, direction: str) -> Reading:
    """A sentence and its translation; ValueError with a sentence where there is none."""

    def make() -> tuple[Reading, int]:
        made = reading.of(cache.translator(), text, direction, MAX_WORDS)
        return made, 4_000 + sum(made.trace[address].nbytes for address in made.trace)

    found: Reading = cache.cached(cache.results, ("translation", text, direction), make)
    return found
