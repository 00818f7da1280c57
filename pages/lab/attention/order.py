"""Attention has no order: reorder the tokens, and the outputs come out reordered, otherwise the same.

Permutation equivariance holds for a whole encoder, since all else in it treats each position alike; adding
positions to the embeddings ends it (Vaswani et al. 2017, 3.5).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine.transformer import Transformer
from attention_lab.pages.lab.attention.inputs import MAX_WORDS, REORDERED, SENTENCE, Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, Set, part
from attention_lab.pages.shared.phrases import distinct
from attention_lab.pages.shared.state import State
from attention_lab.viz_core.boards import Matrix, Panel
from attention_lab.viz_core.labels import short


class Comparison(NamedTuple):
    """An encoder's output for one sentence, and for the same tokens in another order."""

    original: Float[Tensor, "token d_model"]
    reordered: Float[Tensor, "token d_model"]  # in the new order
    back: Float[Tensor, "token d_model"]  # the same rows, put back into the order of `original`
    difference: Float[Tensor, "token d_model"]  # absolute
    largest: float


def order_of(words: Sequence[str], new_order: Sequence[str]) -> list[int]:
    """Which of `words` stands at each place of `new_order`; words that repeat are taken from left to right.

    Raises ValueError for no words, more than 10, and a `new_order` that is not made of the same words.
    """
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"the sentence has {len(words)} words, but may have 1 to {MAX_WORDS}; change it")
    rest = list(enumerate(words))
    order = []
    for word in new_order:
        place = next((entry for entry in rest if entry[1] == word), None)
        if place is None:
            raise ValueError(f"the new order uses {word!r} too often; use each word as often as the sentence")
        rest.remove(place)
        order.append(place[0])
    if rest:
        raise ValueError(f"the new order leaves out {rest[0][1]!r}; use every word of the sentence")
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


def lesson(inputs: Inputs) -> Lesson:
    words = inputs.sentence.split()
    new = order_of(words, inputs.reordered.split())
    plain, placed = (
        compare(words, new, positions=positions, seed=inputs.order_seed)
        for positions in ("none", "sinusoidal")
    )
    n_words, d_model = plain.original.shape
    return Lesson(
        rows=[_row("no positions", words, new, plain), _row("with positions", words, new, placed)],
        notice="The order is the same, and so is every output."
        if new == sorted(new)
        else f"Without positions the outputs only change places: they differ by **{short(plain.largest)}**. "
        f"With positions: by up to **{placed.largest:.2f}**.",
        sizes=rf"n = {n_words} \text{{ words}},\; d_\text{{model}} = {d_model}",
        axes={"token": n_words, "channel": d_model, "place": n_words},
        code=[compare, encoder, outputs],
    )


def _row(label: str, words: Sequence[str], new: Sequence[int], comparison: Comparison) -> list[Panel]:
    """Outputs in both orders, and how far each word's output moved."""
    reach, names = float(comparison.original.abs().max()), distinct(words)
    moved = comparison.difference.amax(dim=1, keepdim=True)
    return [
        Matrix(
            title=f"outputs, {label}", values=comparison.original.numpy(), reach=reach,
            rows=names, row_axis="token", column_axis="channel",
        ),
        Matrix(
            title="reordered", values=comparison.reordered.numpy(), reach=reach,
            rows=[names[at] for at in new], row_axis="place", column_axis="channel",
        ),
        Matrix(
            title=f"difference, {label}", values=moved.numpy(), reach=reach, rows=names, row_axis="token"
        ),
    ]  # fmt: skip


def _backwards(state: State) -> None:
    """A new sentence needs a new order: its own words backwards."""
    state.put({"reordered": " ".join(reversed(state.kept["sentence"].split()))})


def questions() -> tuple[Answer, ...]:
    words = SENTENCE.split()
    swapped = order_of(words, REORDERED.split())
    plain, placed = (compare(words, swapped, positions=positions) for positions in ("none", "sinusoidal"))
    bites = words.index("bites")
    still = [bool(comparison.difference[bites].max() < 1e-5) for comparison in (plain, placed)]
    twins = float((plain.original[0] - plain.original[3]).abs().max())
    return (
        Answer.of(int(still[0]), without=plain.difference[bites].max()),
        Answer.of(int(still[1]), placed=placed.difference[bites].max()),
        Answer.of(0 if twins < 1e-5 else 1, twins=twins),
    )


PART = part(__name__, (Set("sentence", then=_backwards), "reordered", "order_seed"), lesson, questions)
