"""Padding in cross-attention: a mask that is a rectangle, and what the padding would do without it."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.models.engine import masks
from attention_lab.pages.lab.lesson import Answer, Lesson, Set, part
from attention_lab.pages.lab.masks import mask
from attention_lab.pages.lab.masks.inputs import AXES, Inputs, link_to_explore, mask_matrix
from attention_lab.pages.lab.masks.mask import Masked, masked_softmax
from attention_lab.viz_core.boards import Fact, Facts, Matrix, Sign, query_by_key
from attention_lab.viz_core.labels import short

D_K = 8


class Padded(NamedTuple):
    """Cross-attention to a source that has been filled up with padding."""

    scores: Float[Tensor, "query key"]
    allowed: Bool[Tensor, "query key"]
    unmasked: Float[Tensor, "query key"]
    """The weights when padding is a word like any other."""
    hidden: Masked
    alone: Float[Tensor, "query word"]
    """The weights over the words when there is no padding at all."""
    wasted: Float[Tensor, " query"]
    """What each query gives to padding that nobody hides."""

    @property
    def change(self) -> float:
        """The largest difference that hidden padding makes to a weight over the words."""
        words = self.hidden.pattern[:, : self.alone.shape[1]]
        return (words - self.alone).abs().max().item()


def cross_attention(n_queries: int, n_words: int, n_padding: int, *, seed: int = 0) -> Padded:
    """Random queries and keys (standard normal, from `seed`); the last `n_padding` keys are padding."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(n_queries, D_K, generator=generator, dtype=torch.float64)
    words = torch.randn(n_words, D_K, generator=generator, dtype=torch.float64)
    pad = torch.randn(1, D_K, generator=generator, dtype=torch.float64)  # one token, so one key
    k = torch.cat([words, pad.expand(n_padding, -1)])
    scores = q @ k.mT / D_K**0.5  # [query, key]
    ids = torch.tensor([[1] * n_words + [0] * n_padding])
    allowed = masks.padding(ids, 0)[0, 0].expand(n_queries, -1)  # one row for all queries
    unmasked = scores.softmax(dim=-1)
    return Padded(
        scores,
        allowed,
        unmasked,
        masked_softmax(scores, allowed),
        scores[:, :n_words].softmax(dim=-1),
        unmasked[:, n_words:].sum(dim=-1),
    )


SOURCE = ("I", "am", "fine", "<eos>")
TARGET = ("<bos>", "je", "vais", "bien")


def lesson(inputs: Inputs) -> Lesson:
    padded = cross_attention(len(TARGET), len(SOURCE), inputs.padding, seed=inputs.seed)
    keys, wasted = (*SOURCE, *["<pad>"] * inputs.padding), padded.wasted.mean()
    named = query_by_key(TARGET, keys)
    return Lesson(
        rows=[
            [
                Matrix(values=padded.scores.numpy(), title="scores", **named),
                Sign("+"),
                mask_matrix(padded.allowed.numpy(), columns=keys, **AXES),
            ],
            [
                Sign("softmax →"),
                Matrix(
                    values=padded.hidden.pattern.numpy(), title="padding hidden", scale="weights", **named
                ),
                Sign("instead of"),
                Matrix(
                    values=padded.unmasked.numpy(), title="padding seen", scale="weights", **named
                ),
            ],
            [
                Matrix(
                    values=padded.alone.numpy(), title="no padding at all", scale="weights",
                    **query_by_key(TARGET, SOURCE),
                ),
                Facts.of(
                    Fact("<pad> takes, if seen", wasted.numpy(), unit="of the weights"),
                    Fact("hidden <pad> changes a weight by", np.array(padded.change)),
                ),
            ],
        ],
        notice=f"Visible, {inputs.padding} <pad> would take **{wasted:.0%}** of the weights. Hidden, they "
        f"change these by **{short(padded.change)}**."
        if inputs.padding
        else "Nothing is padded. Add some <pad>.",
        sizes=rf"{len(TARGET)} \text{{ queries}},\; {len(keys)} \text{{ keys}},\; d_k = {D_K}",
        axes={"query": len(TARGET), "key": len(keys), "channel": D_K},
        code=[cross_attention, masks.padding, mask.masked_softmax],
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    one, six = (cross_attention(len(TARGET), len(SOURCE), n) for n in (1, 6))
    before, after = one.wasted.mean().item(), six.wasted.mean().item()
    rows_alike = bool((six.allowed == six.allowed[:1]).all())
    return (
        Answer.of(1 if six.change < 1e-12 else 0, six=six),
        Answer.of(1 if before < after < 6 * before else 0, before=before, after=after),
        Answer.of(int(rows_alike)),
    )


CONTROLS = (
    "padding",
    Set("seed", {"help": "Other queries and keys"}),
    link_to_explore(
        "Padding on Explore",
        "The translator reads three <pad>, and they change nothing",
        lambda _: {"view": "head", "stack": "decoder.cross", "padding": 3},
    ),
)
PART = part(__name__, CONTROLS, lesson, questions)
