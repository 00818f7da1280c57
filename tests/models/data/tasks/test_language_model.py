"""Language models of any text: bits by definition, parts apart, texts as they are typed, equal costs."""

import math

import pytest
import torch

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.data import text_sources
from attention_lab.models.data.downloads import SourceError
from attention_lab.models.data.tasks import generator_of, make_task
from attention_lab.models.data.tasks.long_context import mask_of, pairs_per_token
from attention_lab.models.engine import masks
from tests.small_models import model_of

LINES = ["to be or not to be,", "that is the question:", "whether ’tis nobler ☃ in the mind"]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "book.txt"
    path.write_text("\n".join(LINES * 60), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("tokens", ["characters", "bpe"])
def test_targets_are_the_tokens_that_follow(book, tokens):
    task = make_task("language-model", {"file": book, "tokens": tokens, "length": 16, "vocabulary": 300})
    batch = task.batch(generator_of(0, 0), 20)
    assert torch.equal(batch.inputs[0][:, 1:], batch.targets[:, :-1])
    text = "\n".join(LINES * 60)
    for ids, last in zip(batch.inputs[0].tolist(), batch.targets[:, -1].tolist(), strict=True):
        piece = task.written([*ids, last]).strip("\N{REPLACEMENT CHARACTER}")
        assert piece in text


def test_the_last_tenth_is_held_out(book):
    task = make_task("language-model", {"file": book, "length": 16})
    training, held_out, test = task._texts
    assert training + test + held_out == "\n".join(LINES * 60)
    assert len(held_out) == len(test) == len(training + test + held_out) // 10
    assert task.written(task._training_ids.tolist()) == training
    assert {task.written(row) for row in pieces(task, "held out")} == {
        held_out[i : i + 16] for i in range(0, len(held_out) - 16, 16)
    }
    assert task.split_sizes()["held out"] == (len(held_out) - 1) // 16 == len(pieces(task, "held out"))


def pieces(task, split) -> list[list[int]]:
    return [row for batch in task.examples(1, 10_000, split=split) for row in batch.inputs[0].tolist()]


@pytest.mark.parametrize("tokens", ["characters", "bpe"])
def test_bits_per_character_by_another_formula(book, tokens):
    """The text of a batch costs so many nats; in bits, over the characters of the very same text."""
    task = make_task("language-model", {"file": book, "tokens": tokens, "length": 16, "vocabulary": 300})
    model, batch = model_of(task).double(), task.batch(generator_of(2, 0), 6)
    rows = model(*batch.inputs).log_softmax(dim=-1).tolist()
    nats, n_bytes = 0.0, b""
    for row, targets in zip(rows, batch.targets.tolist(), strict=True):
        nats -= sum(scores[target] for scores, target in zip(row, targets, strict=True))
        if tokens == "characters":
            n_bytes += task.written(targets).encode()
        else:
            from attention_lab.models.data.learnt_tokenizer import bytes_of

            n_bytes += b"".join(bytes_of(task.tokenizer.vocabulary[id_]) for id_ in targets)
    characters = sum(1 for byte in n_bytes if byte >> 6 != 0b10)
    score = task.score(model, batch)
    assert score["bits per character"] == pytest.approx(nats / math.log(2) / characters, rel=1e-5)
    assert score["bits per byte"] == pytest.approx(nats / math.log(2) / len(n_bytes), rel=1e-5)
    assert tokens == "bpe" or len(n_bytes) > characters  # the book has an é
    assert task.losses(model, batch)["loss"].item() == pytest.approx(nats / (6 * 16), rel=1e-5)


def test_a_text_is_read_as_it_is_typed(book):
    task = make_task("language-model", {"file": book, "length": 16})
    reading = task.read("be\n or é")
    assert reading.tokens["decoder"] == ["b", "e", "\n", " ", "o", "r", " ", "<unk>"]
    assert [word.text for word in reading.unknown] == ["é"]
    with pytest.raises(ValueError, match="the text has 17 tokens, but this model reads at most 16; remove 1"):
        task.read("a" * 17)
    with pytest.raises(ValueError, match="the text is empty"):
        task.read("")
    assert 1 < len(task.probe().tokens["decoder"]) <= 16


def test_writing_goes_on_beyond_the_length(book):
    task = make_task("language-model", {"file": book, "length": 16})
    model = model_of(task)
    written = task.write(model, "to be", n_tokens=50, seed=3)
    long = task.write(model, "to be" * 9, n_tokens=50)
    assert [len(text.replace("<unk>", "?")) for text in (written, long)] == [50, 50]
    assert written == task.write(model, "to be", n_tokens=50, seed=3)
    assert written != task.write(model, "to be", n_tokens=50, seed=4)
    sure = task.write(model, "to be", n_tokens=11, temperature=1e-4)
    ids = torch.tensor([task.tokenizer.encode("to be" + sure[:-1])])
    assert task.written(model(ids)[0, 4:].argmax(dim=-1).tolist()) == sure
    (sample,) = task.samples(model, 0)
    assert sample.given and sample.made


def test_troubles_with_texts_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path / "nothing"))
    with pytest.raises(SourceError, match=r"Tiny Shakespeare is not here yet; download it \(1\.1 MB\)"):
        make_task("language-model", {"source": "tiny-shakespeare"}).required_sizes()
    with pytest.raises(ValueError, match="cannot be read"):
        make_task("language-model", {"file": str(tmp_path / "none.txt")}).required_sizes()
    short = tmp_path / "short.txt"
    short.write_text("to be or not to be " * 10)
    with pytest.raises(
        ValueError, match="length=64 does not fit the held-out tenth of the text, which has 19"
    ):
        make_task("language-model", {"file": str(short)}).batch(generator_of(0, 0), 2)


def test_enwik8_is_read_byte_by_byte(tmp_path, monkeypatch):
    path = tmp_path / "enwik8"
    path.write_bytes("é☃".encode() * 200)
    monkeypatch.setattr(text_sources, "required_file", lambda name: path)
    task = make_task("language-model", {"source": "enwik8"})
    assert len("".join(task._texts)) == 1000
    assert len(task.outputs()) == 1 + len(set("é☃".encode()))


def test_the_grammar_is_a_text_too(monkeypatch):
    monkeypatch.setattr(text_sources, "_SENTENCES", 200)
    text_sources.sentences.cache_clear()
    task = make_task("language-model")
    training, held_out = (set(text.split("\n")) for text in task._texts[:2])
    assert len(training) > 150 and not training & held_out
    text_sources.sentences.cache_clear()


@pytest.mark.parametrize("attention", ["dense", "transformer-xl", "fixed", "strided"])
@pytest.mark.parametrize(("length", "window"), [(256, 64), (512, 64), (128, 32)])
def test_long_contexts_cost_the_same(attention, length, window):
    dense = (window + 1) / 2
    mask, argument = mask_of(attention, length, window)
    assert pairs_per_token(mask, argument, length) == pytest.approx(dense, rel=0.05)
    allowed = masks.named(mask, argument, length)[0, 0]
    assert pairs_per_token(mask, argument, length) == int(allowed.sum()) / length
    assert not allowed.triu(1).any(), "nobody sees what comes"
    furthest = max(query - int(keys.nonzero()[0]) for query, keys in enumerate(allowed))
    assert furthest >= dense and (~allowed[-1]).any()


def test_a_mask_of_memory_is_reading_segment_by_segment(book):
    """The same numbers as the paper's way: each segment by itself, with the last one's states remembered."""
    options = {"file": book, "length": 64, "window": 16, "attention": "transformer-xl"}
    task = make_task("long-context", options)
    sizes = {**task.sizes, "d_model": 16, "n_heads": 2, **task.required_sizes()}
    config = ModelConfig(kind=task.kind, **sizes)
    model = Transformer(config, seed=0).double()
    segment, memory = map(int, config.mask_argument.split("."))
    assert (config.mask, config.positions) == ("memory", "transformer-xl")
    plain = Transformer(ModelConfig(**{**config.to_dict(), "mask": "none", "mask_argument": ""}), seed=0)
    plain.double().load_state_dict(model.state_dict())
    (ids,) = task.batch(generator_of(0, 0), 2).inputs
    cache, rows = plain.new_cache(), []
    for part in ids.split(segment, dim=1):
        rows.append(plain.decode(part, cache=cache))
        cache.tokens = cache.tokens[:, -memory:]  # positions are relative, so where they begin is no matter
        for own, _ in cache.layers:
            own.kept = tuple(each[:, :, -memory:] for each in own.kept)
    torch.testing.assert_close(torch.cat(rows, dim=1), model(ids))


@pytest.mark.parametrize("attention", ["dense", "transformer-xl", "fixed", "strided"])
def test_every_attention_reads_and_writes(book, attention):
    task = make_task("long-context", {"file": book, "length": 64, "window": 16, "attention": attention})
    model = model_of(task)
    score = task.score(model, task.batch(generator_of(5, 0), 20, held_out=True))
    assert score["bits per character"] > 1
    assert len(task.write(model, "to be", n_tokens=70).replace("<unk>", "?")) == 70


def test_a_window_leaves_something_to_gain(book):
    with pytest.raises(ValueError, match="window=64 leaves nothing to gain in length=100; try window=25"):
        make_task("long-context", {"file": book, "length": 100})
