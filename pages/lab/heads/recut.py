"""The same weights, cut into more or fewer heads."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from attention_lab.models.contrast.knobs.heads import with_heads
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.trace import Trace, within
from attention_lab.pages.lab.attention_cost import count
from attention_lab.pages.lab.heads import contributions
from attention_lab.pages.lab.heads.cut import concatenate
from attention_lab.pages.lab.heads.inputs import Inputs, Reading, reading_of
from attention_lab.pages.lab.lesson import Answer, Lesson, When, part
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Fact, Facts, Matrix, Scrub
from attention_lab.viz_core.measures import entropy


class Recut(NamedTuple):
    """What the layer computes when W_Q, W_K, W_V and W_O are cut into n_heads heads."""

    n_heads: int
    d_head: int
    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "head key d_head"]
    v: Float[Tensor, "head key d_head"]
    scores: Float[Tensor, "head query key"]
    pattern: Float[Tensor, "head query key"]
    out: Float[Tensor, "query d_model"]


def recuts(reading: Reading) -> list[Recut]:
    """The layer on the same input with 1, 2, 4 and 8 heads; the scale follows d_head."""
    return [recut(reading, n_heads) for n_heads in (1, 2, 4, 8)]


@torch.no_grad()
def recut(reading: Reading, n_heads: int) -> Recut:
    """The layer with the very same matrices, cut into `n_heads`.

    Raises ValueError for a number of heads that does not divide the columns of W_Q.
    """
    config = with_heads(reading.config, n_heads)
    with torch.device("meta"):  # the new layer brings no weights of its own
        attention = MultiHeadAttention(config).eval()
    attention.load_state_dict(reading.attention.state_dict(), assign=True)
    trace = Trace()
    attention(reading.x[None], reading.x[None], trace=within(trace, "self"))
    names = ("q", "k", "v", "scores", "pattern", "out")
    return Recut(n_heads, config.head_size, **{name: trace[f"self.{name}"] for name in names})


def summed_dot_products(
    q: Float[Tensor, "head query d_head"], k: Float[Tensor, "head key d_head"]
) -> Float[Tensor, "query key"]:
    """q . k of each head, summed over heads: however the same channels are cut, the sum is the same."""
    return (q @ k.mT).sum(dim=0)  # [head, query, key] -> [query, key]


@torch.no_grad()
def with_one_pattern(
    attention: MultiHeadAttention, v: Float[Tensor, "head key d_head"], pattern: Float[Tensor, "query key"]
) -> Float[Tensor, "query d_model"]:
    """The layer's output if all its heads had this pattern: then the number of heads would not matter."""
    return F.linear(concatenate(pattern @ v), attention.out_proj.weight, attention.out_proj.bias)


def difference(out: Float[Tensor, "query d_model"], reference: Float[Tensor, "query d_model"]) -> float:
    """Length of the difference over the length of the reference: 0 is equal, 1 is as far as from zeros."""
    return ((out - reference).norm() / reference.norm()).item()


def lesson(inputs: Inputs) -> Lesson:
    read = _whole(inputs)
    cuts = recuts(read)
    one, most, names = cuts[0], cuts[-1], distinct(read.tokens)
    n, d_model = read.x.shape
    heads = [(cut.n_heads, head) for cut in cuts for head in range(cut.n_heads)]
    sums = [summed_dot_products(cut.q, cut.k)[:, None] for cut in (most, one)]  # [query, 1, key]
    keys: dict[str, Any] = {"columns": names, "column_axis": "key"}
    notices = []
    for query, name in enumerate(names):
        key = int(one.pattern[0, query].argmax())
        weights = most.pattern[:, query, key]
        notices.append(
            f"From “{name}”, one head puts **{one.pattern[0, query, key]:.2f}** on “{names[key]}”; cut into "
            f"{most.n_heads}, the same matrices put **{weights.min():.2f}** to **{weights.max():.2f}**."
        )
    return Lesson(
        rows=[
            [
                Matrix(
                    title="weights with h = 1, 2, 4 and 8 heads; each row is a head",
                    scale="weights",
                    values=torch.cat([cut.pattern.transpose(0, 1) for cut in cuts], dim=1).numpy(),
                    rows=[f"h = {of}: {head}" for of, head in heads], row_heads=[head for _, head in heads],
                    **keys,
                )
            ],
            [
                Matrix(
                    title=f"q · k in each of {most.n_heads} heads, their sum, and q · k of the one head",
                    values=torch.cat([(most.q @ most.k.mT).transpose(0, 1), *sums], dim=1).numpy(),
                    rows=(*map(str, range(most.n_heads)), "sum", "one"),
                    row_heads=(*range(most.n_heads), -1, -1), row_axis="head", digits=1, **keys,
                )
            ],
            [_facts(cuts)],
        ],
        notice=notices,
        scrub=Scrub("query", "token", np.arange(n), names),
        sizes=rf"n={n},\; d_{{model}}={d_model},\; h\cdot d_{{head}}={one.d_head}",
        axes={"query": n, "key": n} | {f"{h} head{'s' * (h > 1)}": h for h in (cut.n_heads for cut in cuts)},
        code=(recut, summed_dot_products, with_one_pattern, difference),
    )  # fmt: skip


def _whole(inputs: Inputs) -> Reading:
    """A layer with 64 columns, whichever model is chosen."""
    return reading_of(
        replace(inputs, model=inputs.uncut, n_heads=4, d_model=64, d_head=0, positions="sinusoidal")
    )


def _facts(cuts: list[Recut]) -> Facts:
    one, *others = cuts
    return Facts.of(
        *(
            Fact(
                f"output of {cut.n_heads} heads differs from 1 by", f"{difference(cut.out, one.out):.2f}",
                unit="of its length",
            )
            for cut in others
        ),
        *(
            Fact(
                f"entropy of {cut.n_heads} head{'s' * (cut.n_heads > 1)}",
                f"{entropy(cut.pattern.numpy()).mean():.2f}", unit="nats",
            )
            for cut in cuts
        ),
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    read = _whole(Inputs())
    cuts = recuts(read)
    one, most = cuts[0], cuts[-1]
    sums = [summed_dot_products(cut.q, cut.k) for cut in (one, most)]
    apart = difference(most.out, one.out)
    alike = difference(with_one_pattern(read.attention, most.v, one.pattern[0]), one.out)
    n_weights = count(read.attention)
    gap = contributions.gap(*sums)
    return (
        Answer.of(0 if gap < 1e-3 else 2, gap=gap),
        Answer.of(2 if apart > 0.1 else 1, n_weights=n_weights, apart=apart),
        Answer.of(0 if alike < 1e-5 else 1, alike=alike),
    )


PART = part(__name__, ("text", "uncut", When("uncut", "random", ("seed",))), lesson, questions, scrub="query")
