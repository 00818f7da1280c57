"""French as French people write it, and sentences that are trained or held out, never both."""

import re
from collections import Counter
from itertools import islice

import pytest

from attention_lab.models.data.grammar import counterpart, is_held_out, sample_pairs, showcase
from attention_lab.models.data.grammar.clauses import (
    Action,
    NounPhrase,
    Pronoun,
    Relative,
    State,
    act,
    be,
    sentence,
)
from attention_lab.models.data.grammar.lexicon import (
    ADJECTIVES,
    FRAMES,
    INTRANSITIVES,
    NOUNS,
    PROFESSIONS,
    VERBS,
)
from attention_lab.models.data.grammar.pairs import SEPARATOR, english_text, held_out
from attention_lab.models.data.word_tokenizer import PRONOUNS, SPECIALS, WordTokenizer
from tests.grammar_words import build_vocabulary

PAIRS = list(islice(sample_pairs(7, "training"), 5_000))
RESOLVED = [pair for pair in PAIRS if pair.recipe]
HELD_OUT = held_out(800)
ELLE = Pronoun("she", "elle", 1, "f")
JE = Pronoun("i", "je", 0)


def written(both):
    return [" ".join(word.text for word in side) for side in (sentence(both).english, sentence(both).french)]


def test_the_page_opens_with_this_pair():
    tired, wide = showcase("tired"), showcase("wide")
    assert " ".join(tired.english) == "the animal did not cross the street because it was too tired"
    assert " ".join(tired.french) == "l' animal n' a pas traversé la rue parce qu' il était trop fatigué"
    assert " ".join(wide.french) == "l' animal n' a pas traversé la rue parce qu' elle était trop large"
    assert tired.english[tired.english_mention.antecedent] == "animal"
    assert wide.english[wide.english_mention.antecedent] == "street"
    assert wide.french[wide.french_mention.antecedent] == "rue"
    assert is_held_out(tired.key)


def noun(word, determiner="the", adjective=None, *, plural=False, relative=None):
    return NounPhrase(NOUNS[word], plural, determiner, adjective and ADJECTIVES[adjective], relative)


def is_so(subject, adjective, tense="past", **others):
    return be(subject, State(ADJECTIVES[adjective], tense), **others)


def does(subject, verb, thing=None, *how, question=False, **when):
    return act(subject, Action((VERBS | INTRANSITIVES)[verb], *how, **when), thing, question=question)


SEEN, NEAR = Relative(noun("man"), VERBS["see"], "past"), Relative(noun("park"), None, "past")
OFTEN = {"adverb": ("often", "souvent")}
BY_HAND = {
    "i am a student | je suis étudiant": be(JE, State(PROFESSIONS[0], "present")),
    "she is an engineer | elle est ingénieure": be(ELLE, State(PROFESSIONS[-1], "present")),
    "the owl was old | le hibou était vieux": is_so(noun("owl"), "old"),
    "the beautiful hut is white | la belle hutte est blanche": is_so(
        noun("hut", "the", "beautiful"), "white", "present"
    ),
    "i did not open a drawer | je n' ai pas ouvert de tiroir": does(
        JE, "open", noun("drawer", "a"), "past", "not"
    ),
    "i saw this old animal | j' ai vu ce vieil animal": does(JE, "see", noun("animal", "this", "old")),
    "i saw some big animals | j' ai vu de grands animaux": does(
        JE, "see", noun("animal", "some", "big", plural=True)
    ),
    "i bought some red cars | j' ai acheté des voitures rouges": does(
        JE, "buy", noun("car", "some", "red", plural=True)
    ),
    "many children ate the cakes | beaucoup d' enfants ont mangé les gâteaux": does(
        noun("child", "many", plural=True), "eat", noun("cake", plural=True)
    ),
    "the cows never entered the church | les vaches ne sont jamais entrées dans l' église": does(
        noun("cow", plural=True), "enter", noun("church"), "past", "never"
    ),
    "the cars which the man saw were expensive | les voitures que l' homme a vues étaient chères": is_so(
        noun("car", plural=True, relative=SEEN), "expensive"
    ),
    "the lady who was near the park and the king were happy | "
    "la dame qui était près du parc et le roi étaient heureux": is_so(
        noun("lady", relative=NEAR), "happy", companion=noun("king")
    ),
    "does the dog eat the egg | est-ce que le chien mange l' œuf": does(
        noun("dog"), "eat", noun("egg"), "present", question=True
    ),
    "we often eat an apple | nous mangeons souvent une pomme": does(
        Pronoun("we", "nous", 2), "eat", noun("apple", "a"), "present", **OFTEN
    ),
}


@pytest.mark.parametrize("texts", BY_HAND)
def test_sentences_written_by_hand_come_out_of_the_grammar(texts):
    assert " | ".join(written(BY_HAND[texts])) == texts


def test_french_elides_exactly_where_it_must():
    vowel = re.compile(r"[aeiouyâéêèîôœ]|h(?!ibou|érisson|utte|angar|aut)")
    must = {"le", "la", "de", "que", "ne", "je", "ce", "ma"}
    for pair in PAIRS:
        for word, following in zip(pair.french, pair.french[1:], strict=False):
            assert not (word in must and vowel.match(following)), pair.french
            assert not (word.endswith("'") and word != "s'" and not vowel.match(following)), pair.french
            assert (word, following) not in {("de", "le"), ("de", "les"), ("si", "il"), ("si", "ils")}, (
                pair.french
            )
            assert word not in ("vieil", "nouvel", "bel", "cet") or vowel.match(following), pair.french
    assert any("s'" in pair.french for pair in PAIRS)


GENDER = {noun.french: noun.gender for noun in NOUNS.values()}
MARKED = {"le": "m", "un": "m", "ce": "m", "cet": "m", "la": "f", "une": "f", "ma": "f", "cette": "f"}


def test_articles_and_adjectives_agree_with_their_noun():
    before = {a.masculine: "m" for a in ADJECTIVES.values() if a.before}
    before |= {a.feminine: "f" for a in ADJECTIVES.values() if a.before and a.feminine != a.masculine}
    seen = 0
    for pair in PAIRS:
        for i, word in enumerate(pair.french[:-2]):
            following = pair.french[i + 1]
            if word in MARKED and following in GENDER:
                assert GENDER[following] == MARKED[word], pair.french
                seen += 1
            if word in before and following in GENDER and not before[word] == "m" == GENDER[following]:
                assert GENDER[following] == before[word] or word == "jeune", pair.french
    assert seen > 2_000


def test_the_french_pronoun_and_adjective_agree_with_the_antecedent():
    for pair in RESOLVED:
        recipe = pair.recipe
        noun_phrase = recipe.subject if recipe.antecedent == "subject" else recipe.object
        pronoun = {("m", False): "il", ("f", False): "elle", ("m", True): "ils", ("f", True): "elles"}
        mention = pair.french_mention
        assert pair.french[mention.pronoun] == pronoun[noun_phrase.gender, noun_phrase.plural]
        adjective = pair.french[-1] if not recipe.link_first and not pair.ending else None
        if adjective and noun_phrase.gender == "f" and recipe.link != "so that":
            assert adjective.removesuffix("s").endswith("e"), pair.french
        if adjective and noun_phrase.plural:
            assert adjective.endswith(("s", "x")), pair.french


def test_a_held_out_combination_never_occurs_in_training():
    training = {pair.key for pair in PAIRS}
    assert not training & {pair.key for pair, _ in HELD_OUT}
    assert all(is_held_out(pair.key) for pair, _ in HELD_OUT)
    sources = {(direction, pair.source(direction)) for pair, direction in HELD_OUT}
    assert len(sources) == len(HELD_OUT) == 800
    counts = Counter(direction for _, direction in HELD_OUT)
    assert counts.keys() == {"en-fr", "fr-en"} and all(300 < n < 500 for n in counts.values())


def test_every_kind_of_sentence_is_held_out_and_trained():
    kinds = {pair.pattern for pair in PAIRS}
    assert kinds == {pair.pattern for pair, _ in HELD_OUT}
    assert {"because", "so that", "which", "negation", "question", "statement", "profession"} <= kinds


def test_a_source_has_one_translation():
    translations: dict = {}
    for pair in PAIRS:
        for direction in pair.directions:
            source = (direction, pair.source(direction))
            assert translations.setdefault(source, pair.target(direction)) == pair.target(direction), source


def test_one_english_word_is_one_french_word():
    for table in (NOUNS, VERBS | INTRANSITIVES):
        french = [getattr(entry, "french", None) or entry.infinitive for entry in table.values()]
        assert len(set(french)) == len(french)
    masculine = [adjective.masculine for adjective in ADJECTIVES.values()]
    assert len(set(masculine)) == len(masculine)


def test_the_vocabulary_has_enough_english_words_and_both_languages():
    vocabulary = build_vocabulary(3_000)
    assert vocabulary.words[: len(SPECIALS)] == list(SPECIALS)
    lemmas = set(NOUNS) | set(ADJECTIVES) | set(VERBS)
    assert len(lemmas & set(vocabulary.english)) > 250
    assert set(vocabulary.words) == {*SPECIALS, *vocabulary.english, *vocabulary.french}


def test_sentences_are_read_word_by_word_as_the_grammar_wrote_them():
    words = {word for pair, _ in HELD_OUT for word in (*pair.english, *pair.french)}
    tokenizer = WordTokenizer([*SPECIALS, *sorted(words)])
    for pair, direction in HELD_OUT:
        words = [tokenizer.id(word) for word in pair.source(direction)]
        text = tokenizer.decode(words, language="en" if direction == "en-fr" else "fr")
        assert tokenizer.encode(text).tokens == list(pair.source(direction))


# Antecedents are where the grammar says that they are, and only meaning tells them.


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


# The stream is the grammar's English, sentence after sentence, and the same for a seed.


def test_sentences_follow_each_other_with_a_separator_after_each():
    words = english_text(3, "training", 200)
    expected: list[str] = []
    for pair in islice(sample_pairs(3, "training"), 60):
        expected += [*pair.english, "<eos>"]
    assert SEPARATOR == "<eos>"
    assert words == expected[:200]


def test_held_out_text_has_held_out_sentences_only():
    """Its sentences, one by one, are those that the split keeps from training."""
    pairs = list(islice(sample_pairs(1, "held out"), 20))
    assert all(is_held_out(pair.key) for pair in pairs)
    words = " ".join(english_text(1, "held out", sum(len(pair.english) + 1 for pair in pairs)))
    assert words.split(" <eos>")[:-1] == [(" " * (i > 0)) + " ".join(p.english) for i, p in enumerate(pairs)]
