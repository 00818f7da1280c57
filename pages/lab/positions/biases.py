"""Biases on the scores: ALiBi's fixed slopes and T5's trained buckets."""

import math

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_lab.models.data.tasks.next_word import NextWord
from attention_lab.models.engine import masks, positions
from attention_lab.models.engine.masks import causal
from attention_lab.models.engine.positions import (
    TransformerXL,
    alibi_bias,
    alibi_slopes,
    relative_buckets,
    waves,
)
from attention_lab.models.engine.positions.t5 import RelativeBias
from attention_lab.models.engine.trace import Trace
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, When, part
from attention_lab.pages.lab.positions.inputs import Inputs, read, trained
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Matrix, Scrub, Sign, query_by_key
from attention_lab.viz_core.labels import decimal


def alibi_scores(n_heads: int, n_positions: int) -> Float[Tensor, "head query key"]:
    """ALiBi's bias on scores of 0, under a causal mask."""
    bias = alibi_bias(n_heads, n_positions, n_positions)  # [head, query, key]
    later = ~masks.causal(n_positions, n_positions)[0]
    return bias.masked_fill(later, -torch.inf)


def alibi_pattern(n_heads: int, n_positions: int) -> Float[Tensor, "head query key"]:
    """Where each head looks when all words score alike."""
    return alibi_scores(n_heads, n_positions).softmax(dim=-1)


def half_distance(n_heads: int) -> Float[Tensor, " head"]:
    """How many positions back a word's weight is halved by the bias alone: e^(-slope * distance) = 1/2."""
    return math.log(2) / alibi_slopes(n_heads)


def bucket_matrix(n_positions: int, bidirectional: bool) -> Int[Tensor, "query key"]:
    """T5's bucket for each query and key; causal models put all later keys, which are masked, into 0."""
    position = torch.arange(n_positions)
    return relative_buckets(position[:, None] - position, bidirectional)


@torch.no_grad()
def trained_bias(lm: TrainedModel[NextWord], n_distances: int) -> Float[Tensor, "head distance"]:
    """What a T5 model's heads add to the score of a word 0, 1, 2, ... positions back."""
    assert lm.model.decoder is not None and isinstance(lm.model.decoder.positions, RelativeBias)
    table = lm.model.decoder.positions.table.weight  # [bucket, head]
    return table[relative_buckets(torch.arange(n_distances), bidirectional=False)].T


def never_trained(trained_length: int, n_distances: int) -> Bool[Tensor, " distance"]:
    """True for distances whose bucket no training window reached, so that its bias is the initial one."""
    buckets = relative_buckets(torch.arange(n_distances), bidirectional=False)
    return buckets > buckets[trained_length - 1]


TERMS = ("content, content", "content, distance", "key alone", "distance alone")


@torch.no_grad()
def four_terms(
    lm: TrainedModel[NextWord], ids: Int[Tensor, " word"], layer: int
) -> Float[Tensor, "term head query key"]:
    """scale * (q.k, q.W_R r, u.k, v.W_R r), in the order of `TERMS` (Dai et al. 2019, 3.3).

    r is the wave at the distance from key to query; u and v are trained. Summed, the terms are the scores
    before the mask.
    """
    assert lm.model.decoder is not None
    scheme = lm.model.decoder.positions
    assert isinstance(scheme, TransformerXL)
    trace = Trace()
    lm.model(ids[None], trace=trace)
    q, k = trace[f"decoder.{layer}.self.q"], trace[f"decoder.{layer}.self.k"]  # [head, position, d_head]
    position = torch.arange(len(ids))
    distance = position[:, None] - position  # [query, key]
    r = scheme.r_proj[layer](waves(distance.flatten(), lm.model.config.d_model).to(q))
    r = r.view(len(ids), len(ids), *scheme.u.shape[::2])  # [query, key, head, d_head]
    terms = (
        q @ k.mT,
        torch.einsum("hqd,qkhd->hqk", q, r),
        (scheme.u @ k.mT).expand(-1, len(ids), -1),
        torch.einsum("hd,qkhd->hqk", scheme.v[:, 0], r),
    )
    return lm.model.config.scale * torch.stack(terms)


def spread(terms: Float[Tensor, "term head query key"]) -> Float[Tensor, "term head"]:
    """How much each term tells keys apart: its mean standard deviation over the keys that a query sees.

    What is the same for all keys of a query changes nothing after softmax, and counts as 0 here.
    """
    n_words = terms.shape[-1]
    rows = [terms[..., query, : query + 1].std(dim=-1, correction=0) for query in range(n_words)]
    return torch.stack(rows, dim=-1).mean(dim=-1)  # [term, head, query] -> [term, head]


N_DISTANCES = 128


def per_head(
    title: str, values: np.ndarray, y_label: str, *, y_range: tuple[float, float] | None = None
) -> Curves:
    """values: [head, distance]; those of the chosen head are drawn over all heads'."""
    lines = [Line(each, f"head {head}", head) for head, each in enumerate(values)]
    return Curves(
        title=title, x=np.arange(values.shape[1], dtype=float), x_label="distance (words back)",
        lines=[*lines, Line(values, "chosen", dashed=True)], y_label=y_label, y_range=y_range,
    )  # fmt: skip


N_WORDS = 10


def alibi_lesson(inputs: Inputs) -> Lesson:
    h = inputs.heads
    slopes, halves = positions.alibi_slopes(h), half_distance(h)
    cells = query_by_key([str(word) for word in range(N_WORDS)])
    by_distance = alibi_bias(h, 1, N_DISTANCES)[:, 0].flip(-1).numpy()  # [head, distance]
    return Lesson(
        variant="alibi",
        rows=[
            [
                Matrix(
                    title="bias (the mask hides later words)", values=alibi_scores(h, N_WORDS).numpy(),
                    reach=float(N_WORDS - 1) / 2, **cells,
                ),
                Matrix(
                    title="pattern, if all scores are equal", values=alibi_pattern(h, N_WORDS).numpy(),
                    scale="weights", **cells,
                ),
            ],
            [
                per_head(
                    "bias by distance, all heads", by_distance, "added to the score", y_range=(-8.0, 0.2)
                ),
                Facts.of(
                    Fact("slope", slopes.numpy(), 4, "a word"),
                    Fact("weight halves every", halves.numpy(), 1, "words"),
                ),
            ],
        ],
        notice=[
            f"Head {head} subtracts **{slope:.4g}** from a score for every word of distance: **{half:.1f} "
            "words** back, half the weight."
            for head, (slope, half) in enumerate(zip(slopes.tolist(), halves.tolist(), strict=True))
        ],
        scrub=Scrub("head", "head", np.arange(h)),
        formula=(
            r"\begin{gathered}\mathrm{scores}=\frac{\q{Q}\k{K}^{\top}}{\sqrt{d_{head}}}"
            r"-m_h\,\lvert i-j\rvert\\" + _slopes_formula(h) + r"\end{gathered}"
        ),
        sizes=rf"n={h}\ \text{{heads}},\; {N_WORDS}\ \text{{words}}",
        axes={"head": h, "query": N_WORDS, "key": N_WORDS},
        code=(positions.alibi_slopes, positions.alibi_bias, alibi_scores, alibi_pattern, half_distance),
    )  # fmt: skip


def _slopes_formula(n_heads: int) -> str:
    """The rule that `alibi_slopes` follows, for this number of heads."""
    below = 2 ** int(math.log2(n_heads))
    if below == n_heads:
        return rf"m_h=2^{{-8(h+1)/{n_heads}}},\quad h=0\ldots{n_heads - 1}"
    return (
        rf"m_h=2^{{-8(h+1)/{below}}},\quad h=0\ldots{below - 1}\quad"
        rf"({below}\text{{ is the power of 2 below }}{n_heads})\\"
        rf"m_h=2^{{-8(h-{below}+1/2)/{below}}},\quad h={below}\ldots{n_heads - 1}\quad"
        rf"(\text{{every other slope of }}{2 * below}\text{{ heads}})"
    )


N_BUCKETED = 48


def t5_lesson(_: Inputs) -> Lesson:
    lm = trained("t5")
    bias = trained_bias(lm, N_DISTANCES)  # [head, distance]
    first = int(never_trained(lm.task.length, N_DISTANCES).int().argmax())
    h, longest, distances = len(bias), lm.task.length - 1, torch.arange(N_DISTANCES + 20)
    buckets = relative_buckets(distances, bidirectional=False).numpy().astype(np.float32)
    matrix = bucket_matrix(N_BUCKETED, bidirectional=False).numpy().astype(np.float32)
    return Lesson(
        variant="t5",
        rows=[
            [
                Matrix(
                    title="bucket of each query and key", values=matrix, picture=True, digits=0, reach=32.0,
                    **query_by_key([str(word) for word in range(N_BUCKETED)]),
                ),
                Curves(
                    title="bucket by distance: exact, then logarithmic", x=distances.numpy().astype(float),
                    lines=[Line(buckets, "bucket")], x_label="distance (words back)", y_label="bucket",
                ),
            ],
            [
                per_head("trained bias by distance, all heads", bias.numpy(), "added to the score"),
                Facts.of(
                    Fact("at distance 1", bias[:, 1].numpy()),
                    Fact(f"at distance {longest}", bias[:, longest].numpy()),
                    Fact("never trained", f"distances from {first}"),
                ),
            ],
        ],
        notice=[
            f"Head {head} prefers words **{best} back** (bias {decimal(bias[head, best])}). From distance "
            f"**{first}** on its numbers are still random."
            for head, best in enumerate(bias[:, :first].argmax(dim=-1).tolist())
        ],
        scrub=Scrub("head", "head", np.arange(h)),
        sizes=rf"n={h}\ \text{{heads}},\; 32\ \text{{buckets}}",
        axes={"bucket": 32, "head": h, "query": N_BUCKETED, "key": N_BUCKETED},
        code=(relative_buckets, bucket_matrix, trained_bias, never_trained),
    )  # fmt: skip


NAMES = ("q · k", "q · W r", "u · k", "v · W r")


def four_terms_lesson(inputs: Inputs) -> Lesson:
    lm = trained("transformer-xl")
    config = lm.model.config
    ids, names = read(inputs.text)
    terms = four_terms(lm, ids, inputs.layer)  # [term, head, query, key]
    n_terms, h, n, _ = terms.shape
    spreads = spread(terms)  # [term, head]
    later = ~causal(n, n)[0, 0]

    def matrix(title: str, values: Tensor) -> Matrix:
        """Later words hidden, all in one scale."""
        return Matrix(
            title=title, values=values.masked_fill(later, -np.inf).numpy(), picture=True, rows=names,
            row_axis="query", column_axis="key", reach=float(terms.abs().max()),
        )  # fmt: skip

    panels = [matrix(name, term) for name, term in zip(NAMES, terms, strict=True)]
    plus, equals = Sign("+"), Sign("=")
    return Lesson(
        variant="transformer-xl",
        rows=[
            [panels[0], plus, panels[1]],
            [plus, panels[2], plus, panels[3], equals, matrix("scores", terms.sum(dim=0))],
        ],
        notice=[
            f"In head {head}, **{NAMES[int(share.argmax())]}** tells keys apart best ({share.max():.0%} of "
            f"the spread); the distance terms make up **{share[1] + share[3]:.0%}**."
            for head, share in enumerate((spreads / spreads.sum(dim=0)).T)
        ],
        scrub=Scrub("head", "head", np.arange(h)),
        sizes=rf"n={n},\; h={h},\; d_{{head}}={config.head_size}",
        axes={"term": n_terms, "head": h, "d_head": config.head_size, "channel": config.d_model}
        | dict.fromkeys(("position", "query", "key"), n),
        code=(four_terms, spread),
    )


LESSONS = {"alibi": alibi_lesson, "t5": t5_lesson, "transformer-xl": four_terms_lesson}


def lesson(inputs: Inputs) -> Lesson:
    return LESSONS[inputs.bias](inputs)


def questions() -> tuple[Answer, ...]:
    slopes, halves = alibi_slopes(8), half_distance(8)
    sharpest, widest = int(slopes.argmax()), int(slopes.argmin())
    buckets = relative_buckets(torch.tensor([3, 4, 60, 61]), bidirectional=False).tolist()
    shared = 0 if buckets[0] == buckets[1] else 1 if buckets[2] == buckets[3] else 2
    first = int(never_trained(trained("t5").task.length, N_DISTANCES).int().argmax())
    return (
        Answer.of(
            0 if widest == 0 else 1,
            widest=widest,
            widest_half=halves[widest],
            sharpest=sharpest,
            sharpest_half=halves[sharpest],
        ),
        Answer.of(shared, buckets=buckets),
        Answer.of(0 if first > 100 else 1, first=first),
    )


CONTROLS = (
    "bias",
    When("bias", "alibi", ("heads",)),
    When("bias", "transformer-xl", ("text", "layer")),
    When("bias", "t5", (Note("A small trained model with four heads."),)),
)
PART = part(__name__, CONTROLS, lesson, questions, scrub="head")
