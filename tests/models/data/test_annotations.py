"""Which word depends on which, beside what the grammar itself says of its sentences."""

from itertools import islice

import pytest

from attention_lab.models.data.grammar import Pair, sample_pairs
from attention_lab.models.data.grammar.annotations import RELATIONS, dependencies, word_links
from attention_lab.models.data.grammar.lexicon import with_s

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
        forms = {verb.english, verb.english_past, with_s(verb.english), verb.english_preposition}
        assert len(heads) == 1 and heads[0] in forms, " ".join(pair.english)


# Which words of the grammar's sentences belong together: by hand, and by the grammar's own tags.

# Each sentence, its translation, and each English word with its French ones: "=" is sure, "~" is possible.
BY_HAND = """
the animal did not cross the street because it was too tired |
l' animal n' a pas traversé la rue parce qu' il était trop fatigué |
the=l' animal=animal did~a not=n' not=pas cross=traversé the=la street=rue because=parce because=qu' it=il
was=était too=trop tired=fatigué

in summer the otter which the man found never chased the mice because they were agile |
en été la loutre que l' homme a trouvée n' a jamais poursuivi les souris parce qu' elles étaient agiles |
in=en summer=été the=la otter=loutre which=que the=l' man=homme found~a found=trouvée never=n'
chased~a never=jamais chased=poursuivi the=les mice=souris because=parce because=qu' they=elles were=étaient
agile=agiles

did my friends often enter the shop near the big bridge ? |
est-ce que mes amis sont souvent entrés dans le magasin près du grand pont ? |
did~est-ce did~que my=mes friends=amis did~sont often=souvent enter=entrés enter~dans the=le shop=magasin
near=près near~du the=du big=grand bridge=pont ?=?

there are two black cats in front of our house |
il y a deux chats noirs devant notre maison |
there~il there~y are~a two=deux black=noirs cats=chats in~devant front=devant of~devant our=notre
house=maison

they're not students but he can't eat many apples |
ils ne sont pas étudiants mais il ne peut pas manger beaucoup de pommes |
they're=ils not=ne they're=sont not=pas students=étudiants but=mais he=il can't=ne can't=peut can't=pas
eat=manger many=beaucoup many~de apples=pommes

we cleaned the basket for the dog so that it would be happy |
nous avons nettoyé le panier pour le chien afin qu' il soit heureux |
we=nous cleaned~avons cleaned=nettoyé the=le basket=panier for=pour the=le dog=chien so=afin that=qu' it=il
would~soit be=soit happy=heureux

the cat wants to sleep at night | le chat veut dormir la nuit |
the=le cat=chat wants=veut sleep=dormir night=nuit

she is a student | elle est étudiante | she=elle is=est student=étudiante
"""


@pytest.mark.parametrize("case", BY_HAND.strip().split("\n\n"))
def test_words_belong_together_as_a_person_aligns_them(case: str) -> None:
    sources, targets, expected = (part.split() for part in case.split("|"))
    found = [
        f"{sources[link.english]}{'=' if link.sure else '~'}{targets[link.french]}"
        for link in sorted(word_links(sources, targets), key=lambda link: (link.french, link.english))
    ]
    assert sorted(found) == sorted(expected)


def test_pronouns_and_nouns_belong_where_the_grammar_put_them() -> None:
    """The grammar tags each pronoun, and the two nouns that it may mean, in both languages."""
    seen = 0
    for pair in islice(sample_pairs(5, "training"), 1_500):
        if pair.english_mention is None or pair.french_mention is None:
            continue
        sure = {(link.english, link.french) for link in word_links(pair.english, pair.french) if link.sure}
        for here, there in zip(
            vars(pair.english_mention).values(), vars(pair.french_mention).values(), strict=True
        ):
            assert {english for english, french in sure if french == there} == {here}, pair
            if "'" not in pair.english[here]:  # they're is two words of French
                assert {french for english, french in sure if english == here} == {there}, pair
            seen += 1
    assert seen > 2_000


def test_nearly_every_word_has_its_counterpart() -> None:
    words = linked = 0
    for pair in islice(sample_pairs(6, "training"), 1_000):
        links = word_links(pair.english, pair.french)
        assert all(link.english < len(pair.english) and link.french < len(pair.french) for link in links)
        words += len(pair.english) + len(pair.french)
        linked += len({link.english for link in links}) + len({link.french for link in links})
    assert linked / words > 0.98


def test_words_that_the_grammar_does_not_know_belong_nowhere() -> None:
    assert word_links(["zebra", "crossing"], ["passage", "piéton"]) == []
    assert word_links([], ["le"]) == []
    sides = ("the zebra did not cross the street", "le zèbre n' a pas traversé la rue")
    links = word_links(*(side.split() for side in sides))
    assert (6, 7, True) in links and 1 not in {link.english for link in links}
