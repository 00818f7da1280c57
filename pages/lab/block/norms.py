"""Layer norm and batch norm on the same tensor: the same formula, averaged over other axes.

Layer norm averages over the channels of one token (Ba et al. 2016, Layer Normalization, equation 3). Batch
norm averages each channel over all tokens of all sentences (Ioffe and Szegedy 2015, Batch Normalization,
algorithm 1), and takes running averages from training at evaluation (algorithm 2). Gains are 1 and biases 0,
as before training.
"""

from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.pages.lab.block.inputs import MOST_SHIFT, N_BATCHES, Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, Set, part
from attention_lab.viz_core.boards import Curves, Line, Matrix, Scrub
from attention_lab.viz_core.labels import decimal

EPS = 1e-5
MOMENTUM = 0.1
N_CHANNELS = 6
Sentences = Float[Tensor, "*frame sentence token channel"]
Axis = Literal["layer", "batch"]


class Running(NamedTuple):
    """What batch norm remembers of the batches it was trained on, for each channel."""

    mean: Float[Tensor, "channel"]
    variance: Float[Tensor, "channel"]


def normalise(x: Sentences, axis: Axis) -> Sentences:
    """(x - mean) / sqrt(variance + eps), both over channels, or over sentences and tokens."""
    over = (-1,) if axis == "layer" else (-3, -2)
    mean = x.mean(over, keepdim=True)
    variance = x.var(over, correction=0, keepdim=True)
    return (x - mean) / (variance + EPS).sqrt()


def with_running(x: Sentences, running: Running) -> Sentences:
    """Batch norm at evaluation: statistics come from training, none from x."""
    return (x - running.mean) / (running.variance + EPS).sqrt()


def trained_on(batches: Float[Tensor, "batch sentence token channel"]) -> Running:
    """Running averages after these batches, each counting a tenth; they begin at 0 and 1.

    The variance that is remembered is the unbiased one, as in algorithm 2. Raises ValueError for batches of
    one token, whose variance is not defined.
    """
    n = batches.shape[1] * batches.shape[2]
    if n < 2:
        raise ValueError("batches of 1 token have no unbiased variance; give 2 tokens or more")
    mean, variance = torch.zeros(batches.shape[-1]), torch.ones(batches.shape[-1])
    for batch in batches:
        mean = (1 - MOMENTUM) * mean + MOMENTUM * batch.mean((0, 1))
        variance = (1 - MOMENTUM) * variance + MOMENTUM * batch.var((0, 1), correction=1)
    return Running(mean, variance)


def sentences(n_sentences: int, n_tokens: int, seed: int, *, first: int = 0) -> Sentences:
    """Random vectors, each channel with a mean and a spread of its own, as on a residual stream.

    Sentence i is the same however many there are, and token t however many it has.
    """
    numbers = range(first, first + n_sentences)
    generators = (torch.Generator().manual_seed(seed + 1_000 * (number + 1)) for number in numbers)
    samples = [torch.randn(8, N_CHANNELS, generator=generator)[:n_tokens] for generator in generators]
    return torch.stack(samples) * spread(seed) + centre(seed)


def batches(n: int, seed: int) -> Float[Tensor, "{n} sentence token channel"]:
    """What batch norm was trained on: n batches of 3 sentences with 3 tokens, none of them on the page."""
    return torch.stack([sentences(3, 3, seed, first=100 + 3 * batch) for batch in range(n)])


def companions_moved(x: Sentences, shift: Float[Tensor, "frame"]) -> Float[Tensor, "frame ..."]:
    """The batch, [frame, sentence, token, channel]; every sentence but the first is moved in all channels."""
    others = torch.ones(x.shape[0], 1, 1)
    others[0] = 0
    return x + shift[:, None, None, None] * others


def averaged(shape: tuple[int, int, int], axis: Axis, token: int, channel: int) -> Bool[Tensor, "..."]:
    """[sentence, token, channel]: True for what is averaged to normalise one number of the first sentence."""
    mask = torch.zeros(shape, dtype=torch.bool)
    if axis == "layer":
        mask[0, token] = True
    else:
        mask[:, :, channel] = True
    return mask


def largest_change(results: Sentences) -> Float[Tensor, "frame"]:
    """How far the first sentence's result is from that of the first frame: the largest difference."""
    return (results - results[:1])[:, 0].abs().amax(dim=(-2, -1))


def centre(seed: int) -> Float[Tensor, "channel"]:
    return torch.randn(N_CHANNELS, generator=torch.Generator().manual_seed(seed)) * 1.5


def spread(seed: int) -> Float[Tensor, "channel"]:
    return 0.5 + 1.5 * torch.rand(N_CHANNELS, generator=torch.Generator().manual_seed(seed + 500))


CHANNEL = 2
SHIFTS = np.linspace(0, MOST_SHIFT, 21).round(2)


def lesson(inputs: Inputs) -> Lesson:
    x = _moved(inputs, SHIFTS)
    layer = normalise(x, "layer")
    running = inputs.statistics == "running"
    batch = normalise(x, "batch")
    if running:
        batch = with_running(x, trained_on(batches(N_BATCHES, inputs.seed)))
    b, t, c = x.shape[1:]
    moved, moved_by_batch = largest_change(layer).numpy(), largest_change(batch).numpy()
    by_layer, by_batch = (
        averaged((b, t, c), axis, 0, CHANNEL).flatten(0, 1).numpy() for axis in ("layer", "batch")
    )
    return Lesson(
        rows=[
            [
                _matrix("the batch", x, np.zeros((b * t, c), dtype=bool)),
                _matrix("layer norm", layer, by_layer),
                _matrix("batch norm" + ", running statistics" * running, batch, by_batch & (not running)),
            ],
            [
                Curves(
                    x=SHIFTS, at=SHIFTS, title="how far sentence 1's result moves",
                    x_label="other sentences moved by", y_label="largest change",
                    y_range=(0.0, max(1.0, 1.05 * float(max(moved.max(), moved_by_batch.max())))),
                    lines=[
                        Line(moved, "layer norm"),
                        Line(moved_by_batch, "batch norm", "muted", dashed=True),
                    ],
                )
            ],
        ],
        notice=[
            _notice(inputs, *numbers, mean=frame.mean().item())
            for *numbers, frame in zip(
                SHIFTS.tolist(), moved.tolist(), moved_by_batch.tolist(), batch, strict=True
            )
        ],
        scrub=Scrub("shift", "other sentences moved by", SHIFTS, [f"{shift:.1f}" for shift in SHIFTS]),
        sizes=rf"B={b},\; T={t},\; C={c},\; \epsilon=10^{{-5}}",
        axes={"sentence": b, "token": t, "channel": c},
        code=(normalise, with_running, trained_on, companions_moved, sentences),
    )  # fmt: skip


def _moved(inputs: Inputs, shifts: np.ndarray) -> Tensor:
    x = sentences(inputs.sentences, inputs.tokens, inputs.seed)
    return companions_moved(x, torch.from_numpy(shifts).float())


def _matrix(title: str, x: Tensor, marked: np.ndarray) -> Matrix:
    """[frame, sentence, token, channel] as a row for each token."""
    _, b, t, c = x.shape
    return Matrix(
        title=title, values=x.flatten(1, 2).numpy(), marked=marked, digits=1,
        rows=[f"s{i + 1} t{j + 1}" for i in range(b) for j in range(t)], row_axis="sentence, token",
        columns=[f"c{j}" for j in range(c)], column_axis="channel",
    )  # fmt: skip


def _notice(inputs: Inputs, shift: float, layer: float, batch: float, mean: float) -> str:
    """layer, batch: how far sentence 1 moved under each norm; mean: of the batch after batch norm."""
    numbers = inputs.sentences * inputs.tokens
    if numbers == 1 and inputs.statistics == "batch":
        return "One token is its own mean: batch norm leaves **0** in every channel."
    if inputs.sentences == 1:
        here = f"averages the **{numbers}** numbers of each channel here"
        remembered = f"takes averages over **{N_BATCHES}** batches of training"
        return f"Sentence 1 is alone. Batch norm {here if inputs.statistics == 'batch' else remembered}."
    if shift == 0:
        return f"Layer norm averages the **6** numbers of a token, batch norm the **{numbers}** of a channel."
    if inputs.statistics == "running":
        return (
            f"Remembered averages ignore the batch: sentence 1 moved by **{batch:.2f}**, and its mean is "
            f"**{decimal(mean)}**, not 0."
        )
    return (
        f"The others moved by {shift:.1f}: sentence 1 moves by **{batch:.2f}** under batch norm, by "
        f"**{layer:.2f}** under layer norm."
    )


def questions() -> tuple[Answer, ...]:
    shifts = np.array([0.0, MOST_SHIFT])
    x = _moved(Inputs(), shifts)
    layer, batch = (largest_change(normalise(x, axis))[1].item() for axis in ("layer", "batch"))
    alone = normalise(sentences(1, 1, 0), "batch").abs().max().item()
    rows = averaged((8, 100, 512), "layer", 0, 0).sum().item()
    columns = averaged((8, 100, 512), "batch", 0, 0).sum().item()
    return (
        Answer.of(["800", "512", "8"].index(str(rows)), rows=rows, columns=columns),
        Answer.of(2 if batch > 0.1 > layer else 1, most_shift=MOST_SHIFT, batch=batch, layer=layer),
        Answer.of(0 if alone == 0 else 1, alone=alone),
    )


CONTROLS = ("sentences", "tokens", "statistics", Set("seed", {"help": "Draws other random vectors"}))
PART = part(__name__, CONTROLS, lesson, questions, scrub="shift")
