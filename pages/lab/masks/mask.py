"""Scores + mask = masked scores, then softmax: the talks' opening example, and any other."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.models.engine import masks
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.masks import cost
from attention_lab.pages.lab.masks.inputs import (
    PAINT,
    TALK,
    WORDS,
    Inputs,
    allowed_of,
    mask_matrix,
    names,
    of_mask,
    on_explore,
    painted,
)
from attention_lab.viz_core.boards import Matrix, Panel, Sign


class Masked(NamedTuple):
    """The four matrices of the equation, and what is made of its result where a row has nothing to see."""

    added: Float[Tensor, "*frame query key"]
    masked: Float[Tensor, "*frame query key"]
    softmax: Float[Tensor, "*frame query key"]
    """0 / 0 = NaN in the rows that see nothing."""
    pattern: Float[Tensor, "*frame query key"]
    """The same with zeros there, as the engine has it."""


class Telling(NamedTuple):
    """One row in which the mask can be seen at work."""

    query: int
    key: int
    visible: int
    """How many keys the query sees."""
    without: float
    """The weight of this key if nothing were hidden; `weight` is what it has now."""
    weight: float


def scores_of(n: int, table: Sequence[Sequence[float]] = TALK) -> Float[Tensor, "n n"]:
    """The given table as n x n scores: cut, or continued as the talks' table might be."""
    scores = torch.full((n, n), 0.1, dtype=torch.float64).fill_diagonal_(0.6)
    known = torch.tensor(table, dtype=torch.float64)[:n, :n]
    scores[: known.shape[0], : known.shape[1]] = known
    return scores


def masked_softmax(scores: Float[Tensor, "*frame query key"], allowed: Bool[Tensor, "query key"]) -> Masked:
    """softmax(scores + mask): the mask is 0 where a query may attend and -inf elsewhere.

    Vaswani et al. 2017, 3.2.3. exp(-inf) = 0: what is masked gets no weight, and the others share 1.
    """
    added = torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)  # [query, key]
    masked = scores + added
    softmax = masked.softmax(dim=-1)
    sees_something = allowed.any(dim=-1, keepdim=True)  # [query, 1]
    return Masked(added, masked, softmax, softmax.where(sees_something, 0.0))


def telling(scores: Float[Tensor, "query key"], allowed: Bool[Tensor, "query key"]) -> Telling | None:
    """The query that has most hidden from it and still a choice, and the key that it prefers; or None."""
    visible = allowed.sum(dim=-1)
    hides = (visible > 0) & (visible < allowed.shape[1])
    if not bool(hides.any()):
        return None
    candidates = hides & (visible > 1) if bool((hides & (visible > 1)).any()) else hides
    query = int(visible.masked_fill(~candidates, allowed.shape[1]).argmin())
    pattern = masked_softmax(scores, allowed).pattern
    key = int(pattern[query].argmax())
    without = scores[query].softmax(dim=-1)[key].item()
    return Telling(query, key, int(visible[query]), without, pattern[query, key].item())


def lesson(inputs: Inputs) -> Lesson:
    n = inputs.n
    scores = scores_of(n, inputs.scores)
    allowed = allowed_of(inputs.mask, inputs.argument, n)
    masked = masked_softmax(scores, allowed)
    sees, n_pairs = allowed.any(dim=-1).tolist(), cost.count_pairs(allowed)
    axes = names(n)
    bare = axes | {"rows": ()}  # the words of the rows are beside the first matrix of a line
    weights: list[Panel] = [
        Matrix(values=masked.masked.numpy(), title="masked scores", **axes),
        Sign("softmax →"),
        Matrix(values=masked.pattern.numpy(), title="weights", scale="weights", **axes),
    ]
    if not all(sees):
        formula = Matrix(values=masked.softmax.numpy(), title="by the formula", scale="weights", **bare)
        weights += [Sign("instead of"), formula]
    return Lesson(
        rows=[
            [
                Matrix(values=scores.numpy(), title="scores", edit="scores", **axes),
                Sign("+"),
                mask_matrix(allowed.numpy(), edit="mask", **axes),
                Sign("="),
            ],
            weights,
        ],
        notice=_notice(n, n_pairs, sees, telling(scores, allowed)),
        sizes=rf"n = {n},\; {n_pairs} \text{{ of }} {n * n} \text{{ pairs kept}}",
        axes={"query": n, "key": n},
        code=[masked_softmax, *([masks.painted] if painted(inputs.mask) else masks.code_of(inputs.mask))],
    )


def _notice(n: int, n_pairs: int, sees: list[bool], example: Telling | None) -> str:
    if not all(sees):
        blind = WORDS[sees.index(False)]
        return (
            f"“{blind}” may look at nothing: 0 / 0 is **NaN**. The engine gives such a row weights of **0**."
        )
    if example is None:
        return f"All **{n_pairs}** pairs are kept."
    query, key = WORDS[example.query], WORDS[example.key]
    count = f"**{n_pairs} of {n * n}** pairs are left."
    if example.visible == 1:
        return (
            f"{count} “{query}” sees only “{key}” and gives it **{example.weight:.2f}**, unmasked "
            f"{example.without:.2f}."
        )
    return (
        f"{count} “{query}” shares its weight among {example.visible} words: “{key}” gets "
        f"**{example.weight:.2f}**, unmasked {example.without:.2f}."
    )


def questions() -> tuple[Answer, ...]:
    n, causal = 4, masks.causal(4, 4)[0, 0]
    scores = scores_of(n)
    raised = scores.clone()
    raised[1, 3] += 10  # of a key that the query may not see
    pattern, moved = (masked_softmax(table, causal).pattern for table in (scores, raised))
    own, alone = scores[0].softmax(dim=-1)[0].item(), pattern[0, 0].item()
    counts = ("17", "28", "49")
    documents = cost.count_pairs(masks.named("packed", "2.3.2", 7)[0, 0])
    start, reader, last = WORDS[0], WORDS[1], WORDS[3]
    return (
        Answer.of(2 if alone == 1 else 0, start=start, own=own, score=scores[0, 0].item(), alone=alone),
        Answer.of(counts.index(str(documents)), options=counts, documents=documents),
        Answer.of(int(bool((moved == pattern).all())), reader=reader, last=last, weight=moved[1, 3].item()),
    )


TYPED = Note("Type other scores into their cells.")
CONTROLS = (of_mask("mask", "argument"), "n", on_explore("mask", "argument", "n"), TYPED, PAINT)
PART = part(__name__, CONTROLS, lesson, questions, also=("scores",))
