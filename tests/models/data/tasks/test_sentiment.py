"""Tables as people have them: IMDb's, without a head, by tabs; and those that are refused, in words."""

import csv
import math
import re
from pathlib import Path

import pytest
import torch

from models.data.tasks import generator_of
from models.data.tasks.sentiment import Sentiment, read_table
from tests.small_models import model_of, trained

ROWS = [(f"review number {i}, well", "good" if i % 3 else "bad") for i in range(40)]


def stored(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "some.csv"
    path.write_bytes(text.encode(encoding))
    return path


def imdb() -> str:
    return "review,sentiment\r\n" + "".join(f'"{text}",{label}\r\n' for text, label in ROWS)


def everything(path: Path) -> set[tuple[str, str]]:
    table = read_table(path)
    return {(text, table.classes[at]) for text, at in (*table.training, *table.held_out)}


@pytest.mark.parametrize(
    "text",
    [
        imdb(),
        "\n".join(f'{label},"{text}"' for text, label in ROWS),
        "\n".join(f"{text}\t{label}" for text, label in ROWS) + "\n\n",
        "review,stars\n" + "\n".join(f'"{text}",{label}' for text, label in ROWS),
        "says,sentiment\n" + "\n".join(f'"{text}",{label}' for text, label in ROWS),
        "Label;id;Text\n" + "\n".join(f"{label};{i};{text}" for i, (text, label) in enumerate(ROWS)),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_are_read_as_they_are_meant(tmp_path: Path, text: str, encoding: str):
    path = stored(tmp_path, text, encoding)
    assert read_table(path).classes == ("bad", "good")
    assert everything(path) == set(ROWS)


def test_a_tenth_is_held_out_whatever_the_order(tmp_path: Path):
    table = read_table(stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in ROWS)))
    turned = read_table(stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in reversed(ROWS))))
    assert len(table.held_out) == 4
    assert not {text for text, _ in table.training} & {text for text, _ in table.held_out}
    assert table == turned


def test_a_text_twice_counts_once_and_breaks_are_blanks(tmp_path: Path):
    more = "review number 0, well\tgood\nFine.<br /><BR>Really\tgood\n"
    path = stored(tmp_path, "\n".join(f"{text}\t{label}" for text, label in ROWS) + "\n" + more)
    assert everything(path) == {*ROWS, ("Fine.  Really", "good")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a,b,c\n1,2,3\n",
            "'some.csv' has the columns 'a, b, c'; call two of them text and label, or choose its",
        ),
        ("only one column\n" * 30, "has the columns 'only one column'; call two of them"),
        (
            "text,label\n" + "fine,well,good\n",
            "line 2 of 'some.csv' has 3 columns, but its first line has 2; put",
        ),
        ("text,label\n", "'some.csv' has no row but its names of columns; choose a file with rows in it"),
        ("text,label\nfine,\n", "'some.csv' has no label in its column 'label', but a classifier needs 2"),
        (
            "text,label\n" + "fine,good\n" * 30,
            "'some.csv' has only one label, 'good', in its column 'label', but a classifier needs 2 to 20 "
            "different ones; choose a column that holds labels, each of them many times",
        ),
        (
            "\n".join(f"text {i},label {i}" for i in range(30)),
            "has 30 different labels in its column 'column 2', but a classifier needs 2 to 20 different",
        ),
        ("text,label\nfine,good\npoor,bad\n", "has 2 different texts; give 20 or more"),
        (
            "text,label\n" + "x" * 140_000 + ",good\n",
            "line 2 of 'some.csv' is no line of a table (field larger",
        ),
    ],
)
def test_what_is_no_such_table_is_refused_in_words(tmp_path: Path, text: str, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_table(stored(tmp_path, text))


# Reading verdicts, from the corpus and from a table: scores by hand, what is refused, that models learn.


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
def test_a_model_of_what_the_task_dictates_reads_its_batches_and_probe(pool: str):
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
    assert (batch.inputs[0][:, 0] == task.tokenizer.id("[CLS]")).all()
    assert "[UNK]" not in " ".join(texts)
    assert not {" ".join(t.split()) for t in texts} & {
        task.tokenizer.decode(ids)
        for ids in task.batch(generator_of(0, 0), 200, held_out=True).inputs[0].tolist()
    }


def test_batches_are_the_same_for_a_seed_and_fit_the_model():
    task = Sentiment()
    one, other, third = (task.batch(generator_of(seed, 4), 9) for seed in (3, 3, 4))
    assert torch.equal(one.inputs[0], other.inputs[0])
    assert torch.equal(one.targets, other.targets)
    assert not torch.equal(one.targets, third.targets) or one.inputs[0].shape != third.inputs[0].shape
    lengths = [task.batch(generator_of(0, step), 500).inputs[0].shape[1] for step in range(4)]
    assert max(lengths) < task.longest


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
        *("[CLS]", "the", "plot", "wasn", "'", "t", "[UNK]", ",", "although", "[UNK]", "was", "."),
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


def test_what_was_learnt_reads_any_text_and_draws_none_without_the_table(imdb_sentiment: str, tmp_path: Path):
    task = Sentiment(file=imdb_sentiment, pieces=150)
    later = Sentiment(file=str(tmp_path / "gone.csv"), pieces=150)
    later.restore(task.learnt())
    text = "Dreadful, this joke 7!"
    assert torch.equal(later.read(text).inputs[0], task.read(text).inputs[0])
    with pytest.raises(ValueError, match=r"'gone.csv' cannot be read"):
        later.batch(generator_of(0, 0), 1)


def test_a_model_soon_tells_good_reviews_of_a_table_from_bad_ones(imdb_sentiment: str):
    """The baseline is one that always says the same: right for half of them."""
    task = Sentiment(file=imdb_sentiment, pieces=150, longest=40)
    model = trained(task, 30, 16)
    assert task.score(model, task.batch(generator_of(1, 0), 20, held_out=True))["accuracy"] > 0.9


def test_a_model_soon_learns_something_of_the_corpus():
    """The baseline is a guess: ln 2 nats. Most is learnt later, and suddenly, as negations need two words."""
    task = Sentiment(pool="mean")
    model = trained(task, 160, 32, 5e-3, n_heads=4, d_model=32)
    held_out = task.batch(generator_of(1, 0), 1000, held_out=True)
    with torch.no_grad():
        assert task.losses(model, held_out)["loss"].item() < math.log(2) - 0.005
