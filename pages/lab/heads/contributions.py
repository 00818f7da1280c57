"""What each head adds to the output.

Concatenating the heads and multiplying by W_O is the same as multiplying each head by its own rows of W_O and
adding up: out = sum over heads of z_h W_O[h] + bias (Elhage et al. 2021, A Mathematical Framework for
Transformer Circuits, "Attention heads are independent and additive").
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.data.tasks import Reading
from attention_lab.models.engine.address import attention_at, sides_of
from attention_lab.models.zoo.model import Model
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER
from attention_lab.pages.lab.heads import cut
from attention_lab.pages.lab.heads.inputs import ANY_LAYER_CONTROLS, Inputs, reading_of
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Fact, Facts, Matrix, Scrub
from attention_lab.viz_core.labels import decimal, short

Contributions = Float[Tensor, "head query d_model"]
PerQuery = Float[Tensor, "head query"]


class Output(NamedTuple):
    """What an attention adds to the stream, and what its heads make it from. bias: b_O, if it has one."""

    tokens: list[str]
    z: Float[Tensor, "head query d_head"]
    w_o: Float[Tensor, "head d_head d_model"]
    bias: Float[Tensor, "d_model"] | None
    out: Float[Tensor, "query d_model"]


def of_model(model: Model, reading: Reading, stack: str, layer: int) -> Output:
    """The output of an attention of any model. Raises ValueError where its output projection is not known."""
    at, w_o = attention_at(stack, layer), model.projection(stack, layer)
    if w_o is None:
        raise ValueError(f"the output projection of {model.name!r} was not found; choose another model")
    addresses = (f"{at}.z", f"{at}.head_out", f"{at}.out")
    trace = model.trace(reading, reduce=lambda address, value: value if address in addresses else None)
    z = trace[f"{at}.head_out" if f"{at}.head_out" in trace else f"{at}.z"]  # what a gate, or a partner, left
    tokens = reading.tokens[sides_of(stack)[0]]
    return Output(tokens, z, w_o, model.projection_bias(stack, layer), trace[f"{at}.out"])


def contributions(
    z: Float[Tensor, "head query d_head"], w_o: Float[Tensor, "head d_head d_model"]
) -> Contributions:
    """z_h W_O[h], the vector that head h writes at each query."""
    return z @ w_o


def add_up(written: Contributions, bias: Float[Tensor, "d_model"] | None) -> Float[Tensor, "query d_model"]:
    """The layer's output: all that the heads write, and the bias, which belongs to no head."""
    out = written.sum(dim=0)
    return out if bias is None else out + bias.detach()


def norms(written: Contributions) -> PerQuery:
    """Euclidean length of what a head writes at each query.

    Kobayashi et al. 2020, Attention is Not Only a Weight (section 3), take the length of what one key adds,
    weight * f(key); here a head's keys are added up first, since this asks about heads.
    """
    return written.norm(dim=-1)


def length_share(written: Contributions) -> PerQuery:
    """Each head's length over the sum of all heads' lengths: 0..1, adds to 1 over heads.

    It says how loud a head is, not whether the others agree with it. It is 0 where no head writes anything.
    """
    lengths = norms(written)
    return _share(lengths, lengths.sum(dim=0))


def signed_share(written: Contributions) -> PerQuery:
    """How much of the heads' sum a head accounts for: c_h . s / s . s with s = sum of all c_h.

    This is c_h's coefficient when it is projected on s. It adds to 1 over heads; it is negative where a head
    pulls against the sum, above 1 where others pull back, and 0 where the sum is 0.
    """
    total = written.sum(dim=0)  # [query, d_model]
    return _share((written * total).sum(dim=-1), (total * total).sum(dim=-1))


def agreement(written: Contributions) -> Float[Tensor, "query"]:
    """Length of the heads' sum over the sum of their lengths: 1 where all point the same way, else less.

    It is 0 where no head writes anything.
    """
    return _share(written.sum(dim=0).norm(dim=-1), norms(written).sum(dim=0))


def gap(a: Float[Tensor, "query d_model"], b: Float[Tensor, "query d_model"]) -> float:
    """The largest difference between two outputs."""
    return (a - b).abs().max().item()


def _share(part: Float[Tensor, "*head query"], whole: Float[Tensor, "query"]) -> Float[Tensor, "*head query"]:
    return torch.where(whole == 0, 0.0, part / whole)


MOST_CHANNELS, MOST_TOKENS = 128, 32


def lesson(inputs: Inputs) -> Lesson:
    read = _output(inputs)
    written = contributions(read.z, read.w_o)
    h, n, d_model = written.shape
    tokens, names = distinct(read.tokens), _names(h)
    lengths, shares = length_share(written), signed_share(written)
    chosen = np.repeat(np.eye(n, dtype=bool)[:, :, None], h, axis=2)  # [frame, query, head]
    bias = torch.zeros(d_model) if read.bias is None else read.bias.detach()
    below = (add_up(written, None), bias.expand(n, d_model), read.out)  # each [query, d_model]
    vectors = torch.cat([written.transpose(0, 1), *(each[:, None] for each in below)], dim=1)
    left_out = f", its first {MOST_CHANNELS} of {d_model:,} channels" if d_model > MOST_CHANNELS else ""
    off = gap(add_up(written, read.bias), read.out)
    return Lesson(
        rows=[
            [
                *(
                    Matrix(
                        title=title, values=share.T.numpy(), reach=1.0, marked=chosen, rows=tokens,
                        row_axis="query", columns=names, column_heads=tuple(range(h)), column_axis="head",
                    )
                    for title, share in (("share of the lengths", lengths), ("share of the sum", shares))
                ),
                Facts.of(
                    Fact("length of the sum / sum of the lengths", agreement(written).numpy()),
                    Fact("sum + bias against out: largest difference", short(off)),
                ),
            ],
            [
                Matrix(
                    title=f"c at this token: what each head writes, their sum, and the output{left_out}",
                    values=vectors[:, :, :MOST_CHANNELS].numpy(), picture=True,
                    rows=(*names, "sum", "+ bias", "= out"), row_heads=(*range(h), -1, -1, -1),
                    row_axis="head", column_axis="channel",
                )
            ],
        ],
        notice=[longest(name, lengths[:, at], shares[:, at]) for at, name in enumerate(tokens)],
        scrub=Scrub("query", "token", np.arange(n), tokens),
        sizes=rf"n={n},\; h={h},\; d_{{model}}={d_model},\; d_{{head}}={read.z.shape[-1]}",
        axes={"head": h, "query": n, "d_head": read.z.shape[-1], "d_model": d_model},
        code=(contributions, add_up, length_share, signed_share, agreement),
    )  # fmt: skip


def longest(name: str, lengths: Float[Tensor, " head"], shares: Float[Tensor, " head"]) -> str:
    """Which head writes the longest vector at a token, with as many digits as tell it from the next one."""
    top, *rest = lengths.sort(descending=True).values.tolist()
    head, digits = int(lengths.argmax()), 2
    while digits < 6 and rest and f"{top:.{digits}f}" == f"{rest[0]:.{digits}f}":
        digits += 1
    near = f", the next {rest[0]:.{digits}f}" if digits > 2 else ""
    return (
        f"At “{name}”, head **{head}** writes the longest vector: **{top:.{digits}f}** of all lengths{near}, "
        f"and **{decimal(shares[head])}** of the sum."
    )


def _output(inputs: Inputs) -> Output:
    if inputs.model == ANOTHER:
        read = any_model.read(inputs, most=MOST_TOKENS)
        return of_model(read.model, read.reading, read.stack, inputs.other_layer)
    own = reading_of(inputs)
    return Output(own.tokens, own.z, cut.blocks(own.attention).w_o, own.attention.out_proj.bias, own.out)


def _names(n_heads: int) -> list[str]:
    return [f"head {head}" for head in range(n_heads)]


def questions() -> tuple[Answer, ...]:
    read = _output(Inputs(model="layer1"))
    written, it = contributions(read.z, read.w_o), read.tokens.index("it")
    names, shares = _names(len(written)), signed_share(written)[:, it].tolist()
    off = gap(add_up(written.flip(0), read.bias), read.out)  # added up backwards
    share = agreement(written)[it].item()
    return (
        Answer.of(
            shares.index(max(shares)),
            options=tuple(names),
            each=", ".join(f"{n}: {decimal(s)}" for n, s in zip(names, shares, strict=True)),
        ),
        Answer.of(1 if off < 1e-4 else 2, off=off),
        Answer.of(1 if share < 1 else 0, share=share),
    )


PART = part(__name__, ANY_LAYER_CONTROLS, lesson, questions, scrub="query")
