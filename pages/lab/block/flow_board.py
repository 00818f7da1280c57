"""A layer as a diagram whose boxes are the points of a walk, and what to notice at each."""

import numpy as np

from models import ModelConfig
from models.lessons.block.flow import Vectors, Walk, mean_length, share_of_zeros, token_statistics
from pages.shared.wording import distinct, numbered
from viz_core.boards import Diagram, Matrix, Node

LABELS = {
    "stream": "x enters", "norm": "norm", "attention": "attention", "add": "add",
    "feed-forward": "feed-forward", "cross": "cross-attention", "leaves": "x leaves",
}  # fmt: skip
STREAM, BRANCH = 1, 0
MOST_CHANNELS = 128


def names(walked: Walk) -> list[str]:
    """A name for each point: attention, add 1, norm 2."""
    return numbered([LABELS[point.kind] for point in walked.points])


def diagram(walked: Walk, rows: list[int]) -> Diagram:
    """The stream below, what is computed from it above; the present point is lit, a press leads to others."""
    n = len(walked.points)
    nodes = [
        Node(
            id=str(at), label=name, note=f"‖x‖ = {mean_length(point.x):.1f}", column=at, row=rows[at],
            frame=at,
        )
        for at, (name, point) in enumerate(zip(names(walked), walked.points, strict=True))
    ]  # fmt: skip
    return Diagram(
        nodes=nodes,
        edges=[(str(at), str(to)) for at, to in _edges(walked, rows)],
        levels=np.where(np.eye(n, dtype=bool), 3, 2),
    )


def rows_of(walked: Walk, config: ModelConfig) -> list[int]:
    """Branches stand above the stream; without residual there is only one line."""
    if not config.residual:
        return [BRANCH] * len(walked.points)
    branch = {"attention", "feed-forward", *(("norm",) if config.norm == "pre" else ())}
    return [BRANCH if point.kind in branch else STREAM for point in walked.points]


def _edges(walked: Walk, rows: list[int]) -> list[tuple[int, int]]:
    """Each point comes from the one before; an add also from where its branch left the stream."""
    edges, left = [], 0
    for at in range(1, len(walked.points)):
        edges.append((at - 1, at))
        if walked.points[at].kind in ("add", "leaves") and left != at - 1:
            edges.append((left, at))
        if rows[at] == STREAM:
            left = at
    return edges


def notices(walked: Walk, config: ModelConfig, entering: str) -> list[str]:
    """One sentence a point, with its numbers; `entering` says what x is."""
    later = [_notice(walked, at, config) for at in range(1, len(walked.points))]
    return [entering_notice(walked.points[0].x, entering), *later]


def entering_notice(x: Vectors, entering: str) -> str:
    return (
        f"What enters is {entering}: a vector of {x.shape[1]} channels for each token, on average "
        f"**{mean_length(x):.1f}** long. Every box to the right keeps this shape, so layers can be stacked."
    )


def _notice(walked: Walk, at: int, config: ModelConfig) -> str:
    x, kind = walked.points[at].x, walked.points[at].kind
    length = mean_length(x)
    before = mean_length(walked.points[at - 1].x)
    if kind == "norm":
        _, deviation, _ = token_statistics(x).mean(dim=0).tolist()
        lengths = x.norm(dim=-1)
        how = "each" if lengths.max() - lengths.min() < 0.1 else "on average, since its gains are trained"
        return (
            f"The norm looks at one row at a time. Rows were {before:.1f} long on average; now they have a "
            f"deviation of **{deviation:.2f}** and a length of **{length:.1f}** {how}."
        )
    if kind == "add":
        left = next(
            start for start, end in _edges(walked, rows_of(walked, config)) if end == at and start != at - 1
        )
        kept = mean_length(walked.points[left].x)
        return (
            f"The sum keeps what was there ({kept:.1f} long) and adds {before:.1f}: it is **{length:.1f}** "
            "long. A gradient passes an add unchanged, whatever the branch does to it."
        )
    alone = "" if config.residual else " Without residual, this **replaces** what came in."
    if kind == "attention":
        return (
            f"Attention is the only place where tokens exchange anything: it reads vectors {before:.1f} long "
            f"and writes vectors **{length:.1f}** long.{alone}"
        )
    zeros = share_of_zeros(walked.hidden) if walked.hidden is not None else 0.0
    return (
        f"The feed-forward treats each token alone: {x.shape[1]} → {config.ff_size} → {x.shape[1]} channels; "
        f"{config.activation} leaves **{zeros:.0%}** of the hidden layer at 0, and what is written is "
        f"**{length:.1f}** long.{alone}"
    )


def tensor(tokens: list[str], walked: Walk) -> Matrix:
    """[frame, token, channel]."""
    return _channels(
        "the tensor at this point", np.stack([point.x.numpy() for point in walked.points]), tokens, "channel"
    )


def hidden(tokens: list[str], walked: Walk, after: str) -> list[Matrix]:
    """[token, hidden unit], where it is known; `after` says what computed it."""
    if walked.hidden is None:
        return []
    title = f"the feed-forward's hidden layer, {after}"
    return [_channels(title, walked.hidden.numpy(), tokens, "hidden unit")]


def _channels(title: str, values: np.ndarray, tokens: list[str], axis: str) -> Matrix:
    n = values.shape[-1]
    cut = f", its first {MOST_CHANNELS} of {n:,} {axis}s" if n > MOST_CHANNELS else ""
    return Matrix(
        title=title + cut, values=values[..., :MOST_CHANNELS], rows=distinct(tokens), row_axis="token",
        column_axis=axis, picture=True,
    )  # fmt: skip


def statistics(tokens: list[str], walked: Walk) -> Matrix:
    """[frame, 3, token]."""
    return Matrix(
        title="each token's channels at this point",
        values=np.stack([token_statistics(point.x).T.numpy() for point in walked.points]), scale="plain",
        digits=1, rows=("mean", "deviation", "length"), columns=distinct(tokens), column_axis="token",
    )  # fmt: skip
