"""Cutting the projections into heads (Vaswani et al. 2017, 3.2.2).

The paper multiplies from the right: q = x W_Q, with W_Q [d_model, n_heads * d_head]. PyTorch's Linear keeps
the transpose, so `.weight.T` is the paper's matrix. Head h owns the h-th block of d_head columns of W_Q, W_K
and W_V, and the h-th block of d_head rows of W_O.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention_lab.models.engine import size
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.pages.lab.attention_cost import count
from attention_lab.pages.lab.heads.inputs import LAYER_CONTROLS, Inputs, Reading, reading_of
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Fact, Facts, Matrix, Panel, Scrub, Sign, query_by_key


class Blocks(NamedTuple):
    """The paper's W_i^Q, W_i^K, W_i^V and the rows of W^O that meet head i."""

    w_q: Float[Tensor, "head d_model d_head"]
    w_k: Float[Tensor, "head d_model d_head"]
    w_v: Float[Tensor, "head d_model d_head"]
    w_o: Float[Tensor, "head d_head d_model"]


def blocks(attention: MultiHeadAttention) -> Blocks:
    """A layer's four matrices, cut into its heads."""
    projections = (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj)
    W_Q, W_K, W_V, W_O = (projection.weight.detach().T for projection in projections)
    n = attention.n_heads
    return Blocks(cut_columns(W_Q, n), cut_columns(W_K, n), cut_columns(W_V, n), cut_rows(W_O, n))


@torch.no_grad()
def project(
    x: Float[Tensor, "position d_model"], linear: nn.Linear, n_heads: int
) -> Float[Tensor, "{n_heads} position d_head"]:
    """One projection head by head, each with its own columns: x W_i + b_i, [head, position, d_head]."""
    per_head = x @ cut_columns(linear.weight.T, n_heads)  # [head, position, d_head]
    return per_head if linear.bias is None else per_head + linear.bias.view(n_heads, 1, -1)


def cut_columns(
    matrix: Float[Tensor, "rows width"], n_heads: int
) -> Float[Tensor, "{n_heads} rows {matrix.shape[1]//n_heads}"]:
    """[rows, n_heads * d_head] -> [head, rows, d_head]: each head's block of columns."""
    d_head = matrix.shape[1] // n_heads
    return matrix.unflatten(1, (n_heads, d_head)).transpose(0, 1)  # [rows, head, d_head] -> [head, rows, ...]


def cut_rows(
    matrix: Float[Tensor, "width columns"], n_heads: int
) -> Float[Tensor, "{n_heads} {matrix.shape[0]//n_heads} columns"]:
    """[n_heads * d_head, columns] -> [head, d_head, columns]: each head's block of rows."""
    d_head = matrix.shape[0] // n_heads
    return matrix.unflatten(0, (n_heads, d_head))


def concatenate(z: Float[Tensor, "head query d_head"]) -> Float[Tensor, "query width"]:
    """Concat(head_1, ..., head_h): the heads' results side by side, [query, n_heads * d_head]."""
    return z.transpose(0, 1).flatten(1)  # [query, head, d_head] -> [query, head * d_head]


def owner(column: int, d_head: int) -> int:
    """The head that a column of W_Q, W_K, W_V, or a row of W_O, belongs to; both count from 0."""
    return column // d_head


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs)
    config, names = read.config, distinct(read.tokens)
    h, d_model, d_head = config.n_heads, config.d_model, config.head_size
    n, width = len(names), h * d_head
    counted = {
        "d_head": d_head,
        "parameters: attention": size.attention_parameters(config),
        "+ feed-forward": size.feed_forward_parameters(config),
        "+ norms": 2 * size.norm_parameters(config),
        "= the layer, sum(p.numel())": count(read.layer),
    }
    parameters = Facts(facts=[Fact(label, f"{number:,}") for label, number in counted.items()])
    notices = []
    for head in range(h):
        first, last = head * d_head, (head + 1) * d_head - 1
        notices.append(
            f"Head {head} owns columns **{first} to {last}** of W_Q and rows **{first} to {last}** of W_O."
        )
    return Lesson(
        rows=[_queries(read), _head(read), _output(read), [_pattern(read)], [parameters]],
        notice=notices,
        scrub=Scrub("head", "head", np.arange(h)),
        sizes=rf"n={n},\; h={h},\; d_{{model}}={d_model},\; d_{{head}}={d_head},\; h\cdot d_{{head}}={width}",
        axes={"d_model": d_model, "h · d_head": width, "head": h, "d_head": d_head}
        | dict.fromkeys(("position", "query", "key"), n),
        code=(blocks, cut_columns, cut_rows, project, concatenate, count),
    )


def _queries(read: Reading) -> list[Panel]:
    """X W_Q + b = Q, all heads at once."""
    layer = read.attention
    q = concatenate(project(read.x, layer.q_proj, layer.n_heads))
    return [
        _by_token(read, "X: the sentence", read.x.numpy(), column_axis="channel"),
        Sign(text="×"),
        Matrix(
            title="W_Q", values=layer.q_proj.weight.detach().T.numpy(), role="query", picture=True,
            row_axis="channel", column_axis="column", column_heads=_owners(read),
            marked=_columns(read, read.config.d_model),
        ),
        Sign(text="+ b ="),
        _by_token(
            read, "Q: all heads' queries", q.numpy(), role="query",
            column_axis="column", column_heads=_owners(read), marked=_columns(read, len(read.tokens)),
        ),
    ]  # fmt: skip


def _head(read: Reading) -> list[Panel]:
    """What the chosen head computes from its blocks."""
    of_key: dict[str, Any] = {"picture": True, "row_axis": "token", "column_axis": "channel"}
    return [
        _by_token(read, "its q", read.q.numpy(), role="query", column_axis="channel"),
        Matrix(title="its k", values=read.k.numpy(), role="key", **of_key),
        Matrix(title="its v", values=read.v.numpy(), role="value", **of_key),
        Sign("→"),
        _by_token(read, "its z: pattern × v", read.z.numpy(), column_axis="channel"),
    ]


def _pattern(read: Reading) -> Matrix:
    """Where the chosen head looks, large enough for its words."""
    names = query_by_key(distinct(read.tokens))
    return Matrix(
        title="its pattern: softmax of q · k / √d_head",
        values=read.pattern.numpy(),
        scale="weights",
        large=True,
        **names,
    )


def _output(read: Reading) -> list[Panel]:
    """[z_0 z_1 ...] W_O + b = out."""
    w_o = read.attention.out_proj.weight.detach().T.numpy()  # [h * d_head, d_model]
    return [
        _by_token(
            read, "all heads' z, side by side", concatenate(read.z).numpy(),
            column_axis="column", column_heads=_owners(read), marked=_columns(read, len(read.tokens)),
        ),
        Sign(text="×"),
        Matrix(
            title="W_O", values=w_o, picture=True, row_axis="column", column_axis="channel",
            row_heads=_owners(read), marked=_columns(read, w_o.shape[1]).transpose(0, 2, 1),
        ),
        Sign(text="+ b ="),
        _by_token(read, "out: what the layer adds", read.out.numpy(), column_axis="channel"),
    ]  # fmt: skip


def _by_token(read: Reading, title: str, values: np.ndarray, **options: Any) -> Matrix:
    names = distinct(read.tokens)
    return Matrix(title=title, values=values, rows=names, row_axis="token", picture=True, **options)


def _owners(read: Reading) -> list[int]:
    """The head of each column of W_Q."""
    d_head = read.config.head_size
    return [owner(column, d_head) for column in range(read.config.n_heads * d_head)]


def _columns(read: Reading, n_rows: int) -> np.ndarray:
    """[frame, row, column]: True in the columns of the head that the frame chooses."""
    own = np.array(_owners(read)) == np.arange(read.config.n_heads)[:, None]  # [frame, column]
    return np.repeat(own[:, None, :], n_rows, axis=1)


def questions() -> tuple[Answer, ...]:
    four, eight, wide = (
        reading_of(Inputs(model="random", n_heads=h, d_head=d)) for h, d in ((4, 0), (8, 0), (4, 32))
    )
    now, more, wider = (count(read.attention) for read in (four, eight, wide))
    third = [column for column, head in enumerate(_owners(four)) if head == 2]
    columns = ("all 32", "8 to 15", "16 to 23")
    times = {1: "as many", 2: "twice as many", 4: "about four times as many"}
    factors, options = list(times), tuple(times.values())
    return (
        Answer.of(columns.index(f"{third[0]} to {third[-1]}"), options=columns, four=four),
        Answer.of(factors.index(round(more / now)), options=options, now=now, more=more),
        Answer.of(factors.index(round(wider / now)), options=options, now=now, wider=wider, wide=wide),
    )


PART = part(__name__, LAYER_CONTROLS, lesson, questions, scrub="head")
