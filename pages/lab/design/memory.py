"""Part 4: where the memory of training goes in attention, and what saves it."""

from dataclasses import replace

import numpy as np

from models.lessons.design import memory, metering, training_step
from models.lessons.design.memory import Setting
from pages.lab.controls import Columns, Note
from pages.lab.design import memory_board as board
from pages.lab.design.inputs import LONG, Inputs
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from viz_core.boards import Board, Scrub

SEE = (
    "A stack of attention layers is trained. Each head of each layer has a matrix of t × t weights for every "
    "sequence, which the backward pass needs again: the charts show what stays in memory in between, and the "
    "peak. The table compares the formulas with a small stack, **measured here**. **Drag the slider to "
    "longer texts.**"
)
PLAIN = {
    "t": 1_000, "sequences": 16, "heads": 8, "layers": 6, "half": False, "pieces": 1, "checkpointing": False,
    "fused": False,
}  # fmt: skip
TRIES = (
    Try("checkpointing", PLAIN | {"checkpointing": True}),
    Try("fused attention", PLAIN | {"fused": True}),
    Try(
        "everything at once",
        PLAIN | {"fused": True, "checkpointing": True, "half": True, "pieces": 8, "t": 8_000},
    ),
)


def lesson(inputs: Inputs) -> Lesson:
    plain, mine = _settings(inputs)
    h, t, b, d = inputs.heads, inputs.t, inputs.sequences, inputs.heads * plain[0].d_head
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [board.facts(plain, mine)],
                [board.bars(plain, mine), board.curves(plain, mine)],
                [board.measured(_switched(memory.SMALL, inputs))],
            ],
            notice=board.notices(plain, mine),
            scrub=Scrub(field="t", label="tokens t", values=np.array(LONG), words=[f"{t:,}" for t in LONG]),
        ),
        formula=(
            r"\begin{gathered}\text{kept per layer: }\underbrace{5\,b\,t\,d}_{x,\,\q{q},\,\k{k},\,\v{v},\,z}"
            r"+\underbrace{b\,h\,t^2}_{\text{pattern}}\;\text{numbers}\\"
            r"\text{at the peak }\underbrace{2\,b\,h\,t^2}_{\text{gradients of pattern, scores}}"
            r"\text{ more}\end{gathered}"
        ),
        sizes=(
            rf"b={b},\; h={h},\; d={d}.\;\text{{ With }} t={t}:\; {b}\cdot{t}\cdot{t}\cdot 4\,\mathrm{{B}}="
            rf"{memory.matrix_bytes(b, t) / 1e6:g}\,\mathrm{{MB}}"
        ),
        shapes=(
            Shape(rf"x\;(t={t})", "sequence, position, d", (b, t, d)),
            Shape(r"\q{q},\;\k{k},\;\v{v},\;z", "sequence, head, position, d_head", (b, h, t, d // h)),
            Shape(r"\mathrm{scores},\;\mathrm{pattern}", "sequence, head, query, key", (b, h, t, t)),
            Shape(r"\text{fused: log of the softmax's sum}", "sequence, head, query", (b, h, t)),
        ),
        code=(
            memory.matrix_bytes, memory.four_copies, memory.layer_bytes, memory.kept_bytes, memory.peak_bytes,
            training_step.attend, training_step.Recomputed, training_step.loss, training_step.measure,
            metering.held, metering.Meter,
        ),
    )  # fmt: skip


def _settings(inputs: Inputs) -> tuple[list[Setting], list[Setting]]:
    """For each length, the plain setting and the one with the switches."""
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


def questions() -> tuple[Question, ...]:
    twice = memory.matrix_bytes(16, 2_000) // memory.matrix_bytes(16, 1_000)
    small = memory.SMALL
    others = 5 * small.n_layers * memory.stream_bytes(small)
    matrices = small.n_layers * small.n_heads * memory.matrix_bytes(small.n_sequences, small.t)
    kept = round((training_step.measure(small).kept - others) / matrices)
    long = memory.one_by_one(memory.Setting(16, 4_000, 8, 6))
    names = ("half precision", "fused attention", "checkpointing")
    peaks = {name: memory.peak_bytes(long[name]) / 1e9 for name in names}
    plain = memory.peak_bytes(long["plain"]) / 1e9
    return (
        Question(
            "Texts grow from 1,000 to 2,000 tokens. How much more memory does an attention matrix take?",
            ("× 2", "× 4", "× 8"),
            (2, 4, 8).index(twice),
            f"For 16 sequences {memory.matrix_bytes(16, 1_000) / 1e6:.0f} MB and then "
            f"{memory.matrix_bytes(16, 2_000) / 1e6:.0f} MB. Queries double, and so do keys.",
        ),
        Question(
            "Of scores, pattern and both their gradients, how many does PyTorch keep until the backward "
            "pass?",
            ("one", "two", "all four"),
            {1: 0, 2: 1, 4: 2}[kept],
            f"Measured: {kept}. The backward pass of softmax and of the product with v both need the "
            "pattern; scores are thrown away, and gradients come and go layer by layer.",
        ),
        Question(
            "16 texts of 4,000 tokens, 6 layers of 8 heads: which saving alone lowers the peak most?",
            names,
            min(range(3), key=lambda at: peaks[names[at]]),
            f"Plain {plain:.0f} GB; " + ", ".join(f"{name} {size:.1f}" for name, size in peaks.items())
            + ". Fused attention never writes a matrix of t × t; checkpointing still writes one layer's.",
        ),
    )  # fmt: skip


PART = Part(
    "memory", "Memory",
    (
        Columns((("sequences", "layers"), ("heads", "pieces"))), "half", "checkpointing", "fused",
        Note("Heads have 64 channels. Weights and their gradients are left out."),
    ),
    lesson, TRIES, questions, scrub="t",
)  # fmt: skip
