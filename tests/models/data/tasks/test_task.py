"""What every task relies on: options checked in words, batches in parts, loss and score by definition."""

import math
import random
import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytest
import torch

from attention_lab.models import ModelConfig, Transformer, load_model
from attention_lab.models.data.grammar import sample_pairs
from attention_lab.models.data.grammar.pairs import Counts, kept_counts
from attention_lab.models.data.reviews import sample_review
from attention_lab.models.data.tasks import (
    IGNORED,
    TASKS,
    Batch,
    Reading,
    Task,
    generator_of,
    make_task,
    masked,
    option,
)
from attention_lab.models.data.tasks.batch import Alphabet, repeated
from attention_lab.models.zoo.others import untrained
from tests.grammar_words import count_words


@dataclass(frozen=True, kw_only=True)
class Double(Task):
    """Digits below 5, and each of them twice: in no list, for it has no name."""

    title = "Double"
    see = "the head that looks at the position itself"
    kind = "encoder-only"
    length: int = option(4, "digits", low=1, high=8)
    wide: float = option(0.5, "of no use", low=0.0, high=1.0)
    way: str = option("up", "of no use", choices=("up", "down"))
    loud: bool = option(False, "of no use")

    def required_sizes(self) -> dict[str, Any]:
        return {"kind": self.kind, "vocab_size": 10, "max_len": self.length, "pad_id": None}

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        digits = torch.randint(5, (size, self.length), generator=generator)
        targets = 2 * digits
        targets[:, 0] = IGNORED
        return Batch((digits,), targets)

    def probe(self) -> Reading:
        return self.read("1 2 3")

    def read(self, text: str) -> Reading:
        ids = [int(digit) for digit in text.split()]
        return Reading((torch.tensor([ids]),), {"encoder": text.split()}, text)

    def outputs(self) -> tuple[str, ...]:
        return tuple(map(str, range(10)))


def model_of(task: Task) -> Transformer:
    config = ModelConfig(n_layers=1, n_heads=2, d_model=8, **task.required_sizes())
    return Transformer(config, seed=0).double()


def test_options_go_to_json_and_back_and_are_checked_in_words():
    assert Double(length=3).to_dict() == {"length": 3, "wide": 0.5, "way": "up", "loud": False}
    assert Double(wide=1) == Double(wide=1.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"length": 9}, "length=9 is not within 1 to 8; try 4"),
        ({"length": 2.5}, "length=2.5 is no whole number; try 4"),
        ({"wide": math.nan}, "wide=nan is no number; try 0.5"),
        ({"way": "left"}, "way='left' is unknown; choose one of up, down"),
        ({"loud": 1}, "loud=1 is neither True nor False; choose one"),
    ],
)
def test_options_that_make_no_task_are_refused(options: dict[str, Any], sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Double(**options)


def test_tasks_are_made_by_name():
    name = next(iter(TASKS))
    assert type(make_task(name)) is TASKS[name]
    with pytest.raises(ValueError, match=r"task='levitate' is unknown; choose one of .*addition"):
        make_task("levitate")
    with pytest.raises(ValueError, match=f"'colour' is no option of task {name!r}; it has"):
        make_task(name, {"colour": "red"})


def test_batches_go_on_from_any_step():
    task = Double()
    first = [batch.targets for batch in islice(task.batches(7, 3), 5)]
    later = [batch.targets for batch in islice(task.batches(7, 3, start=2), 3)]
    assert all(torch.equal(a, b) for a, b in zip(first[2:], later, strict=True))
    assert not torch.equal(first[0], first[1])
    other = next(task.batches(8, 3))
    assert not torch.equal(first[0], other.targets)


def test_parts_of_a_batch_are_the_batch():
    whole = Batch((torch.arange(10).view(5, 2),), torch.arange(5)[:, None], {"more": torch.arange(5)})
    parts = whole.split(3)
    assert [len(part) for part in parts] == [2, 2, 1]
    assert torch.equal(torch.cat([part.inputs[0] for part in parts]), whole.inputs[0])
    assert torch.equal(torch.cat([part.targets for part in parts]), whole.targets)
    assert torch.equal(torch.cat([part.extra["more"] for part in parts]), whole.extra["more"])
    assert [len(part) for part in whole.split(9)] == [1] * 5
    assert whole.n_tokens == 10


def test_loss_and_score_by_hand():
    task = Double()
    model, batch = model_of(task), task.batch(generator_of(0, 0), 6)
    logits = model(*batch.inputs).tolist()
    terms, right = [], []
    for row, targets in zip(logits, batch.targets.tolist(), strict=True):
        asked = [(scores, t) for scores, t in zip(row, targets, strict=True) if t != IGNORED]
        terms += [math.log(sum(map(math.exp, scores))) - scores[t] for scores, t in asked]
        right.append(all(max(range(10), key=scores.__getitem__) == t for scores, t in asked))
    assert len(terms) == 6 * 3
    assert task.losses(model, batch)["loss"].item() == pytest.approx(sum(terms) / len(terms), rel=1e-6)
    assert task.score(model, batch) == {"exact match": sum(right) / 6}


def test_what_was_never_learnt_is_not_restored():
    assert Double().learnt() == {}
    Double().restore({})
    with pytest.raises(AssertionError):
        Double().restore({"vocabulary": []})


# Random tokens that a model reads twice in a row: which, how many, and what stands around them.

LETTERS = Alphabet("·abcdefgh", range(1, 9), {"encoder": (0,), "decoder": (0, 0)}, {"encoder": (0,)})
AROUND = {
    "translator": {"encoder": (["<2fr>"], ["<eos>"]), "decoder": (["<bos>"], [])},
    "induction": {"decoder": ([], [])},
    "masked": {"encoder": (["[CLS]"], ["[SEP]"])},
    "sentiment": {"encoder": (["[CLS]"], [])},
    "shakespeare": {"decoder": ([], [])},
}
NUMBERS = {"translator": 25, "induction": 16, "masked": 15, "sentiment": 23, "shakespeare": 25}


def test_each_side_has_its_own_tokens_twice_and_what_stands_around_them() -> None:
    found = repeated(LETTERS, 16, seed=3)
    assert (found.n, found.starts) == (7, {"encoder": 1, "decoder": 2})
    assert found.reading.tokens.keys() == {"encoder", "decoder"}
    for (side, tokens), ids in zip(found.reading.tokens.items(), found.reading.inputs, strict=True):
        start = found.starts[side]
        half = tokens[start : start + 7]
        assert len(set(half)) == 7 and "·" not in half
        assert tokens == ["·"] * start + half + half + ["·"] * (side == "encoder")
        assert ["·abcdefgh"[id_] for id_ in ids[0].tolist()] == tokens
    assert repeated(LETTERS, 16, seed=3).reading.tokens == found.reading.tokens
    assert repeated(LETTERS, 16, seed=4).reading.tokens != found.reading.tokens


def test_there_are_as_many_as_the_alphabet_has_and_the_length_takes() -> None:
    long = Alphabet([str(at) for at in range(100)], range(100), {"decoder": ()})
    assert [repeated(long, length, 0).n for length in (4, 5, 50, 51, 10**6)] == [2, 2, 25, 25, 25]
    assert repeated(long._replace(length=12), 100, 0).n == 6
    assert repeated(LETTERS, 100, 0).n == 8
    with pytest.raises(ValueError, match="a text of 3 tokens, 100 different, has no room for 2 random"):
        repeated(long, 3, 0)


@pytest.mark.parametrize("name", AROUND)
def test_shipped_models_read_their_own_words_and_no_special_ones(name: str) -> None:
    model = load_model(name)
    found = model.repeated(1)
    assert found.n == NUMBERS[name]
    for side, (before, after) in AROUND[name].items():
        tokens, n = found.reading.tokens[side], found.n
        half = tokens[len(before) : len(before) + n]
        assert tokens == [*before, *half, *half, *after]
        assert not {"<pad>", "<unk>", "<eos>", "[PAD]", "[UNK]", "[MASK]", "[CLS]", "·"} & set(half)
        assert len(tokens) <= model.max_len
    trace = model.trace(found.reading, reduce=lambda address, tensor: tensor.shape)
    side, tokens = list(found.reading.tokens.items())[-1]
    assert trace[f"{side}.0.self.pattern"][-2:] == (len(tokens), len(tokens))


def test_every_task_of_texts_has_an_alphabet_and_no_other() -> None:
    without = {name for name in TASKS if "autoencoder" in name or "classifier" in name}
    needs_data = {"everyday", "language-model", "long-context"}
    for name in sorted(TASKS.keys() - needs_data):
        assert (make_task(name).made_of() is None) == (name in without), name


def test_an_untrained_model_reads_any_words() -> None:
    model = untrained.load(n_layers=1, n_heads=2, d_model=8, positions="sinusoidal")
    found = model.repeated()
    assert found.n == 25 and found.reading.tokens["encoder"][0].startswith("word ")
    assert 0 not in found.reading.inputs[0]


def test_a_model_of_pictures_says_that_it_cannot() -> None:
    with pytest.raises(ValueError, match="'digits-classifier' reads no texts"):
        load_model("digits-classifier").repeated()


# How rare a token is: by what each task trains on, counted in another way.


def test_the_kept_counts_are_those_of_the_first_training_sentences() -> None:
    pairs = list(islice(sample_pairs(0, "training"), 300))
    few = count_words(300)
    for counts, sentences in (
        (few.english, [pair.english for pair in pairs]),
        (few.french, [pair.french for pair in pairs]),
    ):
        words = [word for sentence in sentences for word in sentence]
        assert counts == {word: words.count(word) for word in set(words)}
        assert list(counts.values()) == sorted(counts.values(), reverse=True)
    for kept, drawn in zip(kept_counts(), few, strict=True):
        assert all(kept[word] >= count for word, count in drawn.items())
        assert list(kept.values()) == sorted(kept.values(), reverse=True)
        assert sum(kept.values()) / 10_000 == pytest.approx(sum(drawn.values()) / 300, rel=0.05)


def test_a_translator_counts_words_of_both_languages() -> None:
    rarity, counts = make_task("translation").rarity(), kept_counts()
    assert rarity.said == (
        "Here, rarity is by counts in 10,000 pairs of its training sentences; special tokens do not count."
    )
    assert rarity.counts["street"] == counts.english["street"] > 0
    assert rarity.counts["rue"] == counts.french["rue"] > 0
    shared = next(word for word in counts.english if word in counts.french and word.isalpha())
    assert rarity.counts[shared] == counts.english[shared] + counts.french[shared]
    assert rarity.counts["<eos>"] == rarity.counts["<2fr>"] == math.inf


def test_language_models_of_the_grammar_count_its_english() -> None:
    rarity = make_task("next-word").rarity()
    assert rarity.counts["the"] == max(kept_counts().english.values())
    assert rarity.counts["<eos>"] == math.inf and "rue" not in rarity.counts


def test_word_pieces_count_as_often_as_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"the": 7, "street": 3, "thestreet": 2, "xthe": 5}
    monkeypatch.setattr(masked, "kept_counts", lambda: Counts(counts, {}))
    task = load_model("masked").task
    pieces = {word: [task.tokenizer.labels[id_] for id_ in task.tokenizer.encode(word)] for word in counts}
    assert len(pieces["thestreet"]) > 1 == len(pieces["street"])
    every = {piece for found in pieces.values() for piece in found}
    expected = {piece: sum(n * pieces[word].count(piece) for word, n in counts.items()) for piece in every}
    assert {**task.rarity().counts, **expected} == task.rarity().counts
    assert task.rarity().counts["[MASK]"] == math.inf
    assert make_task("masked", {"source": "tiny-shakespeare"}).rarity() is None


def test_reviews_are_counted_as_training_writes_them() -> None:
    rarity = load_model("sentiment").task.rarity()
    rng = random.Random(0)
    words = [word for _ in range(2_000) for word in sample_review(rng, held_out=False).text.split()]
    for word in ("the", "boring", "acting"):
        assert rarity.counts[word] == words.count(word) > 0
    assert "2,000 reviews like those of its training" in rarity.said


@pytest.mark.parametrize("name", ["induction", "shakespeare", "digits-classifier"])
def test_where_nobody_counted_nothing_is_claimed(name: str) -> None:
    assert load_model(name).task.rarity() is None
