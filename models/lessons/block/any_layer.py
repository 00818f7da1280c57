"""A layer of any model, point by point, as far as a trace of the model knows its points."""

import torch

from models.data.tasks import Reading
from models.lessons.block.flow import Point, Vectors, Walk
from models.zoo.model import Model

_ORDER = (
    ("stream", "resid_pre"), ("attention", "self.out"), ("add", "resid_self"), ("cross", "cross.out"),
    ("add", "resid_cross"), ("feed-forward", "ff.out"), ("leaves", "resid_post"),
)  # fmt: skip
WRITES = ("attention", "cross", "feed-forward")
"""The kinds of points that are written onto the stream."""


def of_model(model: Model, reading: Reading, layer: str) -> Walk:
    """The points that a trace holds of a layer, such as "decoder.0", in the order of computation.

    Norms are not among them. Raises ValueError for a model whose stream is not known.
    """
    wanted = {f"{layer}.{name}" for _, name in _ORDER} | {f"{layer}.ff.post"}
    trace = model.trace(reading, reduce=lambda address, x: x if address in wanted else None)
    kept = {address.removeprefix(f"{layer}."): trace[address] for address in trace}
    points = [Point(kind, kept[name].float()) for kind, name in _ORDER if name in kept]
    if not {"resid_pre", "resid_post"} <= kept.keys():
        raise ValueError(f"the stream of {model.name!r} is not known; choose another model")
    hidden = kept.get("ff.post")
    if hidden is not None and len(hidden) != len(points[0].x):  # experts that read some tokens each
        hidden = None
    return Walk(points, hidden)


def summed(walked: Walk) -> Vectors:
    """What enters and all that the layer writes, added up: what leaves, where no norm is on the stream."""
    return torch.stack([p.x for p in walked.points if p.kind in ("stream", *WRITES)]).sum(dim=0)


def is_sum(walked: Walk) -> bool:
    """Whether what leaves is that sum, but for rounding."""
    left = walked.points[-1].x
    return bool((summed(walked) - left).norm() <= 1e-3 * left.norm())
