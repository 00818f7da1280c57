"""Reading verdicts, from the corpus and from a table: scores by hand, what is refused, that models learn."""

import csv
import re

import pytest
import torch

from attention_lab.models.data.tasks import generator_of
from attention_lab.models.data.tasks.sentiment import Sentiment
from tests.small_models import model_of


@pytest.fixture(scope="module")
def imdb_sentiment(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two hundred reviews as the IMDb table has them; one word tells the verdict."""
    path = tmp_path_factory.mktemp("imdb") / "IMDB Dataset.csv"
    things = [f"{one} {other}" for one in ("plot", "cast", "song", "joke") for other in map(str, range(50))]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["review", "sentiment"])
        for at, thing in enumerate(things):
            word, verdict = ("Wonderful", "positive") if at % 2 else ("Dreadful", "negative")
            writer.writerow([f"{word},<br /><br />this {thing}! Not a word more.", verdict])
    return str(path)


@pytest.mark.parametrize("pool", ["cls", "mean"])
def test_a_model_of_what_the_task_requires_reads_its_batches_and_probe(pool: str):
    task = Sentiment(pool=pool)
    model, batch, probe = model_of(task), task.batch(generator_of(0, 0), 4), task.probe()
    assert model(*batch.inputs).shape == (4, 1, 2)
    assert model.config.pooling == ("first" if pool == "cls" else "mean")
    assert model(*probe.inputs).shape == (1, 1, 2)
    expected = ["[CLS]"] * (pool == "cls") + probe.text.split()
    assert probe.tokens == {"encoder": expected}
    assert probe.unknown == ()


def test_a_batch_is_reviews_and_their_verdicts():
    """Read back, the words are there, and "not" turns round what a review of one clause says."""
    task = Sentiment()
    batch = task.batch(generator_of(0, 0), 200)
    assert sorted(set(batch.targets.flatten().tolist())) == [0, 1]
    texts = [task.tokenizer.decode(ids) for ids in batch.inputs[0].tolist()]
    found = [re.fullmatch(r"the (\w+) (?:was|were) (not )?(good|bad|dull|superb) ?\.?", t) for t in texts]
    plain = [(match, target) for match, target in zip(found, batch.targets[:, 0], strict=True) if match]
    for match, target in plain:
        assert (match[3] in ("good", "superb")) != bool(match[2]) == bool(target)
    assert (batch.inputs[0][:, 0] == task.tokenizer.vocabulary.index("[CLS]")).all()
    assert "[UNK]" not in " ".join(texts)
    assert not {" ".join(t.split()) for t in texts} & {
        task.tokenizer.decode(ids)
        for ids in task.batch(generator_of(0, 0), 200, held_out=True).inputs[0].tolist()
    }


def test_scores_are_shares_of_right_verdicts(monkeypatch: pytest.MonkeyPatch):
    task = Sentiment()
    model, batch = model_of(task), task.batch(generator_of(0, 0), 40, held_out=True)
    negated = batch.extra["negated"]
    answers = torch.where(negated, 1 - batch.targets[:, 0], batch.targets[:, 0])  # blind to negation
    logits = torch.nn.functional.one_hot(answers, 2).float()[:, None]
    monkeypatch.setattr(model, "forward", lambda ids, positions: logits[positions])
    contrast = batch.extra["contrast"]
    assert task.score(model, batch) == {
        "accuracy": pytest.approx(1 - negated.sum().item() / 40),
        "accuracy, negated": 0.0,
        "accuracy, contrast": pytest.approx(1 - (negated & contrast).sum().item() / contrast.sum().item()),
    }
    batch.extra["negated"] = torch.zeros(40, dtype=torch.bool)
    assert set(task.score(model, batch)) == {"accuracy", "accuracy, contrast"}


def test_typed_text_is_read_and_what_is_unknown_is_named():
    reading = Sentiment().read("The plot wasn’t flabbergasting, although Zoe was.")
    assert reading.tokens["encoder"] == [
        *("[CLS]", "the", "plot", "wasn", "'", "t", "[UNK]", ",", "although", "[UNK]", "was", ".")
    ]
    assert [word.text for word in reading.unknown] == ["flabbergasting,", "Zoe"]


def test_samples_are_held_out_reviews_with_a_verdict():
    task = Sentiment()
    samples = task.samples(model_of(task), seed=2)
    assert len(samples) == 6
    for sample in samples:
        assert sample.made in task.outputs()
        assert sample.wanted in task.outputs()
        assert "[CLS]" not in sample.given
        assert "[PAD]" not in sample.given
    assert samples == task.samples(model_of(task), seed=2)


def test_a_table_brings_its_own_words_and_classes(imdb_sentiment: str):
    task = Sentiment(file=imdb_sentiment, pieces=200, longest=40)
    assert task.outputs() == ("negative", "positive")
    batch = task.batch(generator_of(0, 0), 30)
    assert batch.extra == {}
    word_of = {0: "dreadful", 1: "wonderful"}
    for ids, target in zip(batch.inputs[0].tolist(), batch.targets[:, 0].tolist(), strict=True):
        assert word_of[target] in task.tokenizer.decode(ids)
    assert set(task.score(model_of(task), batch)) == {"accuracy"}
    held_out = task.batch(generator_of(0, 0), 20, held_out=True)
    assert len({tuple(ids) for ids in held_out.inputs[0].tolist()}) == 20
    assert task.probe().inputs[0].shape[1] <= 40
