"""Which word depends on which, beside what the grammar itself says of its sentences."""

from itertools import islice

import pytest

from models.data.grammar import Pair, sample_pairs
from models.data.grammar.morphology import third_person
from models.data.grammar.syntax import RELATIONS, dependencies

SENTENCES = {
    "my old dog saw an apple near the house": {
        ("poss", "my", "dog"), ("dobj", "apple", "saw"), ("det", "an", "apple"), ("pobj", "house", "near"),
        ("det", "the", "house"),
    },
    "this morning the boy watched every watch": {
        ("det", "the", "boy"), ("det", "every", "watch"), ("dobj", "watch", "watched"),
    },
    "do the watches fit in the bag": {
        ("det", "the", "watches"), ("det", "the", "bag"), ("pobj", "bag", "in"),
    },
    "the cat sleeps": {("det", "the", "cat")},
}  # fmt: skip


@pytest.mark.parametrize("english", SENTENCES)
def test_sentences_whose_syntax_anyone_knows(english: str) -> None:
    words = tuple(english.split())
    found = dependencies(Pair(words, (), "", ()))
    named = {(relation, words[dependent], words[head]) for relation, dependent, head in found}
    assert named == SENTENCES[english] and len(found) == len(named)


def test_objects_and_antecedents_are_those_of_the_grammar_s_own_recipe() -> None:
    drawn = islice((pair for pair in sample_pairs(1, "held out", pronouns=1.0) if not pair.casual), 100)
    for pair in drawn:
        mention, recipe = pair.english_mention, pair.recipe
        assert mention is not None and recipe is not None
        found = dependencies(pair)
        assert {each.relation for each in found} <= set(RELATIONS)
        meant = [each for each in found if each.relation == "coref"]
        assert [(each.dependent, each.head) for each in meant] == [(mention.pronoun, mention.antecedent)]
        thing = mention.antecedent if recipe.antecedent == "object" else mention.rival
        kind = "pobj" if recipe.verb.english_preposition else "dobj"
        heads = [
            pair.english[each.head] for each in found if (each.relation, each.dependent) == (kind, thing)
        ]
        verb = recipe.verb
        forms = {verb.english, verb.english_past, third_person(verb.english), verb.english_preposition}
        assert len(heads) == 1 and heads[0] in forms, " ".join(pair.english)
