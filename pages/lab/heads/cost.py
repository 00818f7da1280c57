"""What narrow and wide heads cost: parameters, operations, milliseconds."""

from typing import Any

import numpy as np

from attention_lab.pages.lab.attention_cost import (
    Cost,
    flops,
    measure,
    milliseconds,
    narrow,
    parameters,
    random_layer,
    wide,
)
from attention_lab.pages.lab.heads.inputs import HEAD_COUNTS, Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Scrub

SECONDS = 0.04


def lesson(inputs: Inputs) -> Lesson:
    k, n = inputs.width, inputs.length
    narrows, wides = ([rule(h, k, n) for h in HEAD_COUNTS] for rule in (narrow, wide))
    times = np.array(measure([*narrows, *wides], seconds=SECONDS)).reshape(2, len(HEAD_COUNTS))
    x = np.array(HEAD_COUNTS, dtype=float)
    curves: dict[tuple[str, str], Any] = {
        ("parameters", "thousand"): [[c.parameters / 1e3 for c in costs] for costs in (narrows, wides)],
        ("operations", "million"): [[c.flops / 1e6 for c in costs] for costs in (narrows, wides)],
        ("time", "ms, measured here"): times,
    }
    pictures = [
        Curves(
            x=x, at=x, title=title, x_label="heads", y_label=unit, y_range=(0.0, 1.05 * float(np.max(pair))),
            lines=[
                Line(np.array(pair[0], dtype=float), "narrow"),
                Line(np.array(pair[1], dtype=float), "wide", "muted", dashed=True),
            ],
        )
        for (title, unit), pair in curves.items()
    ]  # fmt: skip
    return Lesson(
        rows=[pictures, [_facts("narrow", narrows, times[0]), _facts("wide", wides, times[1])]],
        notice=[
            f"With {a.n_heads} heads, narrow ones have **{a.parameters:,}** parameters, wide ones "
            f"**{b.parameters:,}**; these take {slow / fast:.1f} times as long."
            if a.n_heads > 1
            else f"With 1 head, narrow and wide are the same layer of **{a.parameters:,}** parameters."
            for a, b, fast, slow in zip(narrows, wides, *times, strict=True)
        ],
        scrub=Scrub("heads", "heads", np.array(HEAD_COUNTS)),
        sizes=rf"k=d_{{model}}={k},\; n={n},\; 3k^2+k^2={narrows[0].parameters:,}",
        axes={"d_model": k, "h · d_head": k, "16 · d_head": 16 * k, "head": 16, "query": n, "key": n},
        code=(parameters, flops, random_layer, milliseconds),
    )


def _facts(name: str, costs: list[Cost], times: np.ndarray) -> Facts:
    numbers: tuple[tuple[str, Any, int, str], ...] = (
        ("d_head", [c.d_head for c in costs], 0, ""),
        ("parameters", [c.parameters for c in costs], 0, ""),
        ("operations", [c.flops / 1e6 for c in costs], 2, "million"),
        ("weights in the patterns", [c.pattern_entries for c in costs], 0, ""),
        ("measured", times, 2, "ms"),
    )
    facts = (
        Fact(label, np.array(values, dtype=float), digits, unit) for label, values, digits, unit in numbers
    )
    return Facts.of(*facts, title=f"{name} heads")


def questions() -> tuple[Answer, ...]:
    k, n = 64, 64
    one, eight, wides = narrow(1, k, n), narrow(8, k, n), wide(8, k, n)
    times = {1: "as many", 4: "four times as many", 8: "eight times as many", 64: "64 times as many"}
    factors, options = list(times), tuple(times.values())
    return (
        Answer.of(factors.index(eight.parameters // one.parameters), options=options, one=one, eight=eight),
        Answer.of(factors.index(wides.flops // eight.flops), options=options, wides=wides, eight=eight),
        Answer.of(
            factors.index(eight.pattern_entries // one.pattern_entries), options=options, eight=eight, one=one
        ),
    )


PART = part(__name__, ("width", "length"), lesson, questions, scrub="heads")
