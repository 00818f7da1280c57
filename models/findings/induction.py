"""Induction heads: with them, late tokens are easier; one layer cannot form them (Olsson et al. 2022)."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..data.tasks import IGNORED, Batch, generator_of
from ..data.tasks.induction import Induction
from ..engine.address import Address
from ..fields import Field, number
from ..runs.folder import RunFolder
from .finding import Chart, Film, Finding, Number, Outcome, Tell, words_of
from .sources import run_of, snapshots, validated

ONE, TWO = "depth/1", "depth/2"
_GAIN = 0.4
"""Nats that late tokens are easier, in the paper."""


@dataclass(frozen=True)
class Depth:
    """A run of one depth: late minus early loss (nats) after each validated step, and its best head.

    by_set: what knowing the set of letters would gain. steps_seen, looked: the snapshots' steps, and that
    head's mean weight on what followed its letter before.
    """

    steps: list[int]
    gained: list[float]
    by_set: float
    steps_seen: list[int]
    looked: list[float]
    address: str
    head: int
    film: Tensor  # [snapshot, query, key]


def early_loss(batch: Batch, letters: int) -> float:
    """The least mean loss of the first time of those letters whose second time is asked.

    A letter that comes after i others, all different, is one of those left: ln(letters - i) nats.
    """
    n_targets = (batch.targets != IGNORED).sum(dim=1)  # the half's letters but the first
    lengths = [int(count) for count in n_targets]
    nats = [math.log(letters - at) for length in lengths for at in range(1, length + 1)]
    return sum(nats) / len(nats)


def set_loss(batch: Batch) -> float:
    """The least mean loss of the second time for whoever knows which letters were there, not their order."""
    lengths = (1 + (batch.targets != IGNORED).sum(dim=1)).tolist()  # of a half
    nats = [math.log(length - at) for length in lengths for at in range(1, length)]
    return sum(nats) / len(nats)


def looks_back(pattern: Tensor) -> Tensor:
    """Of a text read twice: each head's mean weight, the second time, on the letter after the first."""
    half = pattern.shape[-1] // 2
    queries = torch.arange(half, 2 * half)
    return pattern[:, queries, queries - half + 1].mean(dim=-1)


def depth_of(run: RunFolder) -> Depth:
    """What is to be known of a run."""
    config = run.config()
    assert isinstance(config.task, Induction)
    n = config.training.held_out
    held_out = config.task.batch(generator_of(1, 0), n, held_out=True)  # as validations draw them
    early = early_loss(held_out, config.task.letters)
    steps, scores = validated(run)
    steps_seen, patterns = snapshots(run)
    best = {address: looks_back(last) for address, last in patterns[-1].items()}
    address = max(best, key=lambda each: float(best[each].max()))
    head = int(best[address].argmax())
    film = torch.stack([snapshot[address][head] for snapshot in patterns])
    gained = [each["loss"] - early for each in scores]
    by_set = set_loss(held_out) - early
    return Depth(steps, gained, by_set, steps_seen, looks_back(film).tolist(), address, head, film)


def sudden(depth: Depth) -> tuple[float, float]:
    """The largest share of the head's last weight that comes within a tenth of the training, and the share of
    the gain that comes in the same steps; both between the measured steps as on a line.
    """
    tenth = depth.steps_seen[-1] / 10
    starts = np.linspace(0, 9 * tenth, 1_000)
    rises, falls = (
        np.interp(starts + tenth, steps, values) - np.interp(starts, steps, values)
        for steps, values in ((depth.steps_seen, depth.looked), (depth.steps, depth.gained))
    )
    at = int(rises.argmax())
    return float(rises[at]) / depth.looked[-1], float(falls[at]) / depth.gained[-1]


def above_since(steps: list[int], values: list[float], level: float) -> int | None:
    """The first of the steps from which on all values are above a level; None where the last is not."""
    below = [at for at, value in enumerate(values) if value <= level]
    first = below[-1] + 1 if below else 0
    return steps[first] if first < len(steps) else None


def measure(model: None, tell: Tell, *, weight: float) -> Outcome:
    """Both shipped runs, alike but for their depth."""
    one = depth_of(run_of(ONE))
    tell(0.5)
    two = depth_of(run_of(TWO))
    tell(1.0)
    probe = run_of(TWO).probe()
    formed = above_since(two.steps_seen, two.looked, weight)
    layer = Address.parse(two.address).layer
    rise, share = sudden(two)
    since = "" if formed is None else f", over {weight:g} since step {formed}"
    return Outcome(
        numbers=(
            Number("late minus early loss, two layers", two.gained[-1], "about −0.4 nats"),
            Number("late minus early loss, one layer", one.gained[-1]),
            Number("best head's weight on what followed, two layers", two.looked[-1]),
            Number("best head's weight on what followed, one layer", one.looked[-1]),
            Number("share of the weight that comes within a tenth of the training", rise, "“quite suddenly”"),
            Number("share of the gain in that tenth", share, "as they form"),
        ),
        holds=(
            two.looked[-1] > weight >= one.looked[-1]
            and two.gained[-1] < min(one.gained[-1], -_GAIN)
            and min(rise, share) >= 0.5
        ),
        said=(
            f"With two layers, the second reading costs {-two.gained[-1]:.2f} nats a letter less than the "
            f"first; with one layer, {-one.gained[-1]:.2f}. Knowing which letters occurred "
            f"saves up to {-one.by_set:.2f}. Layer {layer} head {two.head} puts {two.looked[-1]:.2f} on what "
            f"followed its letter before{since}."
        ),
        charts=(
            Chart(
                title="late minus early loss", x_label="step", y_label="nats", x=two.steps,
                series={"two layers": two.gained, "one layer": one.gained},
            ),
            Chart(
                title="best head: weight on what followed", x_label="step", y_label="weight",
                x=two.steps_seen, line=(weight, "asked"),
                series={"two layers": two.looked, "one layer": one.looked},
            ),
        ),
        film=Film(
            title=f"two layers, layer {layer} head {two.head}", tokens=tuple(probe["tokens"]["decoder"]),
            steps=tuple(two.steps_seen), patterns=two.film,
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("induction"),
    measure=measure,
    parameters={"weight": Field(0.5, number(0.1, 0.95), "A head looks back above")},
    code=(early_loss, looks_back, depth_of, sudden),
)
