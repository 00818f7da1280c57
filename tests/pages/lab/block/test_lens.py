"""The lens at the last level is the model; its numbers are those of scipy and of plain counting."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attention_lab.models import load_model
from attention_lab.pages.lab.block import lens
from attention_lab.pages.lab.block.inputs import HIDDEN, PROMPT, Inputs
from tests.models.zoo.hub import families
from tests.pages.lab.boards import bold, panel

TEXTS = {
    "shakespeare": "What light through yond",
    "masked": "the animal did not cross the [MASK] because it was too tired",
}


@pytest.fixture(scope="module", params=list(TEXTS))
def found(request: pytest.FixtureRequest) -> tuple[str, lens.LensReading]:
    return request.param, under_the_lens(request.param)


def under_the_lens(name: str) -> lens.LensReading:
    model = load_model(name)
    return lens.read_levels(model, model.read(TEXTS[name]))


def test_a_level_is_the_answer_of_a_model_cut_off_there(found: tuple[str, lens.LensReading]):
    """Independently: the same weights with its upper layers, at first none, taken away."""
    name, read = found
    model = load_model(name)
    stack = model.model.encoder or model.model.decoder
    assert read.logits.shape == (model.config.n_layers + 1, len(read.tokens), len(read.words))
    for n in range(model.config.n_layers + 1):
        stack.layers = stack.layers[: model.config.n_layers - n]
        with torch.no_grad():
            logits = model.model(*model.read(TEXTS[name]).inputs)[0]
        torch.testing.assert_close(read.logits[-1 - n], logits, rtol=1e-4, atol=1e-5 if n == 0 else 1e-4)


@torch.no_grad()
@pytest.mark.parametrize("family", ["gpt-neo", "llama", "bert"])
def test_a_model_of_transformers_is_read_by_its_own_norm_and_head(saved: Path, family: str):
    """Independently: its hidden states through its own modules."""
    model = load_model(f"hf:{saved / family}")
    reading = model.read(families.TEXT)
    read = lens.read_levels(model, reading)
    states = model.net(*reading.inputs, output_hidden_states=True).hidden_states
    heads = {
        "gpt-neo": lambda x: model.net.lm_head(model.net.transformer.ln_f(x)),
        "llama": lambda x: model.net.lm_head(model.net.model.norm(x)),
        "bert": lambda x: model.net.cls(x),
    }
    for level in range(2):  # transformers' last hidden state is normalised already
        torch.testing.assert_close(read.logits[level], heads[family](states[level])[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(read.logits[2], model.net(*reading.inputs).logits[0], atol=1e-5, rtol=1e-5)
    assert read.d_model == 32 and read.tokens == next(iter(reading.tokens.values()))


def test_a_model_without_an_answer_at_each_position_is_refused():
    model = load_model("digits-classifier")
    with pytest.raises(ValueError, match="does not answer at each position"):
        lens.read_levels(model, model.read("1"))


def test_measures_against_plain_counting(found: tuple[str, lens.LensReading]):
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
    read = under_the_lens("shakespeare")
    said = [read.words[word] for word in lens.answers(read.logits)[0].tolist()]
    assert said == read.tokens
    loss = lens.divergence(read.logits).mean(dim=1)
    assert (loss[1:] < loss[:-1]).all() and loss[1] - loss[2] > 3 * (loss[2] - loss[3])


@pytest.mark.parametrize(("reader", "text"), [("shakespeare", PROMPT), ("masked", HIDDEN)])
def test_the_last_row_is_the_models_own_answer(reader: str, text: str):
    board, model = lens.lesson(Inputs(reader=reader)).board, load_model(reader)
    with torch.no_grad():
        p = model.model(*model.read(text).inputs)[0].softmax(-1)
    cells = panel(board, "the likeliest")
    assert np.allclose(cells.values[-1], p.max(-1).values, atol=1e-5)
    words = [model.outputs[word].replace(" ", "␣") for word in p.argmax(-1).tolist()]
    assert list(cells.texts[-1]) == words
    assert np.allclose(panel(board, "probability").values[:, -1], p.max(-1).values, atol=1e-5)
    entropy = -(p * p.log()).sum(-1)
    assert np.allclose(panel(board, "entropy").values[:, -1], entropy, atol=1e-4)
    assert (panel(board, "its rank").values[:, -1] == 1).all()
    assert np.allclose(panel(board, "KL").values[:, -1], 0, atol=1e-6)


def test_each_frame_marks_its_position():
    board = lens.lesson(Inputs()).board
    marked = panel(board, "the likeliest").marked
    assert all((marked[at].all(axis=0) == (np.arange(23) == at)).all() for at in range(23))
    assert len(board.notice) == len(board.scrub.values) == 23


def test_notices_follow_the_cells():
    board = lens.lesson(Inputs()).board
    cells = panel(board, "the likeliest")
    for at, notice in enumerate(board.notice):
        column = [row[at] for row in cells.texts]
        assert f"final answer “{column[-1]}”" in notice in notice
        since = max((n + 1 for n, word in enumerate(column) if word != column[-1]), default=0)
        lead = f"from **{f'layer {since}' if since else 'the embedding'}** on"
        is_last = since == len(column) - 1
        assert ("leads only after the last, **layer 4**" if is_last else lead) in notice
        assert bold(notice) == [pytest.approx(cells.values[-1, at], abs=0.0051)]


def test_a_mask_is_answered_by_a_word():
    notice = lens.lesson(Inputs(reader="masked")).board.notice[7]
    assert notice.startswith("At “[MASK]” the final answer “road”")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"prompt": "  "}, "The text is empty; type at least one word."),
        ({"prompt": "a" * 30}, "reads this as 30 tokens; 24 have room here; shorten the text."),
        ({"prompt": "a" * 80}, "64"),
    ],
)
def test_impossible_texts(fields, problem: str):
    with pytest.raises(ValueError, match=problem):
        lens.lesson(Inputs(**fields))
