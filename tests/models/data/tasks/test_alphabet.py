"""Random tokens that a model reads twice in a row: which, how many, and what stands around them."""

import pytest

from models import load_model
from models.data.tasks import TASKS, make_task
from models.data.tasks.alphabet import Alphabet, repeated
from models.zoo.untrained import UntrainedModel

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
    with pytest.raises(
        ValueError, match="a text of 3 tokens, of 100 different ones, has no room for 2 random"
    ):
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
    needs_data = {"parallel-text", "language-model", "long-context"}
    for name in sorted(TASKS.keys() - needs_data):
        assert (make_task(name).made_of() is None) == (name in without), name


def test_an_untrained_model_reads_any_words() -> None:
    model = UntrainedModel.of(n_layers=1, n_heads=2, d_model=8, positions="sinusoidal")
    found = model.repeated()
    assert found.n == 25 and found.reading.tokens["encoder"][0].startswith("word ")
    assert 0 not in found.reading.inputs[0]


def test_a_model_of_pictures_says_that_it_cannot() -> None:
    with pytest.raises(ValueError, match="'digits-classifier' reads no texts, so it cannot be given random"):
        load_model("digits-classifier").repeated()
