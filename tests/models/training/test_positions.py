"""The suite's models share their data, sizes and first weights; a rerun gives the same numbers."""

import json
import math
from dataclasses import replace
from itertools import islice

import pytest
import torch
from safetensors.torch import load_file

from models.data.stream import english_text
from models.engine.transformer import Transformer
from models.runs.command_line import main
from models.training.positions import SuiteConfig, metrics, train, training_text, windows
from models.zoo.suite import SCHEMES, LanguageModel, held_out_texts, untrained

CONFIG = SuiteConfig(length=8, text_words=3_000, steps=3, batch_size=4, d_model=16)


@pytest.fixture(scope="module")
def text_and_tokenizer():
    return training_text(CONFIG)


@pytest.fixture
def few_texts(monkeypatch):
    """How many held-out texts the metrics are measured on."""
    monkeypatch.setattr("models.training.positions._TEXTS", 6)
    return 6


def test_the_text_is_the_training_text_in_ids_of_its_own_words(text_and_tokenizer):
    text, tokenizer = text_and_tokenizer
    assert [tokenizer.vocabulary[id_] for id_ in text[:300].tolist()] == english_text(0, "training", 300)
    assert len(text) == 3_000
    assert {int(id_) for id_ in text} | set(range(6)) == set(range(len(tokenizer)))


def test_windows_are_pieces_of_the_text_and_the_same_for_a_seed(text_and_tokenizer):
    text, _ = text_and_tokenizer
    batches = list(islice(windows(text, CONFIG), 3))
    again = list(islice(windows(text, CONFIG), 3))
    assert all(torch.equal(one, other) for one, other in zip(batches, again, strict=True))
    assert not torch.equal(batches[0], batches[1])
    pieces = text.unfold(0, CONFIG.length + 1, 1)
    assert batches[0].shape == (4, 9)
    assert all((pieces == row).all(dim=1).any() for row in batches[0])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_only_learned_positions_end_where_training_does(scheme):
    config = CONFIG.model(scheme, 50)
    assert config == replace(
        CONFIG.model("none", 50), positions=scheme, max_len=8 if scheme == "learned" else 32
    )


def test_a_rerun_gives_the_same_numbers_and_leaves_the_model_ready(text_and_tokenizer):
    text, tokenizer = text_and_tokenizer
    losses = []
    for disturbance in (1, 2):
        torch.manual_seed(disturbance)
        model = untrained(CONFIG.model("none", len(tokenizer)), 0)
        losses.append(list(train(model, text, CONFIG)))
        assert not model.training
    assert losses[0] == losses[1]
    assert len(losses[0]) == 3


def test_the_first_loss_is_that_of_the_first_batch_in_a_plain_loop(text_and_tokenizer):
    text, tokenizer = text_and_tokenizer
    model = untrained(CONFIG.model("sinusoidal", len(tokenizer)), 0)
    batch = next(windows(text, CONFIG))
    total = 0.0
    with torch.no_grad():
        for row in batch:
            log_probs = model(row[None, :-1])[0].double().log_softmax(dim=-1)
            total -= sum(float(log_probs[at, row[at + 1]]) for at in range(CONFIG.length))
    loss = next(train(model, text, CONFIG))
    assert loss == pytest.approx(total / batch[:, 1:].numel(), rel=1e-5)


def test_it_learns(text_and_tokenizer):
    text, tokenizer = text_and_tokenizer
    config = SuiteConfig(length=8, steps=60, batch_size=32, d_model=16)
    losses = list(train(untrained(config.model("sinusoidal", len(tokenizer)), 0), text, config))
    assert losses[0] == pytest.approx(math.log(len(tokenizer)), rel=0.3)
    assert losses[-1] < 0.85 * losses[0]


def test_metrics_are_means_over_the_positions_that_a_scheme_has(text_and_tokenizer, few_texts):
    _, tokenizer = text_and_tokenizer
    texts = held_out_texts(tokenizer, few_texts, 33, 1)
    for scheme, ranges in (("none", [(0, 8), (8, 16), (16, 32)]), ("learned", [(0, 8)])):
        model = untrained(CONFIG.model(scheme, len(tokenizer)), 0).eval()
        lm = LanguageModel(scheme, model, tokenizer, {"training": {"length": 8}})
        losses = lm.losses(texts[:, : lm.max_words + 1])
        expected = {
            f"positions {start + 1} to {end}": losses[:, start:end].mean().item() for start, end in ranges
        }
        assert metrics(lm) == {"held_out_texts": few_texts, "loss": expected}


def test_the_command_writes_weights_with_their_card(tmp_path, monkeypatch, few_texts):
    arguments = [
        "positions",
        "--out",
        str(tmp_path),
        "--schemes",
        "learned",
        "--words",
        "3000",
        "--steps",
        "1",
    ]
    monkeypatch.setattr("sys.argv", ["training", *arguments])
    main()
    card = json.loads((tmp_path / "learned" / "card.json").read_text())
    assert card["training"]["command"] == " ".join(["python -m models.training", *arguments])
    expected = SuiteConfig(text_words=3_000, steps=1)
    assert {name: card["training"][name] for name in expected.to_dict()} == expected.to_dict()
    config = expected.model("learned", len(card["vocabulary"]))
    assert card["config"] == config.to_dict()
    model = Transformer(config, seed=0)
    weights = load_file(tmp_path / "learned" / "learned.safetensors")
    assert card["metrics"]["held_out_texts"] == few_texts
    assert card["parameters"] == sum(p.numel() for p in model.parameters())
    assert {name: w.shape for name, w in weights.items()} == {
        name: w.shape for name, w in model.state_dict().items()
    }
