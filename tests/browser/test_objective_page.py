"""What training optimises, in Chromium: what is on the screen is what PyTorch computes."""

import math
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Page, expect
from torch.nn import functional as F

from models import load_model
from pages.lab.objective import toy
from pages.lab.objective.toy import Setup, train
from tests.browser.board import BoardPage
from tests.browser.explore_page import read_number

Q = torch.tensor([0.01, 0.02, 0.93, 0.01, 0.02, 0.01], dtype=torch.float64)


@pytest.fixture
def lab(page: Page) -> BoardPage:
    return BoardPage(page, "objective")


def fact(lab: BoardPage, label: str) -> float:
    return read_number(lab.facts()[label].split()[0])


def test_the_toy_is_trained_and_its_steps_are_shown_without_the_server(lab: BoardPage):
    lab.open()
    run = train(Setup())
    expect(lab.page.get_by_test_id("stMain")).to_contain_text("trained on this server when first asked")
    with lab.quiet():
        for frame in (20, 5, 0):
            lab.scrub(frame)
            shown = torch.tensor([[float(cell.replace("≈", "")) for cell in row] for row in cells(lab)])
            torch.testing.assert_close(shown, run.probabilities[frame], atol=6e-3, rtol=0)
            assert fact(lab, "H(y, p): the loss") == pytest.approx(run.loss[frame].item(), abs=6e-4)
    assert lab.cells("before training") == cells(lab)
    columns = lab.panel("targets y").locator("th[scope=col]").all_inner_texts()
    assert tuple(columns) == toy.WORDS
    assert lab.link() == {"step": "0"}


def cells(lab: BoardPage) -> list[list[str]]:
    return lab.cells("model p, now")


def test_another_seed_and_smoothing_train_anew_and_play(new_page: Callable[..., Page]):
    lab = BoardPage(new_page(reduced_motion="no-preference"), "objective").open(seed=5, step=0)
    lab.attempt("smooth the labels, ε = 0.1")  # a preset stands at its punchline, the last step, at once
    expect(lab.board).to_have_attribute("data-frame", "20")
    expect(lab.board.get_by_role("button", name="Play")).to_be_visible()
    seed = lab.page.get_by_role("spinbutton", name="Seed of the weights")
    seed.fill("6")
    seed.press("Enter")  # what a person changes is played
    expect(lab.board.get_by_role("button", name="Pause")).to_be_visible()
    expect(lab.board).to_have_attribute("data-frame", "20")
    expect(lab.board.get_by_role("button", name="Play")).to_be_visible()
    run = train(Setup(smoothing=0.1, seed=6))
    assert fact(lab, "H(y, p): the loss") == pytest.approx(run.loss[-1].item(), abs=6e-4)
    assert "cannot fall below 0.421" in lab.notice
    assert lab.link() == {"seed": "6", "smoothing": "0.1"}


def test_q_is_written_and_its_loss_is_pytorchs_and_no_distribution_is_refused(lab: BoardPage):
    lab.open(part="loss")
    with lab.redrawn():
        lab.edit("the model's p, to type into", 0, 3, "1")
    lab.settle()
    q = Q.clone()
    q[3] = 1
    expected = F.cross_entropy(q.log(), torch.tensor(2), label_smoothing=0.1).item()
    assert fact(lab, "cross-entropy H(y, p)") == pytest.approx(expected, abs=6e-4)
    assert lab.numbers("term by term, in nats")[2][-1] == pytest.approx(expected, abs=6e-4)
    with lab.quiet():
        lab.scrub(0)
    expected = F.cross_entropy(q.log(), torch.tensor(2)).item()
    assert fact(lab, "perplexity, e^H") == pytest.approx(math.exp(expected), abs=6e-3)

    before = lab.notice
    lab.edit("the model's p, to type into", 0, 1, "-1")
    expect(lab.problem).to_contain_text("p has -1, but no probability is below 0; write 0 or more")
    assert lab.notice == before
    lab.edit("the model's p, to type into", 0, 1, "much")
    expect(lab.problem).to_contain_text("'much' is not a number")


def test_bits_of_a_text_that_is_typed(lab: BoardPage):
    lab.open(part="letters")
    text = "Good morrow"
    field = lab.page.get_by_label("Text", exact=True)
    with lab.redrawn():
        field.fill(text)
        field.press("Enter")
    lab.settle()
    lm = load_model("shakespeare")
    ids = torch.tensor([[lm.outputs.index(letter) for letter in text]])
    with torch.no_grad():
        nats = F.cross_entropy(lm.model(ids)[0, :-1], ids[0, 1:]).item()
    assert fact(lab, "divided by ln 2") == pytest.approx(nats / math.log(2), abs=2e-3)
    field.fill("x")
    field.press("Enter")
    expect(lab.problem).to_contain_text("the text has no letter after its first token; write a few words")


def test_the_gradient_of_logits_that_are_written_is_autograds(lab: BoardPage):
    lab.open(part="gradient")
    with lab.redrawn():
        lab.edit("logits z at the start, to type into", 0, 2, "3")
    lab.settle()
    z = torch.tensor([0.5, 2, 3, -0.5, 1, 0], requires_grad=True)
    F.cross_entropy(z, torch.tensor(2)).backward()
    bars = [read_number(bar.replace("≈", "")) for bar in lab.bars("cross-entropy: p − y")]
    assert bars == pytest.approx(z.grad.tolist(), abs=6e-3)
    lab.attempt("20 steps later")
    by_cross_entropy, by_squared_error = (row[2] for row in lab.numbers("probabilities now")[1:])
    assert by_cross_entropy > 0.9 > 0.01 > by_squared_error


def test_the_papers_peak(lab: BoardPage):
    lab.open(part="warmup")
    assert fact(lab, "peak, at the last step of warm-up") == pytest.approx(
        1e3 / math.sqrt(512 * 4_000), abs=6e-4
    )
    lab.attempt("1,000 steps of warm-up")
    assert fact(lab, "peak, at the last step of warm-up") == pytest.approx(
        1e3 / math.sqrt(512 * 1_000), abs=6e-4
    )
    lab.attempt("pre-norm: is it needed?")
    assert lab.link() == {"part": "warmup", "norm": "pre"}
