"""Beginnings of sentences, read back word by word: the subject, its number, and who is held out."""

import random
import re
from itertools import islice

import pytest
import torch

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.data.tasks import generator_of, make_task, quotients
from attention_lab.models.data.tasks.verb_number import NOUN_FORMS, VerbNumber, is_held_out, sample_beginning

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


# The number of a verb: batches read back, scores by hand, texts that are held out.

FORMS = {form: (forms[0], plural) for forms in NOUN_FORMS for plural, form in enumerate(forms)}


@pytest.fixture(scope="module")
def task() -> VerbNumber:
    return VerbNumber()


def test_a_batch_asks_for_the_number_of_the_subject() -> None:
    task = VerbNumber(hidden=0)
    batch = task.batch(generator_of(3, 1), 200)
    texts = [task.tokenizer.decode(ids) for ids in batch.inputs[0].tolist()]
    assert (batch.inputs[0][:, 0] == task.tokenizer.vocabulary.index("[CLS]")).all()
    assert "[UNK]" not in " ".join(texts)
    for text, target in zip(texts, batch.targets[:, 0].tolist(), strict=True):
        nouns = [FORMS[word][1] for word in text.rpartition(",")[2].split() if word in FORMS]
        assert target == nouns[0], text
    nearest, every = batch.extra.values()
    assert (nearest | ~every).all() and 20 < int(every.sum()) < int(nearest.sum()) < 150


def test_training_makes_a_word_in_ten_unknown_and_held_out_texts_have_all(task: VerbNumber) -> None:
    ids = task.batch(generator_of(3, 1), 400).inputs[0]
    words = ids > task.tokenizer.vocabulary.index("[CLS]")
    unknown = ids == task.tokenizer.vocabulary.index("[UNK]")
    share = float(unknown.sum() / (unknown | words).sum())
    assert 0.08 < share < 0.12
    held_out = task.batch(generator_of(3, 1), 50, held_out=True).inputs[0]
    assert not (held_out == task.tokenizer.vocabulary.index("[UNK]")).any()


def test_the_scores_are_shares_of_right_answers(task: VerbNumber) -> None:
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 16}
    model = Transformer(ModelConfig(kind=task.kind, **sizes, **task.required_sizes()), seed=0).eval()
    batch = task.batch(generator_of(0, 0), 64, held_out=True)
    with torch.no_grad():
        said = model(*batch.inputs)[:, 0].argmax(dim=-1).tolist()
    right = [made == wanted for made, wanted in zip(said, batch.targets[:, 0].tolist(), strict=True)]
    scores = quotients([task.tally(model, batch)])
    assert scores["accuracy"] == sum(right) / 64
    for name, marked in batch.extra.items():
        chosen = [each for each, mark in zip(right, marked.tolist(), strict=True) if mark]
        assert scores[f"accuracy, {name}"] == pytest.approx(sum(chosen) / len(chosen))


def test_its_texts_are_held_out_and_can_be_read(task: VerbNumber) -> None:
    texts = list(islice(task.texts(1), 30))
    assert texts == list(islice(task.texts(1), 30)) != list(islice(task.texts(2), 30))
    assert len(set(texts)) == 30
    for text in texts:
        reading = task.read(text)
        assert reading.tokens["encoder"] == ["[CLS]", *text.split()] and not reading.unknown
        nouns = [FORMS[word][0] for word in text.split() if word in FORMS]
        if "," not in text:
            assert is_held_out(nouns[0], nouns[-1])


def test_its_words_are_counted(task: VerbNumber) -> None:
    assert task.outputs() == ("singular", "plural")
    assert task.rarity().counts["the"] > task.rarity().counts["their"] > 0


def test_tasks_that_draw_no_texts_have_none() -> None:
    assert list(make_task("reverse").texts(0)) == []
    review = next(make_task("sentiment").texts(1))
    assert len(review.split()) > 2
