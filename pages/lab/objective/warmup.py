"""The learning rate of every step: the paper's, and what it is compared with."""

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.config import Norm
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.objective.inputs import MODEL, NORMS, OTHER, TARGET, Inputs
from attention_lab.pages.lab.objective.toy import BETAS, Adam, Run, Setup, train
from attention_lab.pages.shared import cache
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Panel, Scrub
from attention_lab.viz_core.labels import decimal

Steps = Float[Tensor, " step"]
Warmups = Float[Tensor, "warmup *_"]
Rates = Float[Tensor, "warmup step"]
WARMUPS = torch.tensor([round(4_000 * 2 ** (i / 8)) for i in range(-24, 17)], dtype=torch.float64)
"""Eight for each doubling, from 500 to 16,000; 4,000 is the paper's."""


def paper(d_model: int, warmups: Warmups, steps: Steps) -> Rates:
    """d_model^-0.5 min(step^-0.5, step * warmup^-1.5), steps from 1 (Vaswani et al. 2017, equation 3)."""
    return d_model**-0.5 * torch.minimum(steps**-0.5, steps * warmups[:, None] ** -1.5)


def peak(d_model: int, warmups: Warmups) -> Warmups:
    """Its largest value, (d_model * warmup)^-0.5: at step = warmup both of its terms are the same."""
    return (d_model * warmups) ** -0.5


def cosine(d_model: int, warmups: Warmups, steps: Steps, total: int) -> Rates:
    """The same rise to the same peak, then half a cosine down to 0 at `total` (Loshchilov and Hutter 2017).

    Where the warm-up takes `total` steps or more, only the rise is left.
    """
    warmup = warmups[:, None]
    progress = ((steps - warmup) / (total - warmup).clamp(min=1)).clamp(0, 1)
    return peak(d_model, warmup) * torch.minimum(steps / warmup, 0.5 * (1 + (torch.pi * progress).cos()))


def ramp(warmup: int, n_steps: int) -> Steps:
    """The share of the full rate at steps 1 to n_steps: step / warmup, then 1."""
    return (torch.arange(1, n_steps + 1) / warmup).clamp(max=1)


def grid(total: int, n_points: int = 160) -> Steps:
    """Steps 1 to `total`, evenly spread, and among them every peak that a warm-up can have."""
    even = torch.linspace(1, total, n_points, dtype=torch.float64).round()
    return torch.cat([even, WARMUPS[total >= WARMUPS]]).unique()


N_NOISY = 2_000  # weights


def noise_directions(betas: tuple[float, float], n_steps: int, *, seed: int) -> Steps:
    """Mean size of Adam's direction, m-hat / sqrt(v-hat), where gradients are nothing but normal noise.

    It is 1 at step 1, where both means know one gradient. In the end it is near sqrt((1 - beta1) /
    (1 + beta1)) times sqrt(2 / pi), the mean size of a normal number, because m averages what cancels (Ma
    and Yarats 2021: why Adam needs a warm-up).
    """
    generator = torch.Generator().manual_seed(seed)
    adam = Adam(torch.zeros(N_NOISY), betas)
    sizes = [adam.direction(torch.randn(N_NOISY, generator=generator)).abs().mean() for _ in range(n_steps)]
    return torch.stack(sizes)


STEPS, WARMUP, RATE, N_LAYERS = 30, 15, 0.03, 2


class Trial(NamedTuple):
    """Both reach the same learning rate: one in 15 steps, one at once."""

    with_warmup: Run
    without: Run


def trial(norm: Norm, *, seed: int) -> Trial:
    """Trains 2 layers a stack, 30 steps, at rate 0.03; post-norm needs the warm-up (Xiong et al. 2020, 3)."""
    at_once = Setup(steps=STEPS, learning_rate=RATE, seed=seed, n_layers=N_LAYERS, norm=norm)
    return Trial(train(replace(at_once, warmup=WARMUP)), train(at_once))


NOISE_STEPS = 60


@cache.kept(cache.results, 20_000)
def tried(norm: str, seed: int) -> Trial:
    """Both runs, remembered: no other control of this part changes them."""
    return trial(cast("Norm", norm), seed=seed)


def lesson(inputs: Inputs) -> Lesson:
    warmups, steps, total = WARMUPS, grid(inputs.total), inputs.total
    rates = 1_000 * paper(inputs.d_model, warmups, steps)  # [warm-up, step]
    cosines = 1_000 * cosine(inputs.d_model, warmups, steps, total)
    peaks, last = 1_000 * peak(inputs.d_model, warmups), rates[:, -1]
    runs = tried(inputs.norm, inputs.seed)
    warmed, at_once = (run.loss[-1].item() for run in runs)
    return Lesson(
        numbers={"norm": NORMS[inputs.norm].lower(), "warmup": WARMUP},
        rows=[
            _schedules(rates, cosines, steps),
            [
                Facts.of(
                    Fact("peak, at the last step of warm-up", peaks.numpy(), 3, "× 10⁻³", MODEL),
                    Fact("rate at step 1", 1_000 * rates[:, 0].numpy(), 3, "× 10⁻⁶"),
                    Fact(f"rate at step {total:,}", last.numpy(), 3, "× 10⁻³"),
                )
            ],
            _toy(inputs.seed, runs),
        ],
        notice=[
            (
                f"Peak: **{highest:.3f} × 10⁻³** at step **{warmup:,.0f}**."
                if warmup <= total
                else f"At step **{total:,}**, the last, the rate is **{end:.3f} × 10⁻³** and still rising."
            )
            + f" Without warm-up the toy ends at **{at_once:.3f}** nats, "
            f"with {WARMUP} steps at **{warmed:.3f}**."
            for warmup, highest, end in zip(warmups.tolist(), peaks.tolist(), last.tolist(), strict=True)
        ],
        scrub=Scrub(
            "warmup", "warm-up steps", warmups.numpy().astype(int),
            [f"{w:,.0f}{' (the paper)' if w == 4_000 else ''}" for w in warmups.tolist()],
        ),
        sizes=rf"d_{{model}} = {inputs.d_model},\; d_{{model}}^{{-1/2}} = {inputs.d_model**-0.5:.4f},\; "
        rf"\beta = {BETAS}",
        axes={
            "warm-up": len(rates), "step": len(steps), "weight": 2_000,
            "step of the toy": len(runs.without.loss),
        },
        code=(paper, peak, cosine, Adam, noise_directions, trial, train),
    )  # fmt: skip


def _schedules(rates: Tensor, cosines: Tensor, steps: Tensor) -> list[Panel]:
    """The same twice; on logarithmic axes both of its powers of the step are straight lines."""
    both: dict[str, Any] = {
        "x": steps.numpy(), "at": np.minimum(WARMUPS.numpy(), steps[-1].item()), "x_label": "step",
        "y_label": "rate, thousandths",
        "lines": [
            Line(rates.numpy(), "the paper's", MODEL),
            Line(cosines.numpy(), "same warm-up, then cosine", TARGET, dashed=True),
        ],
    }  # fmt: skip
    ends = rates.min().item(), 1.1 * rates.max().item()
    return [
        Curves(title="learning rate", **both),
        Curves(title="the same, axes logarithmic", log_x=True, log_y=True, y_range=ends, **both),
    ]


def _toy(seed: int, runs: Trial) -> list[Panel]:
    """Adam's steps where gradients are noise, and the losses of the toy, each with a warm-up and without."""

    def both(at_once: Tensor, warmed: Tensor) -> list[Line]:
        name = f"{WARMUP} steps of warm-up"
        return [Line(at_once.numpy(), "full rate at once", OTHER), Line(warmed.numpy(), name, MODEL)]

    sizes, top = noise_directions(BETAS, NOISE_STEPS, seed=seed), max(run.loss.max().item() for run in runs)
    return [
        Curves(
            x=np.arange(1, NOISE_STEPS + 1), title="size of Adam's step where gradients are noise alone",
            x_label="step", y_label="learning rates", y_range=(0, 1.05),
            lines=both(sizes, ramp(WARMUP, NOISE_STEPS) * sizes),
        ),
        Curves(
            x=np.array(runs.without.steps), title=f"loss of the toy, rate {RATE}", x_label="training step",
            y_label="nats", y_range=(0, 1.05 * top), lines=both(runs.without.loss, runs.with_warmup.loss),
        ),
    ]  # fmt: skip


def questions() -> tuple[Answer, ...]:
    four = torch.tensor([1_000.0, 4_000.0], dtype=torch.float64)
    peaks = peak(512, four)
    ratio = (peaks[1] / peaks[0]).item()
    sizes = noise_directions(BETAS, NOISE_STEPS, seed=0)
    post, pre = tried("post", 0), tried("pre", 0)
    lost = [(one.without.loss[-1] - one.with_warmup.loss[-1]).item() for one in (post, pre)]
    later = paper(512, four[1:], torch.tensor([16_000.0], dtype=torch.float64)).item()
    return (
        Answer.of(int(np.abs(np.array([0.25, 0.5, 1.0]) - ratio).argmin()), peaks=peaks, later=later),
        Answer.of(0 if sizes[0] > 0.99 else 1, later_size=sizes[-1], sizes=sizes, noise_steps=NOISE_STEPS),
        Answer.of(
            2 if lost[1] < 0.02 < lost[0] else 1 if abs(lost[1] - lost[0]) < 0.02 else 0,
            pre_gain=decimal(lost[1], 3),
            post_gain=decimal(lost[0], 3),
        ),
    )


CONTROLS = ("d_model", "total", "norm", "seed", Note("Norm and seed train the toy anew."))
PART = part(__name__, CONTROLS, lesson, questions, scrub="warmup")
