"""What training optimises, in Chromium: what is on the screen is what PyTorch computes."""

import math
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Page, expect
from torch.nn import functional as F

from attention_lab.pages.lab.objective.toy import Setup, train
from tests.browser.board import BoardPage
from tests.browser.explore_page import read_number

Q = torch.tensor([0.01, 0.02, 0.93, 0.01, 0.02, 0.01], dtype=torch.float64)


@pytest.fixture
def lab(page: Page) -> BoardPage:
    return BoardPage(page, "objective")


# Resolves once a figure's picture has followed its numbers.
ARRIVED = """
(figure) => new Promise((done) => {
  const follows = ({ y }, at) => `${y}` === `${figure.data[at].y}`;
  const look = () => (figure._fullData.every(follows) ? done() : requestAnimationFrame(look));
  look();
})
"""


def fact(lab: BoardPage, label: str) -> float:
    return read_number(lab.facts()[label].split()[0])


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
    assert "0.421 at best" in lab.notice
    assert lab.link() == {"seed": "6", "smoothing": "0.1"}
    lab.board.get_by_role("button", name="Step back").click()  # its numbers are there at once
    assert 0 < lab.board.evaluate("(board) => parseInt(board.style.getPropertyValue('--lasts'))") <= 600
    for figure in lab.board.locator(".plot").all():
        figure.evaluate(ARRIVED)


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
