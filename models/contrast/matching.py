"""Heads of two models matched by likeness, since head 3 of one may be head 1 of another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks import Reading
from ..engine.address import sides_of
from .alignment import align_sides, one_vocabulary
from .comparison import on_places
from .side import Side

Progress = Callable[[float], object]
Patterns = Float[Tensor, "_ _ _ _"]
"""Of all heads of a stack on one text, [layer, head, query, key]."""
MOST_TEXTS = 32


class Head(NamedTuple):
    """A head of a stack; both numbers count from 0, the layer's as addresses do where these are known."""

    layer: int
    head: int


class Match(NamedTuple):
    """A head of each side, and the distance between them."""

    a: Head
    b: Head
    distance: float


@dataclass(frozen=True)
class Matching:
    """distances: between any two heads, [head of a, head of b], numbered layer by layer: the mean total
    variation distance over all queries of the texts. pairs: which belong together, by the smallest sum of
    distances; where one side has more heads, some of its are left over. n_texts: what was read.
    """

    distances: Float[Tensor, "_ _"]
    pairs: tuple[Match, ...]
    n_texts: int


def match_heads(a: Sequence[Patterns], b: Sequence[Patterns]) -> Matching:
    """Matches the heads by their patterns on the same texts, a pair of tensors a text.

    Raises ValueError for no texts, or patterns of different shapes.
    """
    from scipy.optimize import linear_sum_assignment  # comes with scikit-learn

    if not a or len(a) != len(b):
        raise ValueError(
            f"{len(a)} and {len(b)} texts: give the patterns of both on the same texts, at least one"
        )
    sums, n_queries = torch.zeros(()), 0
    for one, other in zip(a, b, strict=True):
        if one.shape[2:] != other.shape[2:]:
            raise ValueError(
                f"patterns of {list(one.shape[2:])} and {list(other.shape[2:])} are not of the same tokens; "
                "align them first"
            )
        rows = [each.double().flatten(0, 1).transpose(0, 1) for each in (one, other)]  # [query, head, key]
        sums = sums + torch.cdist(rows[0].contiguous(), rows[1].contiguous(), p=1).sum(dim=0) / 2
        n_queries += one.shape[2]
    distances = sums / max(1, n_queries)
    n_a, n_b = a[0].shape[1], b[0].shape[1]
    pairs = (
        Match(Head(*divmod(int(i), n_a)), Head(*divmod(int(j), n_b)), float(distances[i, j]))
        for i, j in zip(*linear_sum_assignment(distances.numpy()), strict=True)
    )
    return Matching(distances, tuple(pairs), len(a))


def match_sides(
    a: Side, b: Side, stack: str, texts: Sequence[str] = (), *, progress: Progress = lambda share: None
) -> Matching:
    """Matches the heads of a stack, such as "encoder.self", by what both do on the same texts.

    texts: left out, held-out examples of what a was trained on. progress: hears which share is done, and may
    raise to end it. Raises ValueError where there are none, where a side cannot read one, or has no such
    stack.
    """
    readings = [(replace(a, text=text).read(), replace(b, text=text).read()) for text in texts[:MOST_TEXTS]]
    readings = readings or _references(a, b)
    patterns: tuple[list[Tensor], list[Tensor]] = ([], [])
    for at, pair in enumerate(readings):
        progress(at / len(readings))
        for mine, each in zip(patterns, _patterns((a, b), pair, stack), strict=True):
            mine.append(each)
    progress(1.0)
    matches, of = match_heads(*patterns), [each.reader.attention(stack).layers for each in (a, b)]
    numbered = [
        Match(Head(of[0][m.a.layer], m.a.head), Head(of[1][m.b.layer], m.b.head), m.distance)
        for m in matches.pairs
    ]
    return replace(matches, pairs=tuple(numbered))


def _references(a: Side, b: Side) -> list[tuple[Reading, Reading]]:
    readings = a.reader.references()
    if not readings or not one_vocabulary(a.reader, b.reader):
        why = (
            "brings no reference texts" if not readings else f"has another vocabulary than {b.reader.name!r}"
        )
        raise ValueError(f"{a.reader.name!r} {why}; give texts to match the heads by")
    return [(reading, reading) for reading in readings]


def _patterns(
    sides: tuple[Side, Side], readings: tuple[Reading, Reading], stack: str
) -> tuple[Tensor, Tensor]:
    """The patterns of a stack on the places of both readings, of the queries that both have; 0 at gaps."""
    side, _, kind = stack.partition(".")
    whole = []
    for each, reading in zip(sides, readings, strict=True):
        trace = each.trace(reading, reduce=lambda at, x: x if at.endswith(f".{kind}.pattern") else None)
        layers = [trace[at] for at in trace if at.startswith(f"{side}.")]
        if not layers:
            raise ValueError(f"{each.reader.name!r} has no attention {stack!r}; choose one that both have")
        whole.append(torch.stack(layers))
    if readings[0] is readings[1]:
        return whole[0], whole[1]
    aligned, _ = align_sides(sides, readings)
    key_side = sides_of(stack)[1]
    if side not in aligned or key_side not in aligned:
        raise ValueError(
            f"the tokens of {stack!r} are not aligned on {sides[0].text[:40]!r}; give other texts"
        )
    queries, keys = aligned[side], aligned[key_side]
    rows = torch.tensor(queries.both, dtype=torch.long)
    a, b = (
        torch.stack([on_places(layer, queries, keys, at)[:, rows].nan_to_num(0) for layer in layers])
        for at, layers in enumerate(whole)
    )
    return a, b
