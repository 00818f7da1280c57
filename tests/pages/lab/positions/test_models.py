"""Side by side, order and length: what the page shows of whole models, against the models themselves."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_lab.models import Trace
from attention_lab.models.zoo import load_model
from attention_lab.pages.lab.positions import length, order, schemes
from attention_lab.pages.lab.positions.inputs import NAMES, SCHEMES, Inputs, untrained
from tests.pages.lab.boards import facts, panel


@pytest.mark.parametrize("weights", ["untrained", "trained"])
def test_patterns_are_those_of_the_models(weights):
    board = schemes.lesson(Inputs(weights=weights, layer=1, seed=3)).board
    for scheme, name in NAMES.items():
        lm = load_model(f"positions/{scheme}")
        config = replace(load_model("positions/none").model.config, positions=scheme)
        model = lm.model if weights == "trained" else untrained(config, 3).eval()
        trace = Trace()
        with torch.no_grad():
            model(*lm.read(Inputs().text).inputs, trace=trace)
        shown = panel(board, name).values
        np.testing.assert_allclose(shown, trace["decoder.1.self.pattern"].numpy(), atol=1e-6)


def test_what_the_models_do_not_know_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"^'sreet' is none of the 647 words .*; near it are street"):
        schemes.lesson(Inputs(text="the sreet"))
    with pytest.raises(ValueError, match="the text is empty"):
        order.lesson(Inputs(text=" "))


def test_who_notices_a_shuffle():
    moved = dict(
        zip(NAMES, panel(order.lesson(Inputs()).board, "how far the outputs move").values, strict=True)
    )
    assert moved.pop("none") < 1e-5
    assert min(moved.values()) > 0.01
    assert "the model **without positions** did not notice" in order.lesson(Inputs()).board.notice
    backwards = order.lesson(Inputs(order="reversed")).board
    assert "the models **without positions and with ALiBi** did not notice" in backwards.notice
    masked = order.lesson(Inputs(mask="causal")).board
    assert "every model noticed" in masked.notice
    assert panel(masked, "how far the outputs move").values.min() > 0.1
    assert (
        len(order.lesson(Inputs()).board.rows) == 2
    )  # the trained models, all causal, stand beside these alone


def test_the_shuffled_sentence_is_worse_for_every_trained_model():
    board = order.lesson(Inputs(mask="causal")).board
    plain, mixed, worse = panel(board, "trained models: nats per word").values
    words = facts(board)["the words now"].split()
    assert sorted(words) == sorted(Inputs().text.split())
    for at, scheme in enumerate(SCHEMES):
        lm = load_model(f"positions/{scheme}")
        for shown, text in ((plain[at], Inputs().text), (mixed[at], " ".join(words))):
            nats = lm.task.nats(lm.model, *lm.read(text).inputs).mean().item()
            assert shown == pytest.approx(nats, rel=1e-4)
    np.testing.assert_allclose(worse, mixed - plain)
    assert f"**{worse.min():.1f} to {worse.max():.1f} nats**" in board.notice
    assert worse.min() > 1


def test_losses_by_position_are_those_of_the_models():
    board = length.lesson(Inputs(times=4)).board
    table = panel(board, "nats per word (NaN: no answer)").values
    texts = length.held_out(1)
    assert torch.equal(texts[:2], load_model("positions/none").task.held_out_texts(2, 129, 1))
    for at, scheme in enumerate(SCHEMES):
        lm = load_model(f"positions/{scheme}")
        if scheme == "learned":
            assert np.isnan(table[at]).all()
            continue
        losses = lm.task.nats(lm.model, texts)
        spans = ((0, 32), (32, 64), (64, 128))
        expected = [losses[:, start:end].mean().item() for start, end in spans]
        np.testing.assert_allclose(table[at], expected, rtol=1e-4)
    assert facts(board)["learned answers"] == "none: 32 vectors, 128 words"


@pytest.mark.parametrize("times", [1, 2, 4])
def test_the_notice_names_best_and_worst_of_the_last_words(times):
    board = length.lesson(Inputs(times=times)).board
    last = panel(board, "nats per word (NaN: no answer)").values[:, -1]
    names = list(NAMES.values())
    assert f"{names[np.nanargmin(last)]}" in board.notice
    assert f"**{np.nanmin(last):.2f}**" in board.notice
    assert f"**{np.nanmax(last):.2f}**" in board.notice
    lines = panel(board, "loss by position, means of 8 positions; trained up to 32").lines
    assert len(lines) == (7 if times == 1 else 6)
