"""What goes wrong when the mask comes after the softmax."""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.models.engine import masks
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.masks import mask
from attention_lab.pages.lab.masks.inputs import WORDS, Inputs, allowed_of, names, of_mask
from attention_lab.pages.lab.masks.mask import masked_softmax
from attention_lab.viz_core.boards import Curves, Line, Matrix, Scrub, Sign
from attention_lab.viz_core.labels import short


class TooLate(NamedTuple):
    """What a mask does after the softmax; `before` is the pattern of a mask where it belongs."""

    softmax: Float[Tensor, "*frame query key"]
    """The softmax of all scores, the hidden ones too."""
    cut: Float[Tensor, "*frame query key"]
    """Its weights, hidden ones set to 0."""
    sums: Float[Tensor, "*frame query"]
    """What is left of 1 in each row."""
    renormalised: Float[Tensor, "*frame query key"]
    """The cut rows divided by their sums."""
    before: Float[Tensor, "*frame query key"]


def mask_after(scores: Float[Tensor, "*frame query key"], allowed: Bool[Tensor, "query key"]) -> TooLate:
    """The pattern that a mask makes after the softmax, as it is and renormalised, and the right one.

    Renormalised, the rows are those of a mask before the softmax: exp(s_i) / sum of all, over the visible
    sum / sum of all. That holds on paper; in floating point a hidden score that is much larger than the
    visible ones leaves them 0, and 0 / 0 is NaN.
    """
    softmax = scores.softmax(dim=-1)
    cut = softmax * allowed
    sums = cut.sum(dim=-1)
    return TooLate(softmax, cut, sums, cut / sums[..., None], masked_softmax(scores, allowed).pattern)


def change_hidden(
    scores: Float[Tensor, "query key"],
    allowed: Bool[Tensor, "query key"],
    query: int,
    key: int,
    values: Float[Tensor, " frame"],
) -> TooLate:
    """`mask_after` for one hidden score at each of `values`, [frame, query, key]."""
    changed = scores.repeat(len(values), 1, 1)  # [frame, query, key]
    changed[:, query, key] = values
    return mask_after(changed, allowed)


def last_hidden(allowed: Bool[Tensor, "query key"], query: int) -> int:
    """The last key that is hidden from a query. Raises ValueError if it sees them all."""
    hidden = (~allowed[query]).nonzero()
    if len(hidden) == 0:
        raise ValueError(f"query {query} sees every key; choose another query or mask")
    return int(hidden[-1])


HIDDEN = np.array([*np.arange(0.1, 10.1, 0.3), *np.arange(15, 121, 5)], dtype=np.float32)
LATE, FIRST = "mask after softmax", "mask before softmax"


def lesson(inputs: Inputs) -> Lesson:
    n, query = inputs.n, min(inputs.query, inputs.n - 1)
    scores = mask.scores_of(n, inputs.scores).float()  # as in a model: float32 is where it breaks
    allowed = allowed_of(inputs.mask, inputs.argument, n)
    key = last_hidden(allowed, query)
    late = change_hidden(scores, allowed, query, key, torch.from_numpy(HIDDEN))
    pair = f"“{WORDS[query]}” → “{WORDS[key]}”"
    axes: dict[str, Any] = {"scale": "weights", **names(n)}
    bare = axes | {"rows": ()}  # the words of the rows are beside the first matrix
    return Lesson(
        numbers={"pair": pair},
        rows=[
            [
                Matrix(values=late.softmax.numpy(), title="softmax of all", **axes),
                Sign("cut →"),
                Matrix(values=late.cut.numpy(), title=LATE, **axes),
                Matrix(
                    values=late.sums[..., None].numpy(), title="row sum", columns=("Σ",), row_axis="query",
                    scale="plain",
                ),
            ],
            [
                Matrix(values=late.before.numpy(), title=FIRST, **axes),
                Sign("=?"),
                Matrix(values=late.renormalised.numpy(), title="cut ÷ row sum", **bare),
            ],
            [
                Curves(
                    x=HIDDEN, at=HIDDEN, x_label="hidden score", log_x=True,
                    y_label=f"row sum of “{WORDS[query]}”", y_range=(0, 1.05),
                    lines=[
                        Line(late.sums[:, query].numpy(), LATE, 2),
                        Line(late.before[:, query].sum(dim=-1).numpy(), FIRST),
                    ],
                )
            ],
        ],
        notice=_notices(query, late),
        scrub=Scrub("hidden", f"hidden score {pair}", HIDDEN, [f"{value:.1f}" for value in HIDDEN]),
        sizes=rf"n = {n}; {len(HIDDEN)} \text{{ hidden scores, in float32}}",
        axes=dict(zip(("frame", "query", "key"), late.cut.shape, strict=True)),
        code=[change_hidden, mask_after, mask.masked_softmax],
    )  # fmt: skip


def _notices(query: int, late: TooLate) -> list[str]:
    totals, broken = late.sums[:, query].tolist(), late.renormalised[:, query].isnan().any(dim=-1).tolist()
    right = late.before[:, query].sum(dim=-1).tolist()
    notices = []
    for score, total, breaks, whole in zip(HIDDEN, totals, broken, right, strict=True):
        end = ", 0 / 0 is **NaN**" if breaks else ""
        notices.append(
            f"With hidden score {score:.1f}, “{WORDS[query]}” keeps **{short(total)}** of its "
            f"1{end}; masked before the softmax, **{whole:.2f}**."
        )
    return notices


def questions() -> tuple[Answer, ...]:
    scores, causal = mask.scores_of(4).float(), masks.causal(4, 4)[0, 0]
    late = change_hidden(scores, causal, 1, 3, torch.tensor([0.1, 4.0, 120.0]))
    small, large, _ = late.sums[:, 1].tolist()
    apart = (late.renormalised[0, :2] - late.before[0, :2]).abs().max().item()
    breaks = bool(late.renormalised[2, 1].isnan().all())
    return (
        Answer.of(0 if large < small else 2 if large > small else 1, word=WORDS[1], small=small, large=large),
        Answer.of(2 if apart < 1e-6 and breaks else 0, apart=apart),
    )


CONTROLS = (of_mask("mask", "argument"), "n", "query")
PART = part(__name__, CONTROLS, lesson, questions, scrub="hidden", also=("scores",))
