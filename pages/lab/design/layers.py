"""What one layer costs: the terms of table 1 (Vaswani et al. 2017), real operations, and milliseconds."""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attention_lab.pages.lab import attention_cost
from attention_lab.pages.lab.design.inputs import LENGTHS, Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.viz_core.boards import Colour, Curves, Fact, Facts, Line, Scrub

MOST_MS = 8.0  # a length that would take longer is not measured


def self_attention(n: int, d: int) -> int:
    """Every position is multiplied with every other, in d channels."""
    return n * n * d


def recurrent(n: int, d: int) -> int:
    """Each of n positions is multiplied with a [d, d] matrix."""
    return n * d * d


def convolution(n: int, d: int, k: int) -> int:
    """Each of n positions is multiplied with a [d, d] matrix for each of k places of the kernel."""
    return k * n * d * d


def restricted(n: int, d: int, r: int) -> int:
    """Every position is multiplied with r others, in d channels."""
    return r * n * d


def attention_flops(n: int, d: int) -> int:
    """4 n^2 d for scores and mixing, and what the table leaves out: 8 n d^2 for W_Q, W_K, W_V and W_O."""
    return attention_cost.flops(1, d, d, n)


def recurrent_flops(n: int, d: int) -> int:
    """Two [d, d] matrices at each position, one for the word and one for the state."""
    return 2 * 2 * recurrent(n, d)


def convolution_flops(n: int, d: int, k: int) -> int:
    """k [d, d] matrices at each position; a multiplication and an addition count as two."""
    return 2 * convolution(n, d, k)


@lru_cache(maxsize=64)
def measure(name: str, lengths: tuple[int, ...], d: int, k: int = 1) -> list[float]:
    """Milliseconds of a layer over one text of each of these ascending lengths, here and now.

    `k` is the width of a kernel. The numbers are remembered, and NaN for lengths that would take too long.
    """
    growth = 4 if name == "self-attention" else 2  # the most that twice the length can cost
    return milliseconds(layer(name, d, k), [texts(name, n, d) for n in lengths], growth)


def layer(name: str, d: int, k: int = 1) -> Callable[[Tensor], object]:
    """A tanh recurrence, a convolution over time, or the engine's attention with one head; no biases."""
    if name == "self-attention":
        attention = attention_cost.random_layer(1, d)
        return lambda x: attention(x, x)
    generator = torch.Generator().manual_seed(0)
    with torch.device("meta"):  # draws nothing, and leaves global randomness alone
        module = (
            nn.RNN(d, d, bias=False, batch_first=True)
            if name == "recurrent"
            else nn.Sequential(nn.ConstantPad1d((k - 1, 0), 0.0), nn.Conv1d(d, d, k, bias=False))
        )
    module.to_empty(device="cpu")
    with torch.no_grad():
        for weight in module.parameters():
            weight.normal_(0, d**-0.5, generator=generator)
    return module


def texts(name: str, n: int, d: int) -> Tensor:
    """Random numbers as the layer wants them: [1, n, d], or [1, d, n] for a convolution."""
    x = torch.randn(1, n, d, generator=torch.Generator().manual_seed(n))
    return x.transpose(1, 2).contiguous() if name == "convolution" else x


@torch.no_grad()
def milliseconds(run: Callable[[Tensor], object], each: Sequence[Tensor], growth: int) -> list[float]:
    """The fastest of two passes over each text, of five where they are short; NaN from MOST_MS on.

    growth: how many times as long the next text may take.
    """
    run(each[0])  # a first run prepares
    times: list[float] = []
    for text in each:
        if times and not growth * times[-1] < MOST_MS:
            times.append(float("nan"))
            continue
        first = _once(run, text)
        times.append(min(first, *(_once(run, text) for _ in range(1 if first > 1 else 4))))
    return times


def _once(run: Callable[[Tensor], object], text: Tensor) -> float:
    start = time.perf_counter()
    run(text)
    return (time.perf_counter() - start) * 1000


COLOURS: dict[str, Colour] = {"self-attention": "accent", "recurrent": 1, "convolution": 2, "restricted": 3}


def counted(d: int, k: int, r: int) -> dict[str, np.ndarray]:
    """Table 1's operations at each length."""
    return {
        "self-attention": np.array([self_attention(n, d) for n in LENGTHS], float),
        "recurrent": np.array([recurrent(n, d) for n in LENGTHS], float),
        "convolution": np.array([convolution(n, d, k) for n in LENGTHS], float),
        "restricted": np.array([restricted(n, d, min(r, n)) for n in LENGTHS], float),
    }


def _curves(title: str, unit: str, lines: dict[str, np.ndarray], d: int) -> Curves:
    """Logarithmic curves over n, and an upright line at n = d, which alone joins two more points there."""
    at = LENGTHS.index(d)
    x = np.insert(np.array(LENGTHS, float), at, [d, d])
    low = float(np.nanmin(list(lines.values())))
    high = float(np.nanmax(list(lines.values())))
    upright = np.full(len(x), np.nan)
    upright[at : at + 2] = low, high
    curves = [
        Line(y=np.insert(y, at, [y[at], y[at]]), name=name, colour=COLOURS[name], dashed=name == "restricted")
        for name, y in lines.items()
    ]
    return Curves(
        x=x, at=np.array(LENGTHS, float), title=title, x_label="tokens n", y_label=unit, log_x=True,
        log_y=True, lines=[*curves, Line(y=upright, name="n = d", colour="muted", dashed=True)],
    )  # fmt: skip


def _facts(title: str, numbers: dict[tuple[str, str], Any], *more: Fact) -> Facts:
    """Millions of operations; numbers: of a layer and its label."""
    facts = (
        Fact(label, np.array(values, float) / 1e6, 2, colour=COLOURS[name])
        for (name, label), values in numbers.items()
    )
    return Facts.of(*facts, *more, title=title)


def notices(table: dict[str, np.ndarray], measured: dict[str, list[float]], d: int) -> list[str]:
    sentences = []
    for at, n in enumerate(LENGTHS):
        ratio = table["self-attention"][at] / table["recurrent"][at]
        attention, recurrent = measured["self-attention"][at], measured["recurrent"][at]
        clock = (
            f"Measured, recurrence takes {recurrent / attention:.1f} × as long."
            if np.isfinite(attention + recurrent)
            else f"A layer takes over {MOST_MS:g} ms: too long."
        )
        sentences.append(
            f"With n = {n:,}, self-attention takes **{ratio:.3g} ×** the operations of recurrence. {clock}"
        )
    return sentences


MEASURED = ("self-attention", "recurrent", "convolution")


def lesson(inputs: Inputs) -> Lesson:
    d, k, r = inputs.d_layer, inputs.kernel, inputs.neighbours
    table = counted(d, k, r)
    measured = {name: measure(name, LENGTHS, d, k if name == "convolution" else 1) for name in MEASURED}
    operations = {name: values / 1e6 for name, values in table.items()}
    times = {name: np.array(values) for name, values in measured.items()}
    attention = [attention_flops(n, d) for n in LENGTHS]
    projections = [100 * 8 * n * d * d / of for n, of in zip(LENGTHS, attention, strict=True)]
    return Lesson(
        rows=[
            [
                _curves("operations of table 1", "million", operations, d),
                _curves("time, one thread", "ms, measured here", times, d),
            ],
            [
                _facts(
                    "table 1, million",
                    {
                        ("self-attention", "self-attention, n² d"): table["self-attention"],
                        ("recurrent", "recurrent, n d²"): table["recurrent"],
                        ("convolution", "convolution, k n d²"): table["convolution"],
                        ("restricted", "restricted, r n d"): table["restricted"],
                    },
                )
            ],
            [
                _facts(
                    "operations of the timed layers, million",
                    {
                        ("self-attention", "self-attention, 4 n² d + 8 n d²"): attention,
                        ("recurrent", "recurrent, 4 n d²"): [recurrent_flops(n, d) for n in LENGTHS],
                        ("convolution", "convolution, 2 k n d²"): [
                            convolution_flops(n, d, k) for n in LENGTHS
                        ],
                    },
                    Fact("of self-attention's, for W_Q, W_K, W_V, W_O", np.array(projections), 0, "%"),
                )
            ],
        ],
        notice=notices(table, measured, d),
        scrub=Scrub("length", "tokens n", np.array(LENGTHS), [f"{n:,}" for n in LENGTHS]),
        sizes=rf"d={d},\; k={k},\; r={r}",
        axes={"text": 1, "head": 1, "d": d, "k": k} | dict.fromkeys(("n", "query", "key"), inputs.length),
        code=(
            self_attention, recurrent, convolution, restricted,
            attention_flops, layer, measure, milliseconds,
        ),
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    grown = (self_attention(1_024, 64) // self_attention(512, 64), recurrent(1_024, 64) // recurrent(512, 64))
    same = next(n for n in LENGTHS if self_attention(n, 256) == recurrent(n, 256))
    lengths = ("16", "256", "2,048")
    share = 8 * 32 * 256**2 / attention_flops(32, 256)
    return (
        Answer.of({(2, 2): 0, (4, 2): 1, (2, 4): 2}[grown]),
        Answer.of(lengths.index(str(same)), options=lengths, millions=recurrent(same, 256) / 1e6),
        Answer.of(
            0 if share > 0.8 else 1 if share > 0.3 else 2,
            share=share,
            millions=attention_flops(32, 256) / 1e6,
        ),
    )


CONTROLS = (
    "d_layer",
    "kernel",
    "neighbours",
    Note("Restricted attention is not timed."),
)
PART = part(__name__, CONTROLS, lesson, questions, scrub="length")
