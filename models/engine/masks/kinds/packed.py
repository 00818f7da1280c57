"""Packed documents: a token sees its own document."""

import torch
from jaxtyping import Int
from torch import Tensor

from ....mask_names import MaskName, numbers
from ..core import Square, register

ABOUT = MaskName(
    order=7,
    title="packed",
    rule="the documents' lengths with dots between",
    example="4.3",
    meaning="documents of 4 and 3 tokens; the rest is one more",
    causal_too=True,
)


def packed(documents: Int[Tensor, "n"]) -> Square:
    """A query sees the tokens of its own document; `documents` says in which document each token is."""
    return (documents[:, None] == documents)[None, None]


def _document_of(n: int, lengths: list[int]) -> Int[Tensor, "n"]:
    """Which document each token is in; what the lengths leave over is one more document."""
    if 0 in lengths:
        raise ValueError("a document of 0 tokens does not exist; give lengths of at least 1")
    return torch.bucketize(torch.arange(n), torch.tensor(lengths).cumsum(0), right=True)


def _part(query: Tensor, key: Tensor, n: int, argument: str) -> Tensor:
    document = _document_of(n, numbers("packed", argument))
    return document[query] == document[key]


register("packed", lambda n, a: packed(_document_of(n, numbers("packed", a))), part=_part, code=packed)
