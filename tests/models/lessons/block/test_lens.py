"""The lens at the last level is the model; its numbers are those of scipy and of plain counting."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from models import load_model
from models.lessons.block import lens

TEXTS = {
    "shakespeare": "What light through yond",
    "masked": "the animal did not cross the [MASK] because it was too tired",
}


@pytest.fixture(scope="module", params=list(TEXTS))
def found(request: pytest.FixtureRequest) -> tuple[str, lens.Read]:
    return request.param, lens.read(load_model(request.param), TEXTS[request.param])


def test_the_last_level_is_the_models_own_answer(found: tuple[str, lens.Read]):
    name, read = found
    model = load_model(name)
    with torch.no_grad():
        logits = model.model(*model.read(TEXTS[name]).inputs)[0]
    torch.testing.assert_close(read.logits[-1], logits, rtol=1e-5, atol=1e-5)
    assert read.logits.shape == (model.config.n_layers + 1, len(read.tokens), len(read.words))


def test_a_level_is_the_answer_of_a_model_cut_off_there(found: tuple[str, lens.Read]):
    """Independently: the same weights with its upper layers taken away."""
    name, read = found
    model = load_model(name)
    stack = model.model.encoder or model.model.decoder
    for n in range(model.config.n_layers):
        stack.layers = stack.layers[: model.config.n_layers - 1 - n]
        with torch.no_grad():
            logits = model.model(*model.read(TEXTS[name]).inputs)[0]
        torch.testing.assert_close(read.logits[-2 - n], logits, rtol=1e-4, atol=1e-4)


def test_measures_against_plain_counting(found: tuple[str, lens.Read]):
    _, read = found
    logits = read.logits.double()
    p = F.softmax(logits, dim=-1).numpy()
    best = lens.answers(logits)
    final = best[-1]
    for level in range(len(p)):
        for at in (0, 5, 9):
            q, row = p[-1, at], p[level, at]
            assert lens.entropy(logits)[level, at].item() == pytest.approx(-sum(x * math.log(x) for x in row))
            kl = sum(a * math.log(a / b) for a, b in zip(q, row, strict=True))
            assert lens.divergence(logits)[level, at].item() == pytest.approx(kl, abs=1e-9)
            word = int(final[at])
            assert lens.rank_of(logits, final)[level, at] == 1 + sum(x > row[word] for x in row)
            assert lens.probability_of(logits, final)[level, at].item() == pytest.approx(row[word])
    assert np.array_equal(best, p.argmax(-1))
    assert (lens.divergence(logits)[-1] == 0).all() and (lens.rank_of(logits, final)[-1] == 1).all()


def test_settled_is_the_first_level_from_which_on_nothing_changes():
    answers = torch.tensor([[1, 2, 0, 2], [0, 2, 1, 1], [1, 2, 1, 0]])  # [level, position]
    logits = F.one_hot(answers, 3).float()
    assert lens.settled(logits).tolist() == [2, 0, 1, 2]


def test_what_the_page_says_of_these_models():
    """Tied embeddings say the letter itself; each layer of the letter model comes nearer to the end."""
    read = lens.read(load_model("shakespeare"), TEXTS["shakespeare"])
    said = [read.words[word] for word in lens.answers(read.logits)[0].tolist()]
    assert said == read.tokens
    loss = lens.divergence(read.logits).mean(dim=1)
    assert (loss[1:] < loss[:-1]).all() and loss[1] - loss[2] > 3 * (loss[2] - loss[3])
