"""Grokking: held-out accuracy jumps long after the training data are known by heart (Nanda et al. 2023)."""

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks.modular_addition import POWERS, ModularAddition, powers
from ..fields import Field, number, whole
from ..zoo import load_model
from ..zoo.folders import SHIPPED
from .finding import BarFilm, Chart, Finding, Number, Outcome, Tell, words_of
from .sources import run_of, snapshots, validated

NAME = "grokking"
KNOWN = 0.05
"""A mean loss, in nats, below which the training pairs count as known by heart."""


def strongest(shares: Float[Tensor, " frequency"], count: int) -> float:
    """What the `count` strongest frequencies hold together."""
    return float(shares.topk(min(count, len(shares))).values.sum())


def measure(model: None, tell: Tell, *, right: float, times: float, waves: int) -> Outcome:
    """The shipped run: when the training pairs were known, when held-out ones; and what was learnt."""
    run = run_of(NAME)
    steps, scores = validated(run)
    lines = run.metrics()
    held_out = [score["exact match"] for score in scores]
    tell(0.5)
    loaded = load_model(SHIPPED / NAME)
    task = loaded.task
    assert isinstance(task, ModularAddition)
    shares = powers(loaded.model.embedding.weight.detach()[: task.modulus])
    tell(1.0)
    known = next((line["step"] for line in lines if line["loss"] < KNOWN), 0)
    understood = next((step for step, score in zip(steps, held_out, strict=True) if score >= right), 0)
    strongest_wave = strongest(shares, waves)
    ratio = understood / known if known else 0.0
    by_step = {line["step"]: line["loss"] for line in lines}
    kept, watched = snapshots(run)
    spectra = torch.stack([snapshot[POWERS] for snapshot in watched])  # [snapshot, frequency]
    return Outcome(
        numbers=(
            Number(f"step when training loss < {KNOWN:g}", known, "about 1,400", digits=0),
            Number(f"step when {right:.0%} of held-out are right", understood,
                   "about 10,000 to 14,000", digits=0),
            Number("times as many steps", ratio, "about 10", digits=1),
            Number(f"power of the embedding in {waves} of {len(shares)} frequencies", strongest_wave,
                   "5 key frequencies"),
            Number("held-out pairs right at the end", held_out[-1]),
        ),
        holds=understood > 0 and ratio >= times and strongest_wave > 0.5,
        said=(
            f"The training pairs were known by step {known:,}."
        ),
        charts=(
            Chart(
                title="held-out pairs right", x_label="step", y_label="share", x=steps,
                series={"held out": held_out}, line=(right, "asked"), log_x=True,
            ),
            Chart(
                title="loss", x_label="step", y_label="nats", x=steps, log_x=True,
                series={
                    "training": [by_step[step] for step in steps],
                    "held out": [score["loss"] for score in scores],
                },
            ),
        ),
        film=BarFilm(
            title="Fourier spectrum of the embedding", x_label="frequency", y_label="share",
            names=tuple(str(at + 1) for at in range(spectra.shape[1])), steps=tuple(kept), values=spectra,
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("grokking"),
    measure=measure,
    parameters={
        "right": Field(0.95, number(0.5, 1.0), "Held-out pairs right"),
        "times": Field(5.0, number(1.0, 20.0), "As many steps, at least"),
        "waves": Field(5, whole(1, 20), "Key frequencies"),
    },
    code=(powers, strongest, measure),
)
