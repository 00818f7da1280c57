"""What is taken away of the view over a picture: the figure, computed again from the trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.explore.state import View
from pages.explore.subject import Subject
from viz_core import attention_picture, rollout

Arrays = Callable[[Callable[[str], bool]], Mapping[str, np.ndarray]]


def figure(subject: Subject, view: View, layer: int, head: int, arrays: Arrays, *, dark: bool) -> go.Figure:
    """The weights of the position that asks, over the picture that it is a part of. arrays: of a trace."""
    places, picture = subject.model.places(), subject.reading.picture
    assert places is not None and picture is not None  # else there is no such view
    names = [token["text"] for token in subject.tokens["encoder"]]
    at = min(view.query or 0, len(names) - 1)
    row, seen_by = _row(subject, view, layer, head, at, arrays)
    asking = (places == at).nonzero()
    whole = len(asking) == 1  # a part of several pixels is not outlined
    return attention_picture(
        picture.numpy(), row[places.numpy()], query=tuple(asking[0].tolist()) if whole else None, dark=dark,
        title=f"Where “{names[at]}” looks: {seen_by}",
    )  # fmt: skip


def _row(
    subject: Subject, view: View, layer: int, head: int, at: int, arrays: Arrays
) -> tuple[np.ndarray, Any]:
    """The weights of a position, and what they are seen through."""
    if view.sight == "rolled":
        attention = subject.model.attention("encoder.self")
        attention.check_all_below(attention.layers[-1], "attention rollout")
        patterns = arrays(lambda address: address.endswith(".self.pattern"))
        return rollout(np.stack(list(patterns.values())))[-1, at], "rolled out through all layers"
    (pattern,) = arrays(lambda address: address == f"encoder.{layer}.self.pattern").values()
    if view.sight == "mean":
        return pattern.mean(axis=0)[at], f"layer {layer}, mean of its {len(pattern)} heads"
    return pattern[head, at], f"layer {layer}, head {head}"
