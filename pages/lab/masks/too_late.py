"""Part 4: the mask after the softmax, and what that does wrong."""

from typing import Any

import numpy as np
import torch

from models.engine import masks
from models.lessons.masks import equation, too_late
from models.lessons.masks.choice import allowed_of
from models.lessons.masks.too_late import TooLate
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.masks import choice
from pages.lab.masks.inputs import TALK, WORDS, Inputs
from viz_core.boards import Board, Curves, Line, Matrix, Scrub, Sign
from viz_core.labels import short

HIDDEN = np.array([*np.arange(0.1, 10.1, 0.3), *np.arange(15, 121, 5)], dtype=np.float32)
TALKS = {"mask": "causal", "argument": "", "n": 4, "scores": TALK, "query": 1}
TRIES = (
    Try("hidden score 4", {**TALKS, "hidden": 4.0}),
    Try("hidden score 120", {**TALKS, "hidden": 120.0}),
    Try("hidden score 30", {**TALKS, "hidden": 30.0}),
)
LATE, FIRST = "mask after softmax", "mask before softmax"


def lesson(inputs: Inputs) -> Lesson:
    n, query = inputs.n, min(inputs.query, inputs.n - 1)
    scores = equation.scores_of(n, inputs.scores).float()  # as in a model: float32 is where it breaks
    allowed = allowed_of(inputs.mask, inputs.argument, n)
    key = too_late.last_hidden(allowed, query)
    late = too_late.change_hidden(scores, allowed, query, key, torch.from_numpy(HIDDEN))
    pair = f"“{WORDS[query]}” → “{WORDS[key]}”"
    return Lesson(
        see="This is the wrong order: softmax over **all** scores, then weight 0 for what is hidden. Drag a "
        f"score that the mask hides, {pair}: nothing should change, but the weights do.",
        board=Board(
            rows=_rows(n, query, late),
            notice=_notices(query, late),
            scrub=Scrub(
                field="hidden",
                label=f"hidden score {pair}",
                values=HIDDEN,
                words=[f"{value:.1f}" for value in HIDDEN],
            ),
        ),
        formula=r"\text{mask after: } \frac{e^{s_{ij}}}{\sum_{\text{all } m} e^{s_{im}}} \qquad "
        r"\text{mask before: } \frac{e^{s_{ij}}}{\sum_{\text{seen } m} e^{s_{im}}} \qquad "
        r"(\q{i} \text{ sees } \k{j};\; 0 \text{ where not})",
        sizes=rf"n = {n}; {len(HIDDEN)} \text{{ hidden scores, in float32}}",
        shapes=[
            *(
                Shape(rf"\text{{{name}}}", "frame query key", tuple(late.cut.shape))
                for name in ("softmax of all", LATE, FIRST)
            ),
            Shape(r"\text{cut} \div \text{row sum}", "frame query key", tuple(late.cut.shape)),
            Shape(r"\text{row sum}", "frame query", tuple(late.sums.shape)),
        ],
        code=[too_late.change_hidden, too_late.mask_after, equation.masked_softmax],
    )


def _rows(n: int, query: int, late: TooLate) -> list[list[Any]]:
    axes = choice.names(n)
    bare = {**axes, "rows": ()}  # the words of the rows are beside the first matrix
    frames = {name: tensor.numpy() for name, tensor in late._asdict().items()}
    one_column: dict[str, Any] = {"columns": ("Σ",), "row_axis": "query", "scale": "plain"}
    kept = {LATE: late.sums[:, query], FIRST: late.before[:, query].sum(dim=-1)}
    return [
        [
            Matrix(values=frames["softmax"], title="softmax of all", scale="weights", **axes),
            Sign(text="cut →"),
            Matrix(values=frames["cut"], title=LATE, scale="weights", **bare),
            Matrix(values=frames["sums"][..., None], title="row sum", **one_column),
        ],
        [
            Matrix(values=frames["before"], title=FIRST, scale="weights", **axes),
            Sign(text="=?"),
            Matrix(values=frames["renormalised"], title="cut ÷ row sum", scale="weights", **bare),
        ],
        [
            Curves(
                x=HIDDEN,
                at=HIDDEN,
                x_label="hidden score",
                log_x=True,
                y_label=f"row sum of “{WORDS[query]}”",
                y_range=(0, 1.05),
                lines=[
                    Line(y=sums.numpy(), name=name, colour="accent" if name == FIRST else 2)
                    for name, sums in kept.items()
                ],
            )
        ],
    ]


def _notices(query: int, late: TooLate) -> list[str]:
    kept, broken = late.sums[:, query].tolist(), late.renormalised[:, query].isnan().any(dim=-1).tolist()
    right = late.before[:, query].sum(dim=-1).tolist()
    notices = []
    for score, left, breaks, whole in zip(HIDDEN, kept, broken, right, strict=True):
        end = "Dividing by the sum cannot help: 0 / 0 is **NaN**." if breaks else "The rest is lost."
        notices.append(
            f"The hidden score is {score:.1f}: “{WORDS[query]}” is left with **{short(left)}** of its 1. "
            f"{end} With the mask before the softmax it keeps **{whole:.2f}**, whatever the hidden score."
        )
    return notices


def questions() -> tuple[Question, ...]:
    scores, causal = equation.scores_of(4).float(), masks.causal(4, 4)[0, 0]
    late = too_late.change_hidden(scores, causal, 1, 3, torch.tensor([0.1, 4.0, 120.0]))
    small, large, _ = late.sums[:, 1].tolist()
    apart = (late.renormalised[0, :2] - late.before[0, :2]).abs().max().item()
    breaks = bool(late.renormalised[2, 1].isnan().all())
    return (
        Question(
            f"Masked after the softmax, “{WORDS[1]}” is left with {small:.2f} of its 1. The hidden score "
            "grows from 0.1 to 4. Now it is left with …",
            ("less", "as much", "more"),
            0 if large < small else 2 if large > small else 1,
            f"**{large:.2f}**: a hidden word takes its share of the softmax before it is cut away.",
        ),
        Question(
            "Can dividing each cut row by its sum repair the weights?",
            ("yes, always", "no, never", "yes, until a hidden score leaves nothing to divide"),
            2 if apart < 1e-6 and breaks else 0,
            f"With small scores they are off by at most {short(apart)}. With a hidden score of 120 the "
            "visible weights are 0 in float32, and 0 / 0 is NaN.",
            told=True,
        ),
    )


PART = Part(
    "late", "After softmax", (choice.of_mask("mask", "argument"), "n", "query"),
    lesson, TRIES, questions, scrub="hidden", also=("scores",),
)  # fmt: skip
