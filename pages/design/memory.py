"""Part 4: where the memory of training goes in attention, and what saves it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.design.inputs import HEADS, LAYERS, LONG, PIECES, SEQUENCES, Inputs
from pages.shared.lab.lesson import Lesson, Question, Shape, Try
from pages.shared.lab.session import key
from viz_core.boards import Bars, Board, Colour, Curves, Fact, Facts, Line, Scrub, Table

if TYPE_CHECKING:
    from models.lessons.design.memory import Setting

FIELDS = ("t", "sequences", "heads", "layers", "half", "pieces", "checkpointing", "fused")
CARDS = {"24 GB": 24.0, "80 GB": 80.0}
SEE = (
    "Training attention alone, layer upon layer: what must stay in memory from the forward pass to the "
    "backward pass, and the peak of both. Each head of each layer has a matrix of t × t weights a sequence. "
    "The table holds a small stack whose memory is **measured here**. **Drag the slider to longer texts.**"
)
TRIES = (
    Try("checkpointing", {"checkpointing": True, "fused": False, "half": False, "pieces": 1}),
    Try("fused attention", {"fused": True, "checkpointing": False, "half": False, "pieces": 1}),
    Try("everything at once", {"fused": True, "checkpointing": True, "half": True, "pieces": 8, "t": 8_000}),
)


def lesson(inputs: Inputs) -> Lesson:
    from models.lessons.design import memory, metering

    plain, mine = _settings(inputs)
    mine[0].at_once  # noqa: B018  (refuses pieces that are not equal)
    h, t, b, d = inputs.heads, inputs.t, inputs.sequences, inputs.heads * plain[0].d_head
    return Lesson(
        see=SEE,
        board=Board(
            rows=[[_facts(plain, mine)], [_bars(plain, mine), _curves(plain, mine)], [_measured(inputs)]],
            notice=_notices(plain, mine),
            scrub=Scrub(field="t", label="tokens t", values=np.array(LONG), words=[f"{t:,}" for t in LONG]),
        ),
        formula=(
            r"\begin{gathered}\text{kept, a layer: }\underbrace{5\,b\,t\,d}_{x,\,\q{q},\,\k{k},\,\v{v},\,z}"
            r"+\underbrace{b\,h\,t^2}_{\text{pattern}}\;\text{numbers}\\"
            r"\text{at the peak }\underbrace{2\,b\,h\,t^2}_{\text{gradients of pattern, scores}}"
            r"\text{ more}\end{gathered}"
        ),
        sizes=(
            rf"b={b},\; t={t},\; h={h},\; d={d},\; {b}\cdot{t}\cdot{t}\cdot 4\,\mathrm{{B}}="
            rf"{memory.matrix_bytes(b, t) / 1e6:g}\,\mathrm{{MB}}"
        ),
        shapes=(
            Shape("x", "sequence, position, d", (b, t, d)),
            Shape(r"\q{q},\;\k{k},\;\v{v},\;z", "sequence, head, position, d_head", (b, h, t, d // h)),
            Shape(r"\mathrm{scores},\;\mathrm{pattern}", "sequence, head, query, key", (b, h, t, t)),
            Shape(r"\text{fused: log of the softmax's sum}", "sequence, head, query", (b, h, t)),
        ),
        code=(
            memory.matrix_bytes, memory.four_copies, memory.layer_bytes, memory.kept_bytes, memory.peak_bytes,
            memory.attend, memory.Recomputed, memory.loss, memory.measure, metering.held, metering.Meter,
        ),
    )  # fmt: skip


def controls() -> None:
    left, right = st.columns(2, gap="small")
    left.selectbox("Sequences", SEQUENCES, key=key("design", "sequences"))
    right.selectbox("Heads", HEADS, key=key("design", "heads"))
    left.selectbox("Layers", LAYERS, key=key("design", "layers"))
    right.selectbox("Pieces", PIECES, key=key("design", "pieces"), help="Gradient accumulation: 1 is off")
    st.toggle("Half precision", key=key("design", "half"), help="bfloat16 instead of float32")
    st.toggle(
        "Checkpointing",
        key=key("design", "checkpointing"),
        help="Keep only each layer's input; costs one more forward pass",
    )
    st.toggle("Fused attention", key=key("design", "fused"), help="F.scaled_dot_product_attention")
    st.caption("Heads have 64 channels. Weights and their gradients are left out.")


def _settings(inputs: Inputs) -> tuple[list[Setting], list[Setting]]:
    """At each length the plain setting, and with the switches."""
    from models.lessons.design.memory import Setting

    plain = [Setting(inputs.sequences, t, inputs.heads, inputs.layers) for t in LONG]
    return plain, [_switched(setting, inputs) for setting in plain]


def _switched(setting: Setting, inputs: Inputs) -> Setting:
    return replace(
        setting,
        half=inputs.half,
        n_pieces=inputs.pieces,
        checkpointing=inputs.checkpointing,
        fused=inputs.fused,
    )


def _facts(plain: list[Setting], mine: list[Setting]) -> Facts:
    from models.lessons.design import memory

    one = np.array([memory.matrix_bytes(each.n_sequences, each.t) for each in plain]) / 1e6
    everything = np.array([memory.four_copies(each) for each in plain]) / 1e9
    kept = np.array([memory.kept_bytes(each) for each in plain]) / 1e9
    peak = np.array([memory.peak_bytes(each) for each in mine]) / 1e9
    return Facts(
        facts=(
            Fact(label="one attention matrix", values=one, digits=0, unit="MB"),
            Fact(label="four copies of it", values=4 * one, digits=0, unit="MB"),
            Fact(label="× heads × layers", values=everything, digits=1, unit="GB"),
            Fact(label="PyTorch keeps, plain", values=kept, digits=1, unit="GB"),
            Fact(label="peak, with your switches", values=peak, unit="GB", colour="accent"),
        )
    )


def _bars(plain: list[Setting], mine: list[Setting]) -> Bars:
    from models.lessons.design import memory

    each = [[*memory.one_by_one(one).values(), switched] for one, switched in zip(plain, mine, strict=True)]
    peaks = np.array([[memory.peak_bytes(setting) for setting in settings] for settings in each])
    return Bars(
        title="peak, % of plain: each saving alone, and your switches",
        values=100 * peaks / peaks[:, :1],
        labels=("plain", "half", "4 pieces", "checkpoint", "fused", "yours"),
        digits=1,
        reach=115,
    )


def _curves(plain: list[Setting], mine: list[Setting]) -> Curves:
    from models.lessons.design import memory

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
                Line(y=np.full(len(x), size), name=name, colour="muted", dashed=True)
                for name, size in CARDS.items()
            ),
        ],
    )  # fmt: skip


def _measured(inputs: Inputs) -> Table:
    """The formulas against a stack that is trained one step here."""
    from models.lessons.design import memory

    small = memory.SMALL
    settings = memory.one_by_one(small) | {"your switches": _switched(small, inputs)}
    rows = []
    for name, setting in settings.items():
        held, kept, peak = memory.measure(setting), memory.kept_bytes(setting), memory.peak_bytes(setting)
        rows.append(
            (
                name,
                _kb(kept),
                _kb(held.kept),
                f"{held.kept / kept:.3f}",
                _kb(peak),
                _kb(held.peak),
                f"{held.peak / peak:.3f}",
            )
        )
    return Table(
        title=(
            f"measured here: {small.n_sequences} sequences of {small.t} tokens, {small.n_layers} layers of "
            f"{small.n_heads} heads with {small.d_head} channels, kB"
        ),
        columns=("saving", "kept: formula", "measured", "ratio", "peak: formula", "measured", "ratio"),
        rows=rows,
        marked=np.array([name == "your switches" for name in settings]),
    )


def _kb(size: int) -> str:
    return f"{size / 1e3:,.0f}"


def _notices(plain: list[Setting], mine: list[Setting]) -> list[str]:
    from models.lessons.design import memory

    notices = []
    for one, switched in zip(plain, mine, strict=True):
        matrix, four = memory.matrix_bytes(one.n_sequences, one.t), memory.four_copies(one)
        before, after = memory.peak_bytes(one), memory.peak_bytes(switched)
        notices.append(
            f"t = {one.t:,}: one attention matrix takes **{matrix / 1e6:,.4g} MB**; scores, pattern and both "
            f"gradients in all heads and layers **{four / 1e9:,.3g} GB**. Of the four, PyTorch keeps the "
            f"pattern alone and peaks at {before / 1e9:,.3g} GB; with your switches **{after / 1e9:,.3g} GB**."
        )
    return notices


def questions() -> tuple[Question, ...]:
    from models.lessons.design import memory

    twice = memory.matrix_bytes(16, 2_000) // memory.matrix_bytes(16, 1_000)
    small = memory.SMALL
    others = 5 * small.n_layers * memory.stream_bytes(small)
    matrices = small.n_layers * small.n_heads * memory.matrix_bytes(small.n_sequences, small.t)
    kept = round((memory.measure(small).kept - others) / matrices)
    long = memory.one_by_one(memory.Setting(16, 4_000, 8, 6))
    names = ("half precision", "fused attention", "checkpointing")
    peaks = {name: memory.peak_bytes(long[name]) / 1e9 for name in names}
    plain = memory.peak_bytes(long["plain"]) / 1e9
    return (
        Question(
            "A text of 2,000 tokens instead of 1,000: how much memory does an attention matrix take?",
            ("× 2", "× 4", "× 8"),
            (2, 4, 8).index(twice),
            f"× {twice}: for 16 sequences {memory.matrix_bytes(16, 1_000) / 1e6:.0f} MB and then "
            f"{memory.matrix_bytes(16, 2_000) / 1e6:.0f} MB. Queries double, and so do keys.",
        ),
        Question(
            "Scores, pattern, and the gradients of both: how many does PyTorch keep until the backward pass?",
            ("one", "two", "all four"),
            {1: 0, 2: 1, 4: 2}[kept],
            f"Measured: {kept}. Softmax and the product with v both need the pattern; scores are thrown "
            "away, and gradients come and go layer by layer.",
        ),
        Question(
            "16 texts of 4,000 tokens, 6 layers of 8 heads: what alone saves most at the peak?",
            names,
            min(range(3), key=lambda at: peaks[names[at]]),
            f"Plain {plain:.0f} GB; " + ", ".join(f"{name} {size:.1f}" for name, size in peaks.items())
            + ". Fused attention never writes a matrix of t × t; checkpointing still writes one layer's.",
        ),
    )  # fmt: skip
