"""Sinusoidal positions: a table of waves, whose base is a slider."""

import numpy as np
from torch import Tensor

from models.engine import positions
from models.lessons.positions import waves
from models.lessons.positions.waves import ByDistance, by_distance, dot_products, wave_tables, wavelengths
from pages.lab.controls import Note
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.positions.inputs import MOST_POSITIONS, Inputs
from viz_core.boards import Board, Curves, Fact, Facts, Line, Matrix, Panel, Scrub
from viz_core.labels import decimal, short

BASES = np.logspace(1, 6, 61)  # 10,000 is among them
APART = 5
SEE = (
    "Attention sees a set of words, not their order. So a vector that says **where** a word stands is added "
    "to the one that says what it is. Every pair of channels is a wave, fast on the left, slow on the right. "
    "**Drag the base: the slow waves stretch.**"
)
TRIES = (
    Try("base 10", {"base": 10.0}),
    Try("base 1,000,000", {"base": 1_000_000.0}),
    Try("only 8 channels", {"d_model": 8, "base": 10_000.0}),
)


def lesson(inputs: Inputs) -> Lesson:
    bases = [float(base) for base in BASES]
    tables = waves.wave_tables(MOST_POSITIONS, inputs.d_model, bases)  # [frame, position, channel]
    products = waves.by_distance(waves.dot_products(tables))
    lengths = np.stack([waves.wavelengths(inputs.d_model, base).numpy() for base in bases])
    d = inputs.d_model
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [_table(tables), _waves(tables), _products(products)],
                [_facts(products, lengths)],
            ],
            notice=_notices(products, lengths),
            scrub=Scrub(field="base", label="base", values=BASES, words=[f"{base:,.0f}" for base in bases]),
        ),
        formula=(
            r"PE(p)_{2i}=\sin\frac{p}{\mathrm{base}^{2i/d_{model}}},\qquad "
            r"PE(p)_{2i+1}=\cos\frac{p}{\mathrm{base}^{2i/d_{model}}}"
        ),
        sizes=rf"d_{{model}}={d},\; i=0\ldots{d // 2 - 1},\; p=0\ldots{MOST_POSITIONS - 1}",
        shapes=(
            Shape("PE", "position, channel", (MOST_POSITIONS, d)),
            Shape(r"PE\,PE^{\top}", "position, other", (MOST_POSITIONS, MOST_POSITIONS)),
            Shape(r"\text{wavelength}", "pair of channels", (d // 2,)),
        ),
        code=(waves.wave_tables, positions.waves, waves.wavelengths, waves.dot_products, waves.by_distance),
    )


def _table(tables: Tensor) -> Matrix:
    n, d = tables.shape[1:]
    return Matrix(
        title="PE: one vector for each position",
        values=tables.numpy(),
        picture=True,
        rows=[str(p) for p in range(n)],
        columns=[str(c) for c in range(d)],
        row_axis="position",
        column_axis="channel",
        reach=1.0,
    )


def _waves(tables: Tensor) -> Curves:
    """The sines of four pairs, from the fastest to the slowest."""
    n_pairs = tables.shape[2] // 2
    pairs = sorted({0, n_pairs // 4, n_pairs // 2, n_pairs - 1})
    return Curves(
        title="four of its columns as waves",
        x=np.arange(tables.shape[1], dtype=float),
        lines=[
            Line(y=tables[:, :, 2 * pair].numpy(), name=f"channel {2 * pair}", colour=at)
            for at, pair in enumerate(pairs)
        ],
        x_label="position p",
        y_label="PE(p)",
        y_range=(-1.05, 1.05),
    )


def _products(products: ByDistance) -> Curves:
    return Curves(
        title="dot product of two positions",
        x=np.arange(products.mean.shape[-1], dtype=float),
        lines=[Line(y=products.mean.numpy(), name="PE(p) · PE(p + k)")],
        x_label="distance k",
        y_label="dot product",
    )


def _facts(products: ByDistance, lengths: np.ndarray) -> Panel:
    return Facts(
        facts=[
            Fact(label="fastest wave", values=lengths[:, 0], digits=2, unit="positions"),
            Fact(label="slowest wave", values=lengths[:, -1], digits=0, unit="positions"),
            Fact(label=f"product, {APART} apart", values=products.mean[:, APART].numpy()),
            Fact(label=f"product, {4 * APART} apart", values=products.mean[:, 4 * APART].numpy()),
        ]
    )


def _notices(products: ByDistance, lengths: np.ndarray) -> list[str]:
    spread = (products.high - products.low).amax(dim=-1).tolist()
    return [
        f"With base {base:,.0f} the slowest wave repeats after **{lengths[at, -1]:,.0f} positions**. The dot "
        f"product of two positions depends on their distance alone, to within **{short(spread[at])}**."
        for at, base in enumerate(BASES)
    ]


def questions() -> tuple[Question, ...]:
    few, many = wavelengths(32, 10_000), wavelengths(32, 1_000_000)  # [pair]
    factors = (1, 10, 100)
    stretched = round((many[0] / few[0]).item())
    table = wave_tables(MOST_POSITIONS, 32, [10_000])[0]
    products = dot_products(table)
    near, far = products[3, 8].item(), products[40, 45].item()
    bigger = 2 if abs(near - far) < 1e-9 else 0 if near > far else 1
    small, large = by_distance(dot_products(wave_tables(MOST_POSITIONS, 32, [10, 1_000_000]))).mean[:, 20]
    return (
        Question(
            "The base grows from 10,000 to 1,000,000. What becomes of the fastest wave?",
            ("it stays as it is", "it gets 10 times as long", "it gets 100 times as long"),
            factors.index(stretched),
            f"It repeats after 2π = {many[0]:.2f} positions with any base, since base⁰ = 1. The slower a "
            f"wave, the more it stretches: the slowest from {few[-1]:,.0f} to {many[-1]:,.0f} positions.",
        ),
        Question(
            "Which dot product is larger: that of positions 3 and 8, or that of positions 40 and 45?",
            ("the first", "the second", "neither"),
            bigger,
            f"Both are {near:.4f}: both pairs are 5 apart, and the product depends on nothing else.",
            told=True,
        ),
        Question(
            "With which base are two positions 20 apart more alike (larger dot product)?",
            ("base 10", "base 1,000,000"),
            0 if small > large else 1,
            f"{decimal(small)} with base 10, {decimal(large)} with base 1,000,000: slow waves hardly "
            "change in 20 steps.",
        ),
    )


PART = Part(
    "waves", "Waves",
    (
        "d_model",
        Note(f"The base of the paper is 10,000. The table shows positions 0 to {MOST_POSITIONS - 1}."),
    ),
    lesson, TRIES, questions, scrub="base",
)  # fmt: skip
