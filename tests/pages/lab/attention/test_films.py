"""Films for viewers: dot products by hand, and the softmax that is attention."""

import math

import pytest
import torch
from torch.nn import functional as F

from attention_lab.pages.lab.attention import films, inputs
from tests.pages.lab.boards import panel

FILMS = torch.tensor(list(inputs.FILMS.values()), dtype=torch.float64)
VIEWERS = torch.tensor(list(inputs.VIEWERS.values()), dtype=torch.float64)


def test_it_is_attention_without_scale():
    result = films.recommend(VIEWERS, FILMS)
    expected = F.scaled_dot_product_attention(VIEWERS[None], FILMS[None], FILMS[None], scale=1.0)[0]
    torch.testing.assert_close(result["z"], expected)
    exponentials = [math.exp(x) for x in (5, -4, -1, 2)]
    assert result["pattern"][0].tolist() == pytest.approx([e / sum(exponentials) for e in exponentials])


def test_keys_serve_as_values_as_the_text_and_the_title_say():
    """“V = K”: Z is what attention gives whose values are the films' own features."""
    board = films.PART.lesson(inputs.Inputs()).board
    pattern = torch.from_numpy(panel(board, "pattern").values)
    Z = torch.from_numpy(panel(board, "Z: pattern V, with V = K").values)
    torch.testing.assert_close(Z, pattern @ FILMS)
    assert "**V = K**" in films.PART.lesson(inputs.Inputs()).see
    keys = torch.from_numpy(panel(board, "films: K").values)
    assert keys.tolist() == FILMS.tolist()


def test_the_headline_is_of_whoever_likes_nothing():
    bored = inputs.Inputs(tastes=(*list(inputs.VIEWERS.values())[:3], (0.0, 0.0, 0.0)))
    expected = "Dev likes nothing: every dot product is **0**, and each film gets **0.25** of the weight."
    assert films.PART.lesson(bored).board.notice == expected
    assert films.PART.lesson(inputs.Inputs()).board.notice.startswith("Ana should watch")
