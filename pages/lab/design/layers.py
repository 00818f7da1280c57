"""Part 2: what one layer costs, by table 1 and by this machine's clock."""

import numpy as np

from models.lessons.design import layer_cost
from models.lessons.design import layer_cost as c
from pages.lab.controls import Note
from pages.lab.design import layers_board as board
from pages.lab.design.inputs import LENGTHS, Inputs
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from viz_core.boards import Board, Scrub

MEASURED = ("self-attention", "recurrent", "convolution")
SEE = (
    "One layer reads *n* tokens of *d* channels. On the left are its operations, as table 1 of *Attention is "
    "all you need* counts them; on the right its milliseconds, **measured on this server** (one text, one "
    "thread). The dashed line is where *n = d*. **Drag the slider to longer texts.**"
)
TRIES = (
    Try("a sentence: n < d", {"d_layer": 256, "length": 32}),
    Try("n = d", {"d_layer": 256, "length": 256}),
    Try("a page: n > d", {"d_layer": 64, "length": 1_024}),
)


def lesson(inputs: Inputs) -> Lesson:
    d, k, r = inputs.d_layer, inputs.kernel, inputs.neighbours
    counted = board.counted(d, k, r)
    times = {
        name: layer_cost.measure(name, LENGTHS, d, k if name == "convolution" else 1) for name in MEASURED
    }
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [board.operations(counted, d), board.times(times, d)],
                [board.table_facts(counted)],
                [board.real_facts(d, k)],
            ],
            notice=board.notices(counted, times, d),
            scrub=Scrub(
                field="length", label="tokens n", values=np.array(LENGTHS), words=[f"{n:,}" for n in LENGTHS]
            ),
        ),
        formula=(
            r"\begin{gathered}\text{self-attention } n^2 d,\quad\text{recurrent } n\,d^2\\"
            r"\text{convolution } k\,n\,d^2,\quad\text{restricted } r\,n\,d\\"
            r"\frac{\text{self-attention}}{\text{recurrent}}=\frac{n^2 d}{n\,d^2}=\frac{n}{d}\end{gathered}"
        ),
        sizes=rf"d={d},\; k={k},\; r={r}",
        shapes=(
            Shape(rf"x\;(n={inputs.length})", "text, n, d", (1, inputs.length, d)),
            Shape(r"W_Q, W_K, W_V, W_O", "d, d", (d, d)),
            Shape(r"\mathrm{pattern}", "text, head, query, key", (1, 1, inputs.length, inputs.length)),
            Shape(r"\text{recurrent: } W_x, W_h", "d, d", (d, d)),
            Shape(r"\text{kernel}", "d, d, k", (d, d, k)),
        ),
        code=(
            layer_cost.self_attention, layer_cost.recurrent, layer_cost.convolution, layer_cost.restricted,
            layer_cost.attention_flops, layer_cost.layer, layer_cost.measure, layer_cost.milliseconds,
        ),
    )  # fmt: skip


def questions() -> tuple[Question, ...]:
    grown = (
        c.self_attention(1_024, 64) // c.self_attention(512, 64),
        c.recurrent(1_024, 64) // c.recurrent(512, 64),
    )
    same = next(n for n in LENGTHS if c.self_attention(n, 256) == c.recurrent(n, 256))
    lengths = ("16", "256", "2,048")
    share = 8 * 32 * 256**2 / c.attention_flops(32, 256)
    return (
        Question(
            "Tokens double and d stays. How do the operations grow, of self-attention and of recurrence?",
            ("both double", "× 4 and × 2", "× 2 and × 4"),
            {(2, 2): 0, (4, 2): 1, (2, 4): 2}[grown],
            "n² d contains n twice, n d² once.",
        ),
        Question(
            "With d = 256, at which length does table 1 give self-attention as many operations as "
            "recurrence?",
            lengths,
            lengths.index(str(same)),
            f"There both take {c.recurrent(same, 256) / 1e6:.1f} million: n² d = n d² where n = d.",
        ),
        Question(
            "With n = 32 and d = 256, what share of attention's operations goes into W_Q, W_K, W_V and W_O?",
            ("nearly all", "about half", "nearly none"),
            0 if share > 0.8 else 1 if share > 0.3 else 2,
            f"{share:.0%} of {c.attention_flops(32, 256) / 1e6:.1f} million: 8 n d², which table 1 leaves "
            "out.",
        ),
    )


PART = Part(
    "layers", "Cost of a layer",
    (
        "d_layer", "kernel", "neighbours",
        Note("Restricted attention is not timed: PyTorch computes all its pairs and then hides some."),
    ),
    lesson, TRIES, questions, scrub="length",
)  # fmt: skip
