"""What each head adds to the output.

Concatenating the heads and multiplying by W_O is the same as multiplying each head by its own rows of W_O and
adding up: out = sum over heads of z_h W_O[h] + bias (Elhage et al. 2021, A Mathematical Framework for
Transformer Circuits, "Attention heads are independent and additive").
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from models.data.tasks import Reading
from models.zoo.model import Model

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
    side, kind = stack.split(".")
    at, w_o = f"{side}.{layer}.{kind}", model.projection(stack, layer)
    if w_o is None:
        raise ValueError(
            f"the output projection of {model.name!r} was not found, so what each head adds is not known; "
            "choose another model"
        )
    wanted = (f"{at}.z", f"{at}.out")
    trace = model.trace(reading, reduce=lambda address, value: value if address in wanted else None)
    z, out = (trace[address] for address in wanted)
    return Output(reading.tokens[side], z, w_o, model.projection_bias(stack, layer), out)


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
