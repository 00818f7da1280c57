"""The memory part's panels: `plain` and `mine` are settings by length, without and with the switches."""

import numpy as np

from models.lessons.design import memory, training_step
from models.lessons.design.memory import Setting
from pages.lab.design.inputs import LONG
from viz_core.boards import Bars, Colour, Curves, Fact, Facts, Line, Table

CARDS: dict[str, tuple[float, Colour]] = {"24 GB": (24.0, "muted"), "80 GB": (80.0, 3)}


def facts(plain: list[Setting], mine: list[Setting]) -> Facts:
    n = plain[0].n_sequences
    one = np.array([memory.matrix_bytes(each.n_sequences, each.t) for each in plain]) / 1e6
    everything = np.array([memory.four_copies(each) for each in plain]) / 1e9
    kept = np.array([memory.kept_bytes(each) for each in plain]) / 1e9
    peak = np.array([memory.peak_bytes(each) for each in mine]) / 1e9
    return Facts(
        facts=(
            Fact(label=f"one head's matrices, {n} sequences", values=one, digits=0, unit="MB"),
            Fact(label="four copies of them", values=4 * one, digits=0, unit="MB"),
            Fact(label="× heads × layers", values=everything, digits=1, unit="GB"),
            Fact(label="PyTorch keeps, plain", values=kept, digits=1, unit="GB"),
            Fact(label="peak, with your switches", values=peak, unit="GB", colour="accent"),
        )
    )


def bars(plain: list[Setting], mine: list[Setting]) -> Bars:
    each = [[*memory.one_by_one(one).values(), switched] for one, switched in zip(plain, mine, strict=True)]
    peaks = np.array([[memory.peak_bytes(setting) for setting in settings] for settings in each])
    return Bars(
        title="peak, % of plain: each saving alone, and your switches",
        values=100 * peaks / peaks[:, :1],
        labels=("plain", "half", "4 pieces", "checkpoint", "fused", "yours"),
        digits=1,
        reach=115,
    )


def curves(plain: list[Setting], mine: list[Setting]) -> Curves:
    x = np.array(LONG, float)
    lines = {
        "four copies": [memory.four_copies(each) for each in plain],
        "plain": [memory.peak_bytes(each) for each in plain],
        "your switches": [memory.peak_bytes(each) for each in mine],
    }
    colours: dict[str, Colour] = {"four copies": 1, "plain": 2, "your switches": "accent"}
    return Curves(
        title="peak over the length", x=x, at=x, x_label="tokens t", y_label="GB", log_x=True, log_y=True,
        lines=[
            *(Line(y=np.array(y) / 1e9, name=name, colour=colours[name]) for name, y in lines.items()),
            *(
                Line(y=np.full(len(x), size), name=name, colour=colour, dashed=True)
                for name, (size, colour) in CARDS.items()
            ),
        ],
    )  # fmt: skip


def measured(mine: Setting) -> Table:
    """The formulas against a stack that is trained one step here."""
    small = memory.SMALL
    settings = memory.one_by_one(small) | {"your switches": mine}
    rows = []
    for name, setting in settings.items():
        kept, peak = memory.kept_bytes(setting), memory.peak_bytes(setting)
        held = training_step.measure(setting)
        rows.append((name, *_compared(kept, held.kept), *_compared(peak, held.peak)))
    return Table(
        title=(
            f"measured here: {small.n_sequences} sequences of {small.t} tokens, {small.n_layers} layers of "
            f"{small.n_heads} heads with {small.d_head} channels, kB"
        ),
        columns=("saving", "kept: formula", "measured", "ratio", "peak: formula", "measured", "ratio"),
        rows=rows,
        marked=np.array([name == "your switches" for name in settings]),
    )


def _compared(counted: int, measured: int) -> tuple[str, str, str]:
    """Both in kB, and how they compare."""
    return f"{counted / 1e3:,.0f}", f"{measured / 1e3:,.0f}", f"{measured / counted:.3f}"


def notices(plain: list[Setting], mine: list[Setting]) -> list[str]:
    said = []
    for one, switched in zip(plain, mine, strict=True):
        matrix, four = memory.matrix_bytes(one.n_sequences, one.t), memory.four_copies(one)
        before, after = memory.peak_bytes(one), memory.peak_bytes(switched)
        said.append(
            f"t = {one.t:,}: the attention matrices of one head, one for each of {one.n_sequences} "
            f"sequences, take **{_short(matrix / 1e6)} MB**; scores, pattern and both their gradients in "
            f"all heads and layers **{_short(four / 1e9)} GB**. PyTorch keeps only the patterns and peaks "
            f"at {_short(before / 1e9)} GB; with your switches **{_short(after / 1e9)} GB**."
        )
    return said


def _short(size: float) -> str:
    """Three digits, or all before the point."""
    return f"{size:,.0f}" if size >= 100 else f"{size:.3g}"
