"""The shipped suite: what its cards claim, and that its models differ in their positions only."""

import hashlib
import json
import lzma
from itertools import pairwise

import pytest
import torch

from attention_lab.models import ModelConfig, list_models
from attention_lab.models.byte_units import MB
from attention_lab.models.data.grammar.pairs import english_text
from attention_lab.models.data.tasks import generator_of
from attention_lab.models.data.tasks.next_word import NextWord
from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.runs.train_shipped import config_of
from attention_lab.models.zoo import FileError, load_model
from attention_lab.models.zoo.folders import CARD, LEARNT, SHIPPED
from attention_lab.pages.lab.positions.inputs import SCHEMES, untrained

FOLDER = SHIPPED / "positions"
LENGTH, SEED = 32, 0
DIGESTS = {
    "none": "5d642de29c4025d3",
    "sinusoidal": "4d7896768ed7c6cb",
    "learned": "1c9a6bc82b622b6d",
    "rotary": "873749772e64d638",
    "alibi": "e2c185ea6421afc8",
    "t5": "4946325adaa65104",
    "transformer-xl": "496aebfa45a85988",
}
"""Of the packed weights: no conversion of their cards touched them."""


def config(scheme):
    return config_of(RECIPES[f"positions/{scheme}"])


@pytest.fixture(scope="module")
def models():
    torch.set_num_threads(1)
    return {scheme: load_model(f"positions/{scheme}") for scheme in SCHEMES}


def test_the_suite_is_small_and_of_safetensors():
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert {path.relative_to(FOLDER).as_posix() for path in files} == {
        LEARNT,
        *(f"{scheme}/{name}" for scheme in SCHEMES for name in (CARD, f"{scheme}.safetensors.xz")),
    }
    assert sum(path.stat().st_size for path in files) <= 1.2 * MB


def test_explore_does_not_list_them():
    names = {card.name for card in list_models()}
    assert "translator" in names
    assert not names & {FOLDER.name, *SCHEMES}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_card_describes_its_file(models, scheme):
    lm = models[scheme]
    trained = config(scheme)
    assert ModelConfig.from_dict(lm.card["config"]) == trained.model
    assert lm.task == trained.task == NextWord(reach=32 if scheme == "learned" else 128, words=2_000_000)
    assert lm.task.tokenizer.vocabulary == trained.task.tokenizer.vocabulary
    shared = ("steps", "batch_size", "learning_rate", "weight_decay", "seed")
    given = trained.training.to_dict()
    assert {name: lm.card["training"][name] for name in shared} == {name: given[name] for name in shared}
    digest = hashlib.sha256((FOLDER / scheme / f"{scheme}.safetensors.xz").read_bytes()).hexdigest()
    assert digest[:16] == DIGESTS[scheme]
    assert lm.card["parameters"] == sum(parameter.numel() for parameter in lm.model.parameters())
    assert lm.card["training"]["command"].startswith(
        "python -m attention_lab.models.training positions --out"
    )
    assert scheme in lm.card["training"]["command"]
    assert lm.card["license"] == "MIT"
    assert lm.card["limits"]
    assert not lm.model.training


def test_the_models_share_words_and_sizes(models):
    one, *others = models.values()
    for lm in others:
        assert lm.task.tokenizer.vocabulary == one.task.tokenizer.vocabulary
        sizes = {
            name: value for name, value in lm.card["config"].items() if name not in ("positions", "max_len")
        }
        assert sizes == {name: one.card["config"][name] for name in sizes}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_metrics_of_a_card_come_out_again(models, scheme):
    """On a few texts, within what so few can tell."""
    lm = models[scheme]
    found = lm.task.score(lm.model, lm.task.batch(generator_of(0, 0), 32, held_out=True))
    claimed = lm.card["metrics"]
    assert found.keys() == claimed.keys()
    for positions, loss in found.items():
        assert loss == pytest.approx(claimed[positions], abs=0.3)


def test_losses_are_cross_entropies_in_a_plain_loop(models):
    texts = models["alibi"].task.held_out_texts(2, 9, 5)
    found = models["alibi"].task.nats(models["alibi"].model, texts)
    assert found.shape == (2, 8)
    for row, text in enumerate(texts):
        for at in range(8):
            logits = models["alibi"].model(text[None, : at + 1])[0, -1].double()
            expected = logits.logsumexp(dim=0) - logits[text[at + 1]]
            assert found[row, at].item() == pytest.approx(expected.item(), abs=1e-4)


def test_learned_positions_end_where_training_did(models):
    texts = models["learned"].task.held_out_texts(1, LENGTH + 2, 1)
    with pytest.raises(ValueError, match=r"^33 words, but positions='learned' end at 32; ask for at"):
        models["learned"].task.nats(models["learned"].model, texts)
    assert models["learned"].task.nats(models["learned"].model, texts[:, :-1]).shape == (1, LENGTH)
    for scheme, lm in models.items():
        if scheme != "learned":
            assert lm.task.nats(lm.model, texts).isfinite().all()


def test_reading_frames_a_text_and_refuses_what_was_never_trained(models):
    lm = models["none"]
    reading = lm.read("The animal slept.")
    assert reading.tokens == {"decoder": ["<eos>", "the", "animal", "slept", "."]}
    assert [lm.outputs[id_] for id_ in reading.inputs[0][0].tolist()] == reading.tokens["decoder"]
    with pytest.raises(ValueError, match=r"^the text is empty; give at least one word$"):
        lm.read("  ")
    with pytest.raises(ValueError, match=r"^'anmal' is none of the 647 words that .*; near it are animal"):
        lm.read("the anmal slept")
    with pytest.raises(ValueError, match=r"^'ééééé' is none of the 647 words .*; choose another$"):
        lm.read("ééééé")
    with pytest.raises(ValueError, match=r"^the text has 33 words, but training had at most 31; remove 2$"):
        lm.read("dog " * 33)
    assert lm.read("dog " * 31).inputs[0].shape == (1, LENGTH)


def test_held_out_texts_are_one_stream_cut_in_pieces(models):
    tokenizer = models["none"].task.tokenizer
    texts = models["none"].task.held_out_texts(3, 5, 2)
    words = english_text(2, "held out", 15)
    assert [tokenizer.vocabulary[id_] for id_ in texts.flatten().tolist()] == words


def test_untrained_models_share_all_weights_but_their_positions_own():
    plain, own = (untrained(config(scheme).model, 0).state_dict() for scheme in ("none", "t5"))
    assert all(torch.equal(value, own[name]) for name, value in plain.items())
    assert own.keys() > plain.keys()
    assert all(name.startswith("decoder.positions.") for name in own.keys() - plain.keys())


def test_damaged_files_are_refused(tmp_path):
    (tmp_path / "none").mkdir()
    weights = tmp_path / "none" / "none.safetensors.xz"
    weights.write_bytes((FOLDER / "none" / weights.name).read_bytes())
    (tmp_path / LEARNT).write_bytes((FOLDER / LEARNT).read_bytes())
    card = json.loads((FOLDER / "none" / CARD).read_text())
    (tmp_path / "none" / CARD).write_text(
        json.dumps(card | {"config": card["config"] | {"kind": "encoder-only"}})
    )
    with pytest.raises(FileError, match=r"task 'next-word' needs kind='decoder-only'"):
        load_model(tmp_path / "none")
    (tmp_path / "none" / CARD).write_text(json.dumps(card))
    whole = weights.read_bytes()
    for damaged in (b"hello", whole[:-100], whole[:-12], whole + b"x", lzma.compress(b"hello")):
        weights.write_bytes(damaged)
        with pytest.raises(FileError, match="is no whole safetensors file"):
            load_model(tmp_path / "none")
    (tmp_path / LEARNT).unlink()
    with pytest.raises(FileError, match="lacks learnt; restore it"):
        load_model(tmp_path / "none")


def test_t5s_far_buckets_were_never_trained(models):
    """What a page says of them: weight decay only shrank the random numbers that they began with."""
    trained = models["t5"].model.decoder.positions.table.weight
    first = untrained(config("t5").model, SEED).decoder.positions.table.weight
    ratio = (trained / first).detach()
    assert (ratio[22:] - ratio[-1, -1]).abs().max() < 1e-3
    assert 0.9 < ratio[-1, -1] < 1
    assert (ratio[:22] - ratio[-1, -1]).abs().max() > 0.5


def test_past_the_trained_length_biases_hold_and_waves_do_not(models):
    """The finding of the page's last part, as the cards have it."""
    spans = ("positions 1 to 32", "positions 33 to 64", "positions 65 to 128")
    losses = {scheme: lm.card["metrics"] for scheme, lm in models.items()}
    assert set(losses.pop("learned")) == {spans[0]}
    at_home = [loss[spans[0]] for loss in losses.values()]
    assert max(at_home) - min(at_home) < 0.25
    for near, far in pairwise(spans):
        assert losses["sinusoidal"][far] > losses["sinusoidal"][near]
    assert losses["sinusoidal"][spans[2]] > losses["alibi"][spans[2]] + 1
    assert losses["alibi"][spans[2]] < losses["alibi"][spans[0]] + 0.1
