"""Beginnings of sentences, read back word by word: the subject, its number, and who is held out."""

import random
import re

from models.data.agreement import is_held_out, sample_beginning, vocabulary
from models.data.agreement.beginnings import NOUN_FORMS

NUMBERS = {form: plural for forms in NOUN_FORMS for plural, form in enumerate(forms)}
SINGULAR = {form: forms[0] for forms in NOUN_FORMS for form in forms}
RNG = random.Random(5)
DRAWN = [sample_beginning(RNG) for _ in range(3_000)]


def test_the_subject_is_the_first_noun_that_no_place_comes_before() -> None:
    for each in DRAWN:
        before, comma, after = each.text.rpartition(" , ")
        nouns = [word for word in after.split() if word in NUMBERS]
        place = [word for word in before.split() if word in NUMBERS] if comma else []
        assert SINGULAR[nouns[0]] == each.subject
        assert bool(NUMBERS[nouns[0]]) is each.plural
        assert each.others == tuple(bool(NUMBERS[word]) for word in (*place, *nouns[1:]))
        assert each.attracted == (bool(each.others) and each.others[-1] is not each.plural)
        assert each.opposed == (bool(each.others) and each.plural not in each.others)


def test_no_other_word_tells_the_number() -> None:
    """Of every word that is no noun, as many stand before plural verbs as before singular ones."""
    assert 0.47 < sum(each.plural for each in DRAWN) / len(DRAWN) < 0.53
    for word in ("the", "their", "of", "that", "saw", "often", "yesterday", ","):
        with_it = [each.plural for each in DRAWN if word in each.text.split()]
        assert len(with_it) > 40
        share, spread = sum(with_it) / len(with_it), 0.5 / len(with_it) ** 0.5
        assert abs(share - 0.5) < 4 * spread, word


def test_held_out_pairs_never_come_in_training() -> None:
    def nearest(text: str, subject: str) -> str:
        nouns = [SINGULAR[word] for word in re.findall(r"\w+", text) if word in NUMBERS]
        after_comma = text.rpartition(" , ")[2].split()
        alone = sum(word in NUMBERS for word in after_comma) == 1
        return (nouns[0] if len(nouns) > 1 else "") if alone else nouns[-1]

    for each in DRAWN:
        other = nearest(each.text, each.subject)
        assert not other or not is_held_out(each.subject, other)
    for _ in range(200):
        held = sample_beginning(RNG, held_out=True)
        assert held.others and is_held_out(held.subject, nearest(held.text, held.subject))


def test_the_vocabulary_has_every_word() -> None:
    assert {word for each in DRAWN for word in each.text.split()} <= set(vocabulary())
    assert {"keys", "cabinet", "mice", "that", ","} <= set(vocabulary())
    assert max(len(each.text.split()) for each in DRAWN) < 40
