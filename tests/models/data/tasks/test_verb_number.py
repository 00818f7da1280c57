"""The number of a verb: batches read back, scores by hand, texts that are held out."""

from itertools import islice

import pytest
import torch

from models import ModelConfig, Transformer
from models.data.agreement import is_held_out
from models.data.agreement.beginnings import NOUN_FORMS
from models.data.tasks import generator_of, make_task, quotients
from models.data.tasks.verb_number import VerbNumber

FORMS = {form: (forms[0], plural) for forms in NOUN_FORMS for plural, form in enumerate(forms)}


@pytest.fixture(scope="module")
def task() -> VerbNumber:
    return VerbNumber()


def test_a_batch_asks_for_the_number_of_the_subject() -> None:
    task = VerbNumber(hidden=0)
    batch = task.batch(generator_of(3, 1), 200)
    texts = [task.tokenizer.decode(ids) for ids in batch.inputs[0].tolist()]
    assert (batch.inputs[0][:, 0] == task.tokenizer.id("[CLS]")).all()
    assert "[UNK]" not in " ".join(texts)
    for text, target in zip(texts, batch.targets[:, 0].tolist(), strict=True):
        nouns = [FORMS[word][1] for word in text.rpartition(",")[2].split() if word in FORMS]
        assert target == nouns[0], text
    nearest, every = batch.extra.values()
    assert (nearest | ~every).all() and 20 < int(every.sum()) < int(nearest.sum()) < 150


def test_training_makes_a_word_in_ten_unknown_and_held_out_texts_have_all(task: VerbNumber) -> None:
    ids = task.batch(generator_of(3, 1), 400).inputs[0]
    words = ids > task.tokenizer.id("[CLS]")
    unknown = ids == task.tokenizer.id("[UNK]")
    share = float(unknown.sum() / (unknown | words).sum())
    assert 0.08 < share < 0.12
    held_out = task.batch(generator_of(3, 1), 50, held_out=True).inputs[0]
    assert not (held_out == task.tokenizer.id("[UNK]")).any()


def test_the_scores_are_shares_of_right_answers(task: VerbNumber) -> None:
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 16}
    model = Transformer(ModelConfig(kind=task.kind, **sizes, **task.dictates()), seed=0).eval()
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


def test_what_it_learnt_is_restored(task: VerbNumber) -> None:
    other = make_task("verb-number")
    other.restore(task.learnt())
    assert other.outputs() == ("singular", "plural")
    assert other.probe().tokens == task.probe().tokens
    assert task.rarity().counts["the"] > task.rarity().counts["their"] > 0


def test_tasks_that_draw_no_texts_have_none() -> None:
    assert list(make_task("reverse").texts(0)) == []
    review = next(make_task("sentiment").texts(1))
    assert len(review.split()) > 2
