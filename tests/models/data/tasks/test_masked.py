"""Hidden words: as many as the paper hides, asked where they are, read as typed, and learnt."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest
import torch

from attention_lab.models.data import text_sources
from attention_lab.models.data.tasks import IGNORED, generator_of, make_task, masked
from attention_lab.models.data.tasks.masked import CLS, MASK, PAD, SEP, SPECIALS, UNK, hide, sentences_of
from tests.small_models import model_of

TASK = make_task("masked", {"vocabulary": 2000})  # so many that known words are whole


@pytest.fixture(scope="module", autouse=True)
def few_sentences():
    """A small part of the grammar is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_sources, "_SENTENCES", 600)
        text_sources.sentences.cache_clear()
        yield
    text_sources.sentences.cache_clear()


def test_words_are_hidden_as_often_and_as_the_paper_says():
    rng, n_tokens = random.Random(0), 1000
    ids = [CLS, *range(100, 140), SEP]  # forty words, of which six
    seen: Counter[str] = Counter()
    for _ in range(3000):
        read, asked = hide(ids, rng, n_tokens)
        at = [position for position, target in enumerate(asked) if target != IGNORED]
        assert len(at) == 6 and not {0, 41} & set(at)
        assert all(asked[p] == ids[p] for p in at)
        assert all(read[p] == ids[p] for p in range(42) if p not in at)
        seen.update("mask" if read[p] == MASK else "same" if read[p] == ids[p] else "other" for p in at)
        assert all(read[p] == MASK or read[p] >= len(SPECIALS) for p in at)
    shares = {kind: count / 18_000 for kind, count in seen.items()}
    assert shares == pytest.approx({"mask": 0.8, "other": 0.1, "same": 0.1}, abs=0.01)


@pytest.mark.parametrize(("words", "hidden"), [(1, 1), (3, 1), (10, 2), (20, 3)])
def test_at_least_one_word_is_hidden(words: int, hidden: int):
    _, asked = hide([CLS, *[50] * words, SEP], random.Random(1), 100)
    assert sum(target != IGNORED for target in asked) == hidden


def test_batches_are_sentences_in_frames():
    batch = TASK.batch(generator_of(0, 0), 40)
    for ids, targets in zip(batch.inputs[0].tolist(), batch.targets.tolist(), strict=True):
        end = ids.index(SEP)
        assert ids[0] == CLS and set(ids[end + 1 :]) <= {PAD}
        assert not {CLS, PAD, SEP} & set(ids[1:end])
        assert any(target != IGNORED for target in targets[1:end])
        assert all(target == IGNORED for target in (targets[0], *targets[end:]))


def test_held_out_sentences_are_never_trained():
    trained, held_out, tested = (
        set(map(tuple, TASK._examples[split])) for split in ("training", "held out", "test")
    )
    assert len(held_out) > 50 and len(tested) > 15
    assert not held_out & trained and not tested & (held_out | trained)


def test_losses_by_another_formula():
    model = model_of(TASK).double()
    batch = TASK.batch(generator_of(3, 0), 5)
    rows = model(*batch.inputs).log_softmax(dim=-1).tolist()
    terms = [
        -rows[i][j][target]
        for i, targets in enumerate(batch.targets.tolist())
        for j, target in enumerate(targets)
        if target != IGNORED
    ]
    assert TASK.losses(model, batch)["loss"].item() == pytest.approx(sum(terms) / len(terms), rel=1e-5)


def test_scores_of_one_who_knows(monkeypatch: pytest.MonkeyPatch):
    batch = TASK.batch(generator_of(3, 0), 8)
    logits = torch.nn.functional.one_hot(batch.targets.clamp(min=0), len(TASK.tokenizer)).double()
    model = model_of(TASK)
    monkeypatch.setattr(model, "forward", lambda ids, positions: logits[positions])
    assert TASK.score(model, batch) == {"hidden words": 1.0}


def test_typed_masks_are_read():
    reading = TASK.read("The animal [mask] the street [SEP] because it was too zzz")
    ids = reading.inputs[0][0].tolist()
    assert reading.tokens["encoder"][:5] == ["[CLS]", "the", "animal", "[MASK]", "the"]
    assert ids[0] == CLS and ids[3] == MASK and ids.count(SEP) == 2 and ids[-1] == SEP
    assert [word.text for word in reading.unknown] == (["zzz"] if UNK in ids else [])
    assert "☃" in [word.text for word in TASK.read("the ☃ slept").unknown]


def test_a_text_of_one_sentence_is_refused(tmp_path):
    file = tmp_path / "line.txt"
    file.write_text("one line without an end")
    with pytest.raises(ValueError, match=re.escape("sentences in its part; take a longer text")):
        make_task("masked", {"file": str(file)}).required_sizes()


def test_samples_show_what_was_hidden():
    samples = TASK.samples(model_of(TASK), seed=0)
    assert len(samples) == 4
    for sample in samples:
        assert "[MASK]" in sample.given and "[MASK]" not in sample.wanted
        assert len(TASK.read(sample.wanted).tokens["encoder"]) == len(
            TASK.read(sample.given).tokens["encoder"]
        )


@pytest.mark.parametrize("length", [8, 32, 512])
def test_long_words_are_watched_as_far_as_they_fit(tmp_path, length):
    file = tmp_path / "words.txt"
    rng = random.Random(0)
    file.write_text(
        "".join(
            " ".join("".join(rng.choices("abcdefghij", k=30)) for _ in range(200)) + ".\n" for _ in range(12)
        )
    )
    task = make_task("masked", {"file": str(file), "vocabulary": 100, "length": length})
    tokens = task.probe().tokens["encoder"]
    assert "[MASK]" in tokens and len(tokens) <= min(64, length)


def test_sentences_of_a_text_are_as_many_and_as_long_as_are_read(tmp_path: Path):
    path = tmp_path / "signs.txt"
    path.write_text("a. " * 300_000 + "b" * 50_000 + ".\n" + "c\n" * 100_000)
    training = sentences_of("grammar", str(path), "training", tested=False)
    assert (len(training), training[0], training[-1]) == (200_000, "a.", "a.")
    path.write_text(("a\n" + "b" * 50_000 + "\nc d\n") * 20)
    assert sentences_of("grammar", str(path), "training", tested=False)[:3] == ["a", "b" * 20_000, "c d"]


def test_a_text_gives_no_more_sentences_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("one word. " * 1_000)
    assert len(sentences_of("grammar", str(path), "training", tested=False)) == 900
    monkeypatch.setattr(masked, "MAX_SENTENCES", 100)
    assert len(sentences_of("grammar", str(path), "training", tested=False)) == 100
