"""Part 2: what one layer costs, by table 1 and by this machine's clock."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.design.inputs import D_LAYER, LENGTHS, NEIGHBOURS, WIDTHS, Inputs
from pages.shared.lab.lesson import Lesson, Question, Shape, Try
from pages.shared.lab.session import key
from viz_core.boards import Board, Colour, Curves, Fact, Facts, Line, Scrub

FIELDS = ("d_layer", "kernel", "neighbours", "length")
COLOURS: dict[str, Colour] = {"self-attention": "accent", "recurrent": 1, "convolution": 2, "restricted": 3}
MEASURED = ("self-attention", "recurrent", "convolution")
SEE = (
    "One layer over *n* tokens of *d* channels: the operations that table 1 of *Attention is all you need* "
    "counts, and milliseconds **measured on this server**, one text, one thread, when these sizes are first "
    "asked for. The dashed upright is where *n = d*. **Drag the slider to longer texts.**"
)
TRIES = (
    Try("a sentence: n < d", {"d_layer": 256, "length": 32}),
    Try("n = d", {"d_layer": 256, "length": 256}),
    Try("a page: n > d", {"d_layer": 64, "length": 1_024}),
)


def lesson(inputs: Inputs) -> Lesson:
    from models.lessons.design import layer_cost

    d, k, r = inputs.d_layer, inputs.kernel, inputs.neighbours
    counted = _counted(d, k, r)
    times = {
        name: layer_cost.measure(name, LENGTHS, d, k if name == "convolution" else 1) for name in MEASURED
    }
    return Lesson(
        see=SEE,
        board=Board(
            rows=[[_operations(counted, d), _times(times, d)], [_table_facts(counted)], [_real_facts(d, k)]],
            notice=_notices(counted, times, d),
            scrub=Scrub(
                field="length", label="tokens n", values=np.array(LENGTHS), words=[f"{n:,}" for n in LENGTHS]
            ),
        ),
        formula=(
            r"\begin{gathered}\text{self-attention } n^2 d,\quad\text{recurrent } n\,d^2,\quad"
            r"\text{convolution } k\,n\,d^2,\quad\text{restricted } r\,n\,d\\"
            r"\frac{\text{self-attention}}{\text{recurrent}}=\frac{n^2 d}{n\,d^2}=\frac{n}{d}\end{gathered}"
        ),
        sizes=rf"d={d},\; k={k},\; r={r}",
        shapes=(
            Shape("x", "text, n, d", (1, inputs.length, d)),
            Shape(r"W_Q, W_K, W_V, W_O", "d, d", (d, d)),
            Shape(r"\mathrm{pattern}", "text, head, query, key", (1, 1, inputs.length, inputs.length)),
            Shape(r"\text{recurrent: } W_x, W_h", "d, d", (d, d)),
            Shape(r"\text{kernel}", "d, d, k", (d, d, k)),
        ),
        code=(
            layer_cost.self_attention, layer_cost.recurrent, layer_cost.convolution, layer_cost.restricted,
            layer_cost.attention_flops, layer_cost.layer, layer_cost.measure, layer_cost._milliseconds,
        ),
    )  # fmt: skip


def controls() -> None:
    st.select_slider("Channels d", D_LAYER, key=key("design", "d_layer"))
    st.segmented_control("Kernel k", WIDTHS, key=key("design", "kernel"), required=True)
    st.select_slider(
        "Neighbours r", NEIGHBOURS, key=key("design", "neighbours"),
        help="Restricted self-attention looks at r positions",
    )  # fmt: skip
    st.caption("Restricted attention is not timed: PyTorch's own computes all pairs and hides some.")


def _counted(d: int, k: int, r: int) -> dict[str, np.ndarray]:
    """Table 1's operations at each length."""
    from models.lessons.design import layer_cost

    return {
        "self-attention": np.array([layer_cost.self_attention(n, d) for n in LENGTHS], float),
        "recurrent": np.array([layer_cost.recurrent(n, d) for n in LENGTHS], float),
        "convolution": np.array([layer_cost.convolution(n, d, k) for n in LENGTHS], float),
        "restricted": np.array([layer_cost.restricted(n, d, min(r, n)) for n in LENGTHS], float),
    }


def _operations(counted: dict[str, np.ndarray], d: int) -> Curves:
    lines = {name: values / 1e6 for name, values in counted.items()}
    return _curves("operations of table 1", "million", lines, d)


def _times(times: dict[str, list[float]], d: int) -> Curves:
    return _curves("time, one thread", "ms, measured here", {n: np.array(t) for n, t in times.items()}, d)


def _curves(title: str, unit: str, lines: dict[str, np.ndarray], d: int) -> Curves:
    """Logarithmic curves over n, and an upright at n = d: two more points there, which it alone joins."""
    at = LENGTHS.index(d)
    x = np.insert(np.array(LENGTHS, float), at, [d, d])
    low = float(np.nanmin(list(lines.values())))
    high = float(np.nanmax(list(lines.values())))
    upright = np.full(len(x), np.nan)
    upright[at : at + 2] = low, high
    drawn = [
        Line(y=np.insert(y, at, [y[at], y[at]]), name=name, colour=COLOURS[name], dashed=name == "restricted")
        for name, y in lines.items()
    ]
    return Curves(
        x=x, at=np.array(LENGTHS, float), title=title, x_label="tokens n", y_label=unit, log_x=True,
        log_y=True, lines=[*drawn, Line(y=upright, name="n = d", colour="muted", dashed=True)],
    )  # fmt: skip


def _table_facts(counted: dict[str, np.ndarray]) -> Facts:
    names = {
        "self-attention": "self-attention, n² d", "recurrent": "recurrent, n d²",
        "convolution": "convolution, k n d²", "restricted": "restricted, r n d",
    }  # fmt: skip
    return Facts(
        title="table 1, million",
        facts=[
            Fact(label=label, values=counted[name] / 1e6, digits=2, colour=COLOURS[name])
            for name, label in names.items()
        ],
    )


def _real_facts(d: int, k: int) -> Facts:
    from models.lessons.design import layer_cost

    real = {
        "self-attention": [layer_cost.attention_flops(n, d) for n in LENGTHS],
        "recurrent": [layer_cost.recurrent_flops(n, d) for n in LENGTHS],
        "convolution": [layer_cost.convolution_flops(n, d, k) for n in LENGTHS],
    }
    labels = {
        "self-attention": "self-attention, 4 n² d + 8 n d²", "recurrent": "recurrent, 4 n d²",
        "convolution": "convolution, 2 k n d²",
    }  # fmt: skip
    share = [8 * n * d * d / of for n, of in zip(LENGTHS, real["self-attention"], strict=True)]
    weights = Fact(
        label="of self-attention's, for W_Q, W_K, W_V, W_O", values=100 * np.array(share), digits=0, unit="%"
    )
    return Facts(
        title="operations of the layers that are timed, × and + counted as two, million",
        facts=[
            Fact(label=labels[name], values=np.array(values, float) / 1e6, digits=2, colour=COLOURS[name])
            for name, values in real.items()
        ]
        + [weights],
    )


def _notices(counted: dict[str, np.ndarray], times: dict[str, list[float]], d: int) -> list[str]:
    notices = []
    for at, n in enumerate(LENGTHS):
        ratio = counted["self-attention"][at] / counted["recurrent"][at]
        attention, recurrent = times["self-attention"][at], times["recurrent"][at]
        clock = (
            f"Measured: {attention:.2f} against {recurrent:.2f} ms; recurrence, whose {n:,} steps wait for "
            f"each other, takes {recurrent / attention:.1f} × as long."
            if np.isfinite(attention + recurrent)
            else "So long a text is not measured here: it would take too long."
        )
        notices.append(
            f"With n = {n:,} and d = {d}, table 1 gives self-attention n / d = **{ratio:.3g} ×** the "
            f"operations of recurrence. {clock}"
        )
    return notices


def questions() -> tuple[Question, ...]:
    from models.lessons.design import layer_cost as c

    grown = (
        c.self_attention(1_024, 64) // c.self_attention(512, 64),
        c.recurrent(1_024, 64) // c.recurrent(512, 64),
    )
    same = next(n for n in LENGTHS if c.self_attention(n, 256) == c.recurrent(n, 256))
    lengths = ("16", "256", "2,048")
    times = ("both double", "× 4 and × 2", "× 2 and × 4")
    share = 8 * 32 * 256**2 / c.attention_flops(32, 256)
    return (
        Question(
            "Twice as many tokens, d as before: the operations of self-attention, and of recurrence?",
            times,
            {(2, 2): 0, (4, 2): 1, (2, 4): 2}[grown],
            f"× {grown[0]} and × {grown[1]}: n² d has n twice, n d² once.",
        ),
        Question(
            "d = 256: at which length does table 1 count as much for self-attention as for recurrence?",
            lengths,
            lengths.index(str(same)),
            f"At n = {same}: both are {c.recurrent(same, 256) / 1e6:.1f} million. n² d = n d² where n = d.",
        ),
        Question(
            "n = 32, d = 256. Of all operations that attention takes, how many are for W_Q, W_K, W_V, W_O?",
            ("nearly all", "about half", "nearly none"),
            0 if share > 0.8 else 1 if share > 0.3 else 2,
            f"{share:.0%} of {c.attention_flops(32, 256) / 1e6:.1f} million: 8 n d², not in table 1.",
        ),
    )
