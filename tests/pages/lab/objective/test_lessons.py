"""What the page on the objective says: its sentences against its boards, its answers, its bounds."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attention_lab.models import load_model
from attention_lab.pages.lab.objective import gradient, letters, loss, targets, warmup
from attention_lab.pages.lab.objective.inputs import WORDS, Inputs
from attention_lab.pages.lab.objective.toy import Setup, train
from tests.pages.lab.boards import facts, frame, numbers, panel

PARTS = (targets, loss, letters, gradient, warmup)
LOGITS = torch.tensor(Inputs().logits[0], dtype=torch.float64)


@pytest.fixture(scope="module")
def lessons():
    return {part: part.PART.lesson(Inputs()) for part in PARTS}


def test_targets_and_distributions_are_those_of_a_training_run(lessons):
    lesson, run = lessons[targets], train(Setup())
    wanted = panel(lesson.board, "targets y").values
    assert [WORDS[at] for at in wanted.argmax(axis=1)] == [
        "I",
        "am",
        "a",
        "student",
        "<eos>",
        "thanks",
        "<eos>",
    ]
    assert (wanted.sum(axis=1) == 1).all()
    now = panel(lesson.board, "model p, now").values
    assert now == pytest.approx(run.probabilities.numpy())
    assert panel(lesson.board, "before training").values == pytest.approx(now[0])
    by_hand = -np.log(now[:, np.arange(7), wanted.argmax(axis=1)]).mean(axis=1)
    shown = facts(lesson.board)
    assert shown["H(y, p): the loss"] == pytest.approx(by_hand, abs=1e-5)
    assert shown["+ KL(y ‖ p)"] == pytest.approx(by_hand, abs=1e-5)
    assert shown["perplexity, e^loss"] == pytest.approx(np.exp(by_hand), abs=1e-4)
    for at in (0, 10, 20):
        assert numbers(lesson.board.notice[at]) == pytest.approx([at, by_hand[at]], abs=6e-4)
    assert "**I am a student <eos>** and **thanks <eos>**" in lesson.board.notice[-1]


def test_smoothed_training_stays_above_the_entropy_of_its_targets():
    lesson = targets.lesson(Inputs(smoothing=0.1, steps=40))
    shown = facts(lesson.board)
    assert (shown["H(y, p): the loss"] >= shown["= H(y): of the targets"] - 1e-6).all()
    total = shown["= H(y): of the targets"] + shown["+ KL(y ‖ p)"]
    assert shown["H(y, p): the loss"] == pytest.approx(total, abs=1e-5)
    assert "0.421 at best" in lesson.board.notice[0]
    assert lesson.board.scrub.values[-1] == 40


def test_the_experiments_of_the_first_part_go_as_they_say():
    ten, smooth, wild = (targets.lesson(replace(Inputs(), **each.set)) for each in targets.PART.tries)
    usual = facts(targets.lesson(Inputs()).board)["H(y, p): the loss"]
    assert ten.board.scrub.values[-1] == 10
    assert facts(ten.board)["H(y, p): the loss"][-1] > 0.1
    assert facts(smooth.board)["H(y, p): the loss"][-1] > 0.42
    assert facts(wild.board)["H(y, p): the loss"][1:].max() > usual[1:].max() + 1


def test_the_table_adds_up_both_ways(lessons):
    lesson = lessons[loss]
    table = panel(lesson.board, "term by term, in nats").values
    assert table[:, 0] + table[:, 1] == pytest.approx(table[:, 2])
    assert table[:, :, :6].sum(axis=-1) == pytest.approx(table[:, :, 6])
    q = torch.tensor(Inputs().q, dtype=torch.float64)
    for eps in (0.0, 0.1, 0.5):
        at = frame(lesson.board, eps)
        expected = F.cross_entropy(q.log(), torch.tensor([2]), label_smoothing=eps).item()
        assert table[at, 2, 6] == pytest.approx(expected)
        assert facts(lesson.board)["perplexity, e^H"][at] == pytest.approx(math.exp(expected))
        assert facts(lesson.board)["in bits, H / ln 2"][at] == pytest.approx(expected / math.log(2))
        assert f"= **{expected:.3f}** nats" in lesson.board.notice[at]


def test_p_is_divided_by_its_sum_and_may_be_impossible():
    shown = panel(loss.lesson(Inputs(q=((1.0,) * 6,))).board, "target and model").values
    assert shown[:, 1] == pytest.approx(1 / 6)
    never = loss.lesson(replace(Inputs(), **loss.PART.tries[1].set))
    assert "the loss is **∞**" in never.board.notice[frame(never.board, 0.1)]
    assert "∞" not in never.board.notice[0]
    with pytest.raises(ValueError, match="p has -1, but no probability is below 0; write 0 or more"):
        loss.lesson(Inputs(q=((-1.0, 1.0, 1.0, 0.0, 0.0, 0.0),)))


def test_letters_are_surprising_as_the_model_says(lessons):
    lesson, lm, text = lessons[letters], load_model("shakespeare"), Inputs().text
    bars = panel(lesson.board, "surprise at each letter")
    assert "".join(bars.labels) == text[1:].replace(" ", "␣")
    ids = torch.tensor([[lm.outputs.index(letter) for letter in text]])
    with torch.no_grad():
        nats = F.cross_entropy(lm.model(ids)[0, :-1], ids[0, 1:]).item()
    assert bars.values.mean() == pytest.approx(nats / math.log(2), rel=1e-4)
    assert numbers(lesson.board.notice) == pytest.approx([nats / math.log(2), math.exp(nats)], abs=0.06)
    assert "“q”, letter 34" in lesson.board.notice
    assert text[33] == "q"
    assert panel(lesson.board, "bits per character so far").lines[1].y[0] == pytest.approx(2.432, abs=1e-3)


def test_a_perplexity_above_the_number_of_letters_is_called_worse_than_guessing():
    """Keys at random were "as hard as 9,692.9 equally likely letters", of which there are 66."""
    random = letters.lesson(Inputs(text=letters.RANDOM))
    assert facts(random.board)["perplexity, e^nats = 2^bits"] > 66
    said = "**worse than guessing** among its 66 letters, at 6.04 bits"
    assert said in random.board.notice
    assert "equally likely" not in random.board.notice
    assert "worse than guessing" not in letters.lesson(Inputs()).board.notice


def test_the_gradient_is_autograds_and_the_walk_is_shown(lessons):
    lesson = lessons[gradient]
    z = LOGITS.clone().requires_grad_()
    F.cross_entropy(z, torch.tensor(2)).backward()
    assert panel(lesson.board, "cross-entropy: p − y").values[0] == pytest.approx(z.grad.numpy())
    assert facts(lesson.board)["‖p − y‖"][0] == pytest.approx(z.grad.norm().item())
    assert facts(lesson.board)["largest difference from autograd, all steps"] < 1e-14
    state = panel(lesson.board, "probabilities now").values
    assert state[0, 1] == pytest.approx(LOGITS.softmax(dim=-1).numpy())
    for at in (0, 1, 60):
        ps = state[at, 1:, 2]
        assert numbers(lesson.board.notice[at])[:2] == pytest.approx(ps, abs=5e-4)


def test_sure_and_wrong_only_cross_entropy_learns():
    lesson = gradient.lesson(replace(Inputs(), **gradient.PART.tries[0].set))
    cross, square = (line.y for line in panel(lesson.board, "probability of the right word").lines)
    assert cross[20] > 0.9
    assert square[60] < 0.01


def test_the_schedule_peaks_where_it_is_marked(lessons):
    lesson = lessons[warmup]
    curves = panel(lesson.board, "learning rate")
    for at, steps in enumerate(lesson.board.scrub.values):
        rates = curves.lines[0].y[at]
        assert curves.x[rates.argmax()] == curves.at[at] == steps
        assert facts(lesson.board)["peak, at the last step of warm-up"][at] == pytest.approx(rates.max())
    at = frame(lesson.board, 4_000)
    assert lesson.board.notice[at].startswith("Peak: **0.699 × 10⁻³** at step **4,000**.")
    assert 1_000 / math.sqrt(512 * 4_000) == pytest.approx(0.699, abs=5e-4)
    toy_loss = panel(lesson.board, "loss of the toy, rate 0.03")
    ends = [line.y[-1] for line in toy_loss.lines]
    assert ends[0] > 0.3 > 0.05 > ends[1]
    assert f"**{ends[0]:.3f}** nats, with 15 steps at **{ends[1]:.3f}**." in lesson.board.notice[at]


def test_a_longer_warm_up_than_the_run_stands_at_its_end():
    lesson = warmup.lesson(Inputs(total=10_000))
    curves = panel(lesson.board, "learning rate")
    assert curves.at[-1] == curves.x[-1] == 10_000
    assert curves.lines[0].y[-1].argmax() == len(curves.x) - 1
    last = 1_000 * 512**-0.5 * 10_000 * 16_000**-1.5
    assert lesson.board.notice[-1].startswith(
        f"At step **10,000**, the last, the rate is **{last:.3f} × 10⁻³** and still rising."
    )
