"""Antecedents are where the grammar says that they are, and only meaning tells them."""

from collections import Counter
from itertools import islice

import pytest

from models.data.grammar import counterpart, sample_pairs
from models.data.grammar.frames import FRAMES
from models.data.pronouns import PRONOUNS

PAIRS = list(islice(sample_pairs(7, "training"), 5_000))
RESOLVED = [pair for pair in PAIRS if pair.recipe]


def test_mentions_point_at_the_pronoun_and_at_both_nouns():
    for pair in RESOLVED:
        recipe = pair.recipe
        means, rival = recipe.subject, recipe.object
        if recipe.antecedent == "object":
            means, rival = rival, means
        english, french = pair.english_mention, pair.french_mention
        assert pair.english[english.pronoun] in PRONOUNS[:8]
        assert pair.english[english.antecedent] in (means.noun.english, means.noun.english_plural)
        assert pair.english[english.rival] in (rival.noun.english, rival.noun.english_plural)
        assert pair.french[french.antecedent] in (means.noun.french, means.noun.french_plural)
        assert pair.french[french.rival] in (rival.noun.french, rival.noun.french_plural)


def share(pairs):
    """How often the antecedent is the noun that comes first."""
    first = [p.english_mention.antecedent < p.english_mention.rival for p in pairs]
    return sum(first) / len(first)


@pytest.mark.parametrize("link", sorted({pair.pattern for pair in RESOLVED}))
def test_no_pattern_tells_the_antecedent_by_its_position(link):
    pairs = [pair for pair in RESOLVED if pair.pattern == link]
    assert len(pairs) > 50
    assert 0.35 < share(pairs) < 0.65


def test_neither_distance_nor_gender_tells_the_antecedent():
    nearest = [
        abs(m.pronoun - m.antecedent) < abs(m.pronoun - m.rival)
        for m in (p.english_mention for p in RESOLVED)
    ]
    assert 0.44 < sum(nearest) / len(nearest) < 0.56
    feminine = [p.french[p.french_mention.pronoun].startswith("elle") for p in RESOLVED]
    assert 0.35 < sum(feminine) / len(feminine) < 0.65
    same_gender = [p.recipe.subject.gender == p.recipe.object.gender for p in RESOLVED]
    assert 0.35 < sum(same_gender) / len(same_gender) < 0.65


def test_pronouns_stand_at_many_places_and_sentences_have_many_lengths():
    places = Counter(pair.english_mention.pronoun for pair in RESOLVED)
    assert len([place for place, n in places.items() if n > 30]) >= 10
    lengths = Counter(len(pair.english) for pair in PAIRS)
    assert len([length for length, n in lengths.items() if n > 30]) >= 12
    assert max(len(pair.french) for pair in PAIRS) <= 32


def test_only_the_adjective_differs_in_a_counterpart():
    flips = 0
    for pair in RESOLVED:
        other = counterpart(pair)
        if other is None:
            assert pair.recipe.subject.pronoun().english_word != pair.recipe.object.pronoun().english_word
            continue
        flips += 1
        assert len(pair.english) == len(other.english)
        differing = [i for i, (a, b) in enumerate(zip(pair.english, other.english, strict=True)) if a != b]
        assert [pair.english[i] for i in differing] == [pair.recipe.adjective.english]
        assert other.english_mention.antecedent == pair.english_mention.rival
        assert other.english_mention.rival == pair.english_mention.antecedent
    assert flips > len(RESOLVED) / 2


def test_no_adjective_of_a_frame_fits_both_nouns():
    for frame in FRAMES:
        assert not set(frame.subject_adjectives) & set(frame.object_adjectives)
        assert frame.subjects and frame.objects
