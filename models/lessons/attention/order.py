"""Attention has no order: reorder the tokens, and the outputs come out reordered, otherwise the same.

Permutation equivariance holds for a whole encoder, since all else in it treats each position alike; adding
positions to the embeddings ends it (Vaswani et al. 2017, 3.5).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from models.config import ModelConfig
from models.engine.transformer import Transformer
from models.lessons.attention.examples import MAX_WORDS


class Comparison(NamedTuple):
    """An encoder's output for one sentence, and for the same tokens in another order."""

    original: Float[Tensor, "token d_model"]
    reordered: Float[Tensor, "token d_model"]  # in the new order
    back: Float[Tensor, "token d_model"]  # the same rows, put back into the order of `original`
    difference: Float[Tensor, "token d_model"]  # absolute
    largest: float


def order_of(words: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Which of `words` stands at each place of `wanted`; words that repeat are taken from left to right.

    Raises ValueError for no words, more than 10, and a `wanted` that is not made of the same words.
    """
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"the sentence has {len(words)} words, but may have 1 to {MAX_WORDS}; change it")
    left = list(enumerate(words))
    order = []
    for word in wanted:
        found = next((entry for entry in left if entry[1] == word), None)
        if found is None:
            raise ValueError(
                f"the new order has one {word!r} too many; use each word as often as the sentence does"
            )
        left.remove(found)
        order.append(found[0])
    if left:
        raise ValueError(f"the new order leaves out {left[0][1]!r}; use every word of the sentence")
    return order


def encoder(n_words: int, *, positions: str, seed: int) -> Transformer:
    """A small untrained encoder: 2 layers of 2 heads, 6 channels; the same weights under any `positions`."""
    config = ModelConfig(
        kind="encoder-only", n_layers=2, n_heads=2, d_model=6, vocab_size=n_words, max_len=MAX_WORDS,
        positions=positions, pad_id=None,
    )  # fmt: skip
    return Transformer(config, seed=seed).eval()


def outputs(model: Transformer, ids: Sequence[int]) -> Float[Tensor, "token d_model"]:
    """What the last layer makes of each token."""
    with torch.no_grad():
        return model.encode(torch.tensor([ids]))[0]


def compare(words: Sequence[str], order: Sequence[int], *, positions: str, seed: int = 0) -> Comparison:
    """Runs an encoder on `words`, and on `words[order[0]], words[order[1]], ...`, in float32."""
    vocabulary = list(dict.fromkeys(words))
    ids = [vocabulary.index(word) for word in words]
    model = encoder(len(vocabulary), positions=positions, seed=seed)
    original = outputs(model, ids)
    reordered = outputs(model, [ids[i] for i in order])
    back = torch.empty_like(reordered)
    back[list(order)] = reordered
    difference = (back - original).abs()
    return Comparison(original, reordered, back, difference, difference.max().item())
