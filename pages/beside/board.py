"""Two sides on a board: a head of each and their difference, all heads as a map, outputs, a knob's strip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attention_lab.models.contrast import Aligned
from attention_lab.pages.beside.two_sides import Comparison, Head
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Board, Fact, Facts, Matrix, Panel, Scrub
from attention_lab.viz_core.labels import visible

PLACE = "place"
"""The page's input that a press on the map sets: the layer and the head."""
GAP = "no such token"
SIGNS = "Grey cells are gaps: ≠ another token, – none."
LEAST = 0.005
STEP = "step"
"""What the strip has of a run."""
MOST_OUTPUTS = 6


@dataclass(frozen=True)
class Selection:
    """What is looked at. heads: of a and of b. at: the place of the outputs; None where they differ most.
    called: what the two sides are, in a few words. compares: whether heads of one pass are compared, so that
    the map chooses the second.
    """

    heads: tuple[Head, Head]
    called: tuple[str, str]
    at: int | None = None
    label: str = ""
    compares: bool = False


def board_of(comparison: Comparison, selection: Selection) -> Board:
    """The board; where a knob has several values, one scrubs through them."""
    queries, keys = comparison.frames[0].places(selection.heads[0][0])
    a, b = (
        np.stack([each.laid(side, selection.heads[side]) for each in comparison.frames]) for side in (0, 1)
    )
    outputs = [] if selection.compares else _outputs(comparison, selection)
    rows: list[list[Panel]] = [
        _heads(comparison, selection, (a, b), (queries, keys)),
        [_map(comparison, selection), *outputs, _facts(comparison, selection)],
    ]
    sides = [("on side A", "on side B")] * len(comparison.frames)
    if selection.label == STEP and comparison.names:
        sides = [(f"at {selection.called[0]}", f"at {STEP} {name}") for name in comparison.names]
    notices = [notice(one, other, queries, keys, at) for one, other, at in zip(a, b, sides, strict=True)]
    if not comparison.names:
        return Board(rows=rows, notice=notices[0])
    # the head at all values at once, as small pictures: a press shows that value large
    rows.append(
        [
            Matrix(
                values=values.astype(np.float16), title=name, scale="weights", small=True, frame=at, gap=GAP,
                row_axis="query", column_axis="key",
            )
            for at, (name, values) in enumerate(zip(comparison.names, b, strict=True))
        ]
    )  # fmt: skip
    values = np.arange(len(comparison.names), dtype=np.float64)
    scrub = Scrub(field="frame", label=selection.label, values=values, words=list(comparison.names), speed=2)
    return Board(rows=rows, notice=notices, scrub=scrub)


def on_one_grid(comparison: Comparison, stack: str) -> Comparison:
    """The same where all frames have the same places in a stack; else the frame to begin with alone: with
    another order of words the model writes another answer.
    """
    if len({tuple(map(len, each.places(stack))) for each in comparison.frames}) == 1:
        return comparison
    return Comparison((comparison.frames[comparison.first],), matches=comparison.matches)


def _heads(
    comparison: Comparison,
    selection: Selection,
    patterns: tuple[np.ndarray, np.ndarray],
    places: tuple[Aligned, Aligned],
) -> list[Panel]:
    """The three matrices, on the same places."""
    moves = bool(comparison.names)
    a, b = patterns
    matrices = [a[0], b if moves else b[0], b - a[:1] if moves else (b - a)[0]]
    titles = [
        f"{name}: {selection.called[side]}, layer {head[1]} head {head[2]}"
        for side, (name, head) in enumerate(zip("AB", selection.heads, strict=True))
    ]
    if moves and selection.heads[0] == selection.heads[1]:
        titles[1] = f"B: {selection.called[1]}, the same head"
    finite = np.abs(matrices[2][np.isfinite(matrices[2])])
    reach = max(20 * LEAST, float(finite.max(initial=0)))  # what does not count as moving stays pale
    panels: list[Panel] = []
    for at, (values, title) in enumerate(zip(matrices, [*titles, "B − A"], strict=True)):
        rows, columns = (labels(each, at) for each in places)
        panels.append(
            Matrix(
                values=values.astype(np.float32), title=title, rows=rows, columns=columns, row_axis="query",
                column_axis="key", scale="signed" if at == 2 else "weights", picture=True, gap=GAP,
                reach=reach if at == 2 else None, together=("A", "B", "B − A")[at], named=len(rows) <= 24,
            )
        )  # fmt: skip
    return panels


def labels(places: Aligned, panel: int) -> list[str]:
    """Names of the places in the panel of a, of b, or of the difference: a sign before what is not the same,
    and another where there is no such token.
    """
    a, b = distinct(places.tokens_a), distinct(places.tokens_b)
    names = []
    for at, (i, j) in enumerate(places.pairs):
        own = (i, j, 0)[panel]
        name = (b if panel == 1 or i is None else a)[at]
        names.append("–" if own is None else name if places.same[at] else f"≠{name}")
    return names


def _map(comparison: Comparison, selection: Selection) -> Matrix:
    """How far each head moved, or, of one pass, how far each is from the first of the two."""
    first, second = selection.heads
    stack = first[0]
    distances = [
        each.apart(first) if selection.compares else each.distances(stack) for each in comparison.frames
    ]
    shape = tuple(np.max([each.shape for each in distances], axis=0))
    values = np.full((len(distances), *shape), np.nan, np.float32)
    for room, each in zip(values, distances, strict=True):
        room[: each.shape[0], : each.shape[1]] = each
    marked = np.zeros(shape, bool)
    _, layer, head = second if selection.compares else first
    if layer < shape[0] and head < shape[1]:
        marked[layer, head] = True
    title = "distance to the first head" if selection.compares else "how far each head moved"
    title = "distance to its partner" if comparison.matches else title
    return Matrix(
        values=values if comparison.names else values[0], title=f"{title}: press one",
        rows=[f"layer {at}" for at in range(shape[0])], columns=[str(at) for at in range(shape[1])],
        row_axis="layer", column_axis="head", scale="weights", choose=PLACE, marked=marked,
        gap="no such head", digits=2 if np.nanmax(values) >= 10 * LEAST else 4,
    )  # fmt: skip


def place_of(comparison: Comparison, at: int | None) -> int | None:
    """The place whose outputs are shown: the chosen one, or where they differ most; None without outputs."""
    known = [each.outputs for each in comparison.frames if each.outputs is not None]
    if len(known) < len(comparison.frames) or not known or len({each.tokens for each in known}) > 1:
        return None
    n = len(known[0].tokens)
    if at is not None and 0 <= at < n:
        return at
    total = np.sum([np.nan_to_num(each.kl) for each in known], axis=0)
    return int(total.argmax()) if total.any() else n - 1


def _outputs(comparison: Comparison, selection: Selection) -> list[Panel]:
    """The likeliest outputs of both sides at one place, as a table of probabilities."""
    place = place_of(comparison, selection.at)
    if place is None:
        return []
    tops = [
        {name: (a, b) for name, a, b in each.outputs.top[place]} for each in comparison.frames if each.outputs
    ]
    first = {name: a for top in tops for name, (a, _) in top.items()}  # of side A, which is the same in all
    best: dict[str, float] = {}
    for top in tops:
        for name, both in top.items():
            best[name] = max(best.get(name, 0.0), *(value or 0.0 for value in both))
    likely = [name for name in best if best[name] >= LEAST] or list(best)
    most = MOST_OUTPUTS // 2 if comparison.names else MOST_OUTPUTS  # the strip needs room, too
    names = sorted(likely, key=lambda name: -best[name])[:most]
    table = [[top.get(name, (first[name], None)) for name in names] for top in tops]
    values = np.array(table, dtype=np.float32)  # None becomes NaN
    assert comparison.frames[0].outputs is not None
    return [
        Matrix(
            values=values if comparison.names else values[0],
            title=f"outputs after {token_words(comparison.frames[0].outputs.tokens[place])}",
            rows=[visible(name) for name in names], columns=["A", "B"], row_axis="output", column_axis="side",
            scale="weights", digits=3, gap="not among its likeliest",
        )
    ]  # fmt: skip


def token_words(tokens: tuple[str, str]) -> str:
    """The token of a place, or both where they differ."""
    a, b = (visible(token) for token in tokens)
    if tokens == ("", ""):
        return "the whole text"
    return f"“{a}”" if tokens[0] == tokens[1] else f"“{a}” | “{b}”"


def _facts(comparison: Comparison, selection: Selection) -> Facts:
    """How far the head moved, by how much the outputs differ, and which head moved most."""
    first, second = selection.heads

    def framed(values: list[float]) -> np.ndarray:
        numbers = np.array(values, dtype=np.float32)
        return numbers if comparison.names else np.asarray(numbers[0])

    moved = []
    for each in comparison.frames:
        distances, (_, layer, number) = each.apart(first), each.counterpart(second)
        inside = layer < distances.shape[0] and number < distances.shape[1]
        moved.append(float(distances[layer, number]) if inside else np.nan)
    facts = [Fact(label="the two heads differ by", values=framed(moved), unit="of their weight")]
    place = place_of(comparison, selection.at)
    if place is not None and not selection.compares:
        kl = [each.outputs.kl[place] for each in comparison.frames if each.outputs]
        if not np.isnan(kl).all():
            facts.append(Fact(label="KL(A ‖ B) of the outputs", values=framed(kl), unit="nats", digits=3))
    return Facts(facts=facts)


def notice(
    a: np.ndarray,
    b: np.ndarray,
    queries: Aligned,
    keys: Aligned,
    sides: tuple[str, str] = ("on side A", "on side B"),
) -> str:
    """The query that moved most and where it looked on either side; tokens are called as on the axes."""
    both = [at for at in queries.both if np.isfinite(a[at]).any() and np.isfinite(b[at]).any()]
    if not both:
        return "No query is on both sides: nothing can be compared."
    moved = [np.abs(np.nan_to_num(a[at]) - np.nan_to_num(b[at])).sum() / 2 for at in both]
    most = both[int(np.argmax(moved))]
    name = token_words((distinct(queries.tokens_a)[most], distinct(queries.tokens_b)[most]))
    if max(moved) < LEAST:
        return f"**Nothing moves** by {LEAST} or more."
    at = [int(np.nanargmax(row)) for row in (a[most], b[most])]
    one, other = visible(distinct(keys.tokens_a)[at[0]]), visible(distinct(keys.tokens_b)[at[1]])
    return (
        f"**{name}** {'moves most, and looks' if one == other else 'looks'} at “{one}” "
        f"({a[most][at[0]]:.3f}) {sides[0]}, at “{other}” ({b[most][at[1]]:.3f}) {sides[1]}."
    )
