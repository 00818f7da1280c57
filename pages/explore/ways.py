"""Which way an answer comes about: what each part of the stream gives to a logit, and what one head does
through another alone.
"""

from __future__ import annotations

from typing import Any, get_args

import torch

from models.interventions.direct import parts_of_logits
from models.interventions.path import FeedForward, path
from models.interventions.target import Target
from pages.explore.subject import Subject, shown

PASSES = {"parts": 1, "path": 8}
"""How many passes each takes."""
TOP = 8


def parts(subject: Subject, line: str) -> dict[str, Any]:
    """What each part adds to a logit, or to the difference of two, the largest first, and their sum.

    Raises ValueError for another target, and for a model whose logits are no sum of parts.
    """
    target = Target.read(line)
    if target.kind not in ("logit of", "logits"):
        raise ValueError(f"{line} is no sum of parts; choose a logit, or a difference of two.")
    model: Any = subject.model
    found = parts_of_logits(model, subject.reading, target.at)
    columns = found.values.double()
    values = columns[:, target.outputs[0]]
    if target.kind == "logits":
        values = values - columns[:, target.outputs[1]]
    order = values.abs().argsort(descending=True, stable=True).tolist()
    return {
        "parts": [[found.names[at], float(f"{float(values[at]):.6g}")] for at in order],
        "before": float(f"{float(values.sum()):.6g}"),
    }


def path_patched(
    subject: Subject, sender: str, change: str, receiver: str, through: str, step: int
) -> dict[str, Any]:
    """The probabilities of the likeliest outputs at a step: as they are; where a change of the sending head
    is heard by what the receiving one reads alone, with feed-forward layers recomputed and with them frozen;
    and where all hear it. Raises ValueError as `path` does.
    """
    model: Any = subject.model
    edit = f"{sender}: {change}"
    settings = subject.inputs.reading
    ways: tuple[FeedForward, ...] = get_args(FeedForward)
    heard = [
        path(
            model, subject.reading, edit, receiver, through=tuple(through), feed_forward=way, **settings
        )
        for way in ways
    ]  # fmt: skip
    only = lambda address, x: x if address == "logits" else None  # noqa: E731
    plain = model.trace(subject.reading, reduce=only)
    whole = model.trace(subject.reading, reduce=only, edits=[edit], **settings)
    logits = [trace["logits"] for trace in (plain, *heard, whole)]
    at = max(0, min(step, len(logits[0]) - 1))
    count = len(subject.names)
    before, *others = each = [rows[at, :count].double().softmax(-1) for rows in logits]
    most = torch.stack(each).amax(0).topk(min(TOP, count)).indices.tolist()
    nats = [float((before * (before.log() - after.log())).nan_to_num(0).sum()) for after in others]
    return {
        "title": f"{edit} through {' and '.join(through)} of {receiver}",
        "outputs": [[shown(subject.names[i]), *(float(f"{float(p[i]):.6g}") for p in each)] for i in most],
        "kl": [float(f"{max(0.0, each):.6g}") for each in nats],
    }
