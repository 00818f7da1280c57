"""Part 1: from the simplest attention to the Transformer's, one change at a time."""

import streamlit as st
import torch
from torch import Tensor

from models.lessons.attention import evolution, examples, steps
from models.lessons.attention import questions as facts
from models.lessons.attention.inputs import embeddings
from models.lessons.attention.inputs import inputs as given
from pages.lab.attention.inputs import STEPS, Inputs
from pages.lab.attention.row_names import names
from pages.lab.attention.step_board import StepBoard
from pages.lab.attention.step_notice import notice
from pages.lab.controls import Own, Popover, When
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.shared.state import State
from pages.shared.wording import distinct
from viz_core.boards import Board

_ROWS = tuple(examples.TOKENS.values())
_LONG_ANIMAL = (3.0, 0.0, 0.0, 1.0)

TRIES = (
    Try("Double all numbers of “animal”", {"step": "free", "X": (_LONG_ANIMAL, *_ROWS[1:])}),
    Try("Let “it” ask", {"step": "v5", "matrices": "by hand"}),
    Try("Two heads, two reasons", {"step": "v6", "matrices": "by hand", "n_heads": 2}),
)


def lesson(inputs: Inputs) -> Lesson:
    words, asking = (
        distinct(names(text, what))
        for text, what in ((inputs.tokens, "words"), (inputs.queries, "words that ask"))
    )
    seed = inputs.seed if inputs.matrices == "random" else None
    tensors = given(embeddings(words, inputs.X), embeddings(asking, inputs.Q), seed)
    index = list(STEPS).index(inputs.step)
    step = evolution.STEPS[index]
    before, now = (
        evolution.compute(evolution.STEPS[at], tensors, n_heads=inputs.n_heads)
        for at in (max(index - 1, 0), index)
    )
    rows = StepBoard(index, tensors | now, words, asking).rows()
    return Lesson(
        see=f"**{STEPS[step.key]}** ({step.source}). {step.change}",
        board=Board(rows=rows, notice=notice(step.key, now, before, words, asking)),
        formula=step.formula,
        sizes=_sizes(now),
        shapes=[_shape(name, step.axes[name], tensor) for name, tensor in now.items()],
        code=[step.run, steps.split] if step.run is steps.multi_head else [step.run],
    )


def _shape(name: str, axes: str, tensor: Tensor) -> Shape:
    letter, _, index = name.partition("_")
    return Shape(rf"{letter}_{{\text{{{index}}}}}" if index else _latex(name), axes, tuple(tensor.shape))


def _latex(name: str) -> str:
    return name if len(name) == 1 else rf"\text{{{name}}}"


def _sizes(tensors: dict[str, Tensor]) -> str:
    n_tokens, n_channels = tensors["X"].shape
    sizes = rf"n = {n_tokens} \text{{ tokens}},\; d_k = {n_channels}"
    if "Q_heads" in tensors:
        n_heads, _, d_head = tensors["Q_heads"].shape
        return rf"n = {n_tokens} \text{{ tokens}},\; H = {n_heads},\; d_\text{{head}} = {d_head}"
    if "Q" in tensors:
        sizes += rf",\; {len(tensors['Q'])} \text{{ queries}}"
    return sizes


def _back_and_next(state: State) -> None:
    keys = list(STEPS)
    now = keys.index(state.kept["step"])
    before, after = st.columns(2)
    for place, label, to in ((before, "‹ back", now - 1), (after, "next ›", now + 1)):
        place.button(
            label, disabled=not 0 <= to < len(keys), width="stretch",
            on_click=state.put, args=({"step": keys[to % len(keys)]},),
        )  # fmt: skip


def questions() -> tuple[Question, ...]:
    one, four = facts.n_parameters(4, 1), facts.n_parameters(4, 4)
    offered = (one // 4, one, 4 * one)
    same = torch.stack([facts.same_embedding_everywhere(4, seed) for seed in range(5)])  # [seed, query, key]
    even = (same - 1 / 4).abs().max().item() < 1e-12
    depends = (same - same[0]).abs().max().item() > 1e-12
    X = embeddings(list(examples.TOKENS), list(examples.TOKENS.values()))
    animal, it = list(examples.TOKENS).index("animal"), list(examples.TOKENS).index("it")
    before, after = (facts.longer_token(X, animal, factor)[it, animal].item() for factor in (1, 2))
    return (
        Question(
            "Multi-head attention has 4 channels. How many numbers are there to learn with 4 heads, "
            "if 1 head has " + f"{one}?",
            tuple(map(str, offered)),
            offered.index(four),
            f"The matrices are cut, not copied: {four} with 4 heads, {one} with 1.",
        ),
        Question(
            "Four words have the same embedding. Which weights does self-attention give them?",
            ("all on one word", "the same to all", "it depends on the matrices"),
            1 if even else 2 if depends else 0,
            f"Equal keys get equal scores: every weight is {same[0, 0, 0]:.2f}, whatever the matrices.",
        ),
        Question(
            "Without parameters, all numbers of “animal” double. What does “it” do?",
            ("look at it more", "look at it less", "no change"),
            0 if after > before else 1,
            f"Twice the numbers make twice the dot product: the weight goes from {before:.2f} to "
            f"{after:.2f}. √d_k would not correct that: it makes up for the number of channels, not for "
            "their size.",
        ),
    )


PART = Part(
    "steps", "Steps",
    (
        Own(_back_and_next), "step",
        Popover("Words and matrices", ("tokens", "queries", "matrices", "seed")),
        When("step", "v6", ("n_heads",)),
    ),
    lesson, TRIES, questions, also=("X", "Q"),
)  # fmt: skip
