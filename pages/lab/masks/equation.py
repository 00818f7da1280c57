"""Part 1: scores + mask = masked scores, then softmax."""

from collections.abc import Callable
from typing import Any

import numpy as np

from models.engine import masks
from models.lessons.masks import cost, equation
from models.lessons.masks.choice import allowed_of
from models.lessons.masks.equation import Masked, Telling
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.masks import choice
from pages.lab.masks.inputs import WORDS, Inputs, painted
from viz_core.boards import Board, Matrix, Sign

TRIES = (
    Try("three packed documents", {"mask": "packed", "argument": "2.3.2", "n": 7}),
    Try("a sliding window", {"mask": "window", "argument": "2", "n": 7}),
    Try("a row that sees nothing", {"mask": "1000;0000;1110;1111", "argument": "", "n": 4}),
)


def lesson(inputs: Inputs) -> Lesson:
    n = inputs.n
    scores = equation.scores_of(n, inputs.scores)
    allowed = allowed_of(inputs.mask, inputs.argument, n)
    masked = equation.masked_softmax(scores, allowed)
    told = equation.telling(scores, allowed)
    return Lesson(
        see="A score says how well a key (column) answers a query (row). The mask adds **0** where a query "
        "may look and **−∞** where it may not; softmax turns −∞ into weight 0. Type other scores; click or "
        "drag over cells of the mask to paint your own.",
        board=Board(
            rows=_rows(scores.numpy(), allowed.numpy(), masked),
            notice=_notice(n, cost.kept(allowed), allowed.any(dim=-1).tolist(), told),
        ),
        formula=r"A = \operatorname{softmax}\!\left(\frac{\q{Q}\k{K}^\top}{\sqrt{d_k}} + M\right) \qquad "
        r"M_{ij} = \begin{cases} 0 & \q{i} \text{ may look at } \k{j} \\ -\infty & \text{else} \end{cases}",
        sizes=rf"n = {n},\; {cost.kept(allowed)} \text{{ of }} {n * n} \text{{ pairs kept}}",
        shapes=[
            Shape(name, "query key", (n, n)) for name in (r"\text{scores}", "M", r"\text{masked scores}", "A")
        ],
        code=[equation.masked_softmax, *_sources(inputs.mask)],
    )


def _rows(scores: np.ndarray, allowed: np.ndarray, masked: Masked) -> list[list[Any]]:
    axes = choice.names(len(scores))
    bare = {**axes, "rows": ()}  # the words of the rows are beside the first matrix
    first = [
        Matrix(values=scores, title="scores", edit="scores", **axes),
        Sign(text="+"),
        choice.mask_matrix(allowed, edit="mask", **bare),
        Sign(text="="),
        Matrix(values=masked.masked.numpy(), title="masked scores", **bare),
    ]
    weights = Matrix(values=masked.pattern.numpy(), title="weights", scale="weights", **axes)
    if allowed.any(axis=-1).all():
        return [first, [Sign(text="softmax →"), weights]]
    formula = Matrix(values=masked.softmax.numpy(), title="by the formula", scale="weights", **bare)
    return [first, [Sign(text="softmax →"), weights, Sign(text="instead of"), formula]]


def _notice(n: int, kept: int, sees: list[bool], told: Telling | None) -> str:
    if not all(sees):
        blind = WORDS[sees.index(False)]
        return (
            f"“{blind}” may look at nothing: every exponential is exp(−∞) = 0, and 0 / 0 is **NaN**. The "
            "engine gives such a row weights of **0** instead, so that the model goes on."
        )
    if told is None:
        return f"All **{kept}** pairs are kept: every word looks at every word, and the mask adds nothing."
    query, key = WORDS[told.query], WORDS[told.key]
    left = f"**{kept} of {n * n}** pairs are left."
    if told.visible == 1:
        return (
            f"{left} “{query}” may look at “{key}” alone and gives it all its weight, "
            f"**{told.weight:.2f}**; without the mask {told.without:.2f}."
        )
    return (
        f"{left} “{query}” shares its weight of 1 among {told.visible} words: “{key}” gets "
        f"**{told.weight:.2f}**, without the mask {told.without:.2f}."
    )


def _sources(mask: str) -> list[Callable[..., Any]]:
    """The functions that made the mask."""
    made_by = {
        "causal": masks.causal, "padding": masks.padding, "window": masks.sliding_window,
        "strided": masks.strided, "fixed": masks.fixed, "prefix": masks.prefix, "packed": masks.packed,
        "memory": masks.memory, "edges": masks.edges,
    }  # fmt: skip
    if painted(mask):
        return [masks.painted]
    return [made_by[kind] for kind in mask.split("+") if kind in made_by]


def questions() -> tuple[Question, ...]:
    n, causal = 4, masks.causal(4, 4)[0, 0]
    scores = equation.scores_of(n)
    raised = scores.clone()
    raised[1, 3] += 10  # of a key that the query may not see
    pattern, moved = (equation.masked_softmax(table, causal).pattern for table in (scores, raised))
    own, alone = scores[0].softmax(dim=-1)[0].item(), pattern[0, 0].item()
    counts = ("17", "28", "49")
    documents = cost.kept(masks.named("packed", "2.3.2", 7)[0, 0])
    start, reader, last = WORDS[0], WORDS[1], WORDS[3]
    return (
        Question(
            f"Without a mask “{start}” gives itself {own:.2f}. Under the causal mask it sees only itself "
            "and gets …",
            (f"{own:.2f}", f"{scores[0, 0].item():.2f}, its score", "1.00"),
            2 if alone == 1 else 0,
            f"The weights of a row sum to 1, so the only key left gets **{alone:.2f}**, whatever its score.",
        ),
        Question(
            "Seven words are packed documents of 2, 3 and 2 words. Of 49 pairs the mask keeps …",
            counts,
            counts.index(str(documents)),
            f"2 × 2 + 3 × 3 + 2 × 2 = **{documents}**: blocks along the diagonal.",
        ),
        Question(
            f"Under the causal mask, the score of “{reader}” for “{last}” grows by 10. Its weights …",
            ("move towards it", "do not change"),
            int(bool((moved == pattern).all())),
            f"10 − ∞ is still −∞: “{last}” keeps weight **{moved[1, 3].item():.2f}**, and no other weight "
            "moves.",
        ),
    )


PART = Part(
    "mask", "Mask",
    (choice.of_mask("mask", "argument"), "n", choice.on_explore("mask", "argument", "n"), choice.PAINT),
    lesson, TRIES, questions, also=("scores",),
)  # fmt: skip
