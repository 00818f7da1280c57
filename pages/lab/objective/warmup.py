"""The paper's learning rate, step by step, and what the warm-up at its start is for."""

import numpy as np
import torch
from torch import Tensor

from models.lessons.objective import adam, schedule, training, warmup
from models.lessons.objective.schedule import WARMUPS
from models.lessons.objective.warmup import Trial
from pages.lab.controls import Note
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.objective import warmup_board
from pages.lab.objective.inputs import MODEL, NORMS, TARGET, Inputs
from viz_core.boards import Board, Curves, Fact, Facts, Line, Panel, Scrub
from viz_core.labels import decimal

USUAL = {"warmup": 4_000, "d_model": 512, "norm": "post"}
TRIES = (
    Try("1,000 steps of warm-up", USUAL | {"warmup": 1_000}),
    Try("a big model: d_model = 1,024", USUAL | {"d_model": 1_024}),
    Try("pre-norm: is it needed?", USUAL | {"norm": "pre"}),
)


def lesson(inputs: Inputs) -> Lesson:
    warmups, steps = schedule.WARMUPS, schedule.grid(inputs.total)
    rates = schedule.paper(inputs.d_model, warmups, steps)  # [warm-up, step]
    cosines = schedule.cosine(inputs.d_model, warmups, steps, inputs.total)
    peaks = schedule.peak(inputs.d_model, warmups)
    tried = warmup_board.tried(inputs.norm, inputs.seed)
    return Lesson(
        see="Above is the paper's learning rate: it rises in a straight line, then falls as one over the "
        "root of the step; **drag the slider**. Below is why it begins small: what Adam does at first, "
        f"and the toy of the first part, two layers deep, with **{NORMS[inputs.norm].lower()}**, trained "
        f"here without a warm-up and with one of {warmup.WARMUP} steps.",
        board=Board(
            rows=[
                _schedules(1_000 * rates, 1_000 * cosines, steps),
                [_facts(inputs, 1_000 * peaks, 1_000 * rates)],
                [warmup_board.directions(inputs.seed), warmup_board.losses(tried)],
            ],
            notice=_notices(inputs.total, 1_000 * peaks, 1_000 * rates, tried),
            scrub=Scrub(
                field="warmup", label="warm-up steps", values=warmups.numpy().astype(int),
                words=[f"{w:,.0f}{' (the paper)' if w == 4_000 else ''}" for w in warmups.tolist()],
            ),
        ),
        formula=r"\begin{gathered}\mathrm{lrate} = d_{model}^{-1/2}\cdot\min\!\left("
        r"\mathrm{step}^{-1/2},\; \mathrm{step}\cdot\mathrm{warmup}^{-3/2}\right) \\ "
        r"\mathrm{peak} = (d_{model}\cdot\mathrm{warmup})^{-1/2}\end{gathered}",
        sizes=rf"d_{{model}} = {inputs.d_model},\; d_{{model}}^{{-1/2}} = {inputs.d_model**-0.5:.4f},\; "
        rf"\beta = {adam.BETAS}",
        shapes=(
            Shape(r"\mathrm{lrate}", "warm-up, step", tuple(rates.shape)),
            Shape(r"\hat m,\;\hat v", "weight", (2_000,)),
            Shape(r"\text{loss}", "step", tuple(tried.without.loss.shape)),
        ),
        code=(
            schedule.paper, schedule.peak, schedule.cosine, adam.Adam, schedule.noise_directions,
            warmup.trial, training.train,
        ),
    )  # fmt: skip


def _schedules(rates: Tensor, cosines: Tensor, steps: Tensor) -> list[Panel]:
    """The same twice; on logarithmic axes both of its powers of the step are straight lines."""
    x, at = steps.numpy(), np.minimum(WARMUPS.numpy(), steps[-1].item())
    lines = [
        Line(y=rates.numpy(), name="the paper's", colour=MODEL),
        Line(y=cosines.numpy(), name="same warm-up, then cosine", colour=TARGET, dashed=True),
    ]
    scales: tuple[tuple[str, bool], ...] = (("learning rate", False), ("the same, axes logarithmic", True))
    return [
        Curves(
            x=x, at=at, lines=lines, title=title, x_label="step", y_label="rate, thousandths",
            log_x=log, log_y=log, y_range=(rates.min().item(), 1.1 * rates.max().item()) if log else None,
        )
        for title, log in scales
    ]  # fmt: skip


def _facts(inputs: Inputs, peaks: Tensor, rates: Tensor) -> Panel:
    unit = "× 10⁻³"
    return Facts(
        facts=[
            Fact(label="peak, at the last step of warm-up", values=peaks.numpy(), digits=3, unit=unit,
                 colour=MODEL),
            Fact(label="rate at step 1", values=1_000 * rates[:, 0].numpy(), digits=3, unit="× 10⁻⁶"),
            Fact(label=f"rate at step {inputs.total:,}", values=rates[:, -1].numpy(), digits=3, unit=unit),
        ],
    )  # fmt: skip


def _notices(total: int, peaks: Tensor, rates: Tensor, tried: Trial) -> list[str]:
    ends = [run.loss[-1].item() for run in tried]
    return [
        (
            f"The peak is **{peak:.3f} × 10⁻³** at step **{warmup:,.0f}**."
            if warmup <= total
            else f"At step **{total:,}**, the last, the rate is **{last:.3f} × 10⁻³** and still rising."
        )
        + f" Without warm-up the toy's loss ends at **{ends[1]:.3f}**, with it at **{ends[0]:.3f}** nats."
        for warmup, peak, last in zip(WARMUPS.tolist(), peaks.tolist(), rates[:, -1].tolist(), strict=True)
    ]


def questions() -> tuple[Question, ...]:
    four = torch.tensor([1_000.0, 4_000.0], dtype=torch.float64)
    peaks = schedule.peak(512, four)
    ratio = (peaks[1] / peaks[0]).item()
    sizes = schedule.noise_directions(adam.BETAS, warmup_board.NOISE_STEPS, seed=0)
    post, pre = warmup_board.tried("post", 0), warmup_board.tried("pre", 0)
    lost = [(one.without.loss[-1] - one.with_warmup.loss[-1]).item() for one in (post, pre)]
    later = schedule.paper(512, four[1:], torch.tensor([16_000.0], dtype=torch.float64)).item()
    return (
        Question(
            "The warm-up takes four times as many steps. How high is the peak then?",
            ("A quarter as high", "Half as high", "As high as before"),
            int(np.abs(np.array([0.25, 0.5, 1.0]) - ratio).argmin()),
            f"It goes from {peaks[0]:.6f} to {peaks[1]:.6f}: (d_model · warm-up)^−1/2. After the peak the "
            f"rate halves once the step is four times as large: {later:.6f} at step 16,000.",
        ),
        Question(
            "How far does Adam's very first step move a weight whose gradient is only noise?",
            ("By the whole learning rate", f"By {sizes[-1]:.2f} of it, as later", "Not at all"),
            0 if sizes[0] > 0.99 else 1,
            f"|m̂/√v̂| = {sizes[0]:.2f}: both come from one and the same gradient. At step "
            f"{warmup_board.NOISE_STEPS} it is {sizes[-1]:.2f}, because noise cancels in the mean.",
        ),
        Question(
            "The toy's norms go before its sub-layers (pre-norm). How much does a warm-up gain then?",
            ("More than with post-norm", "As much", "Nearly nothing"),
            2 if lost[1] < 0.02 < lost[0] else 1 if abs(lost[1] - lost[0]) < 0.02 else 0,
            f"{decimal(lost[1], 3)} nats of the last loss, against {decimal(lost[0], 3)} with post-norm. "
            "Xiong et al. 2020 and the page Block say why.",
        ),
    )


PART = Part(
    "warmup", "Warm-up", ("d_model", "total", "norm", "seed", Note("Norm and seed train the toy anew.")),
    lesson, TRIES, questions, scrub="warmup",
)  # fmt: skip
