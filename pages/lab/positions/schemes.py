"""One sentence through every scheme, side by side."""

import numpy as np

from attention_lab.models.percent import percent
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, When, part
from attention_lab.pages.lab.positions.inputs import (
    NAMES,
    SENTENCE,
    Inputs,
    alike,
    all_trained,
    all_untrained,
    difference,
    patterns_of,
    read,
    trained,
)
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Matrix, Scrub


def lesson(inputs: Inputs) -> Lesson:
    ids, words = read(inputs.text)
    is_trained = inputs.weights == "trained"
    models = {at: lm.model for at, lm in all_trained().items()} if is_trained else all_untrained(inputs.seed)
    patterns = patterns_of(models, ids, inputs.layer)  # [scheme, head, query, key]
    n_schemes, h, n, _ = patterns.shape
    config, names = trained("none").model.config, list(NAMES.values())
    pictures = [
        Matrix(
            title=name, values=pattern.numpy(), scale="weights", picture=True, rows=words, row_axis="query",
            column_axis="key",
        )
        for name, pattern in zip(names, patterns, strict=True)
    ]  # fmt: skip
    moved = difference(patterns)  # [scheme, head]
    extremes = zip(moved.argmax(dim=0).tolist(), (1 + moved[1:].argmin(dim=0)).tolist(), strict=True)
    return Lesson(
        rows=[pictures[:4], pictures[4:]],
        notice=[
            f"In head {head}, **{names[most]}** differs most from no positions, by "
            f"**{percent(float(moved[most, head]))}** of the weight; {names[least]} least, by "
            f"{percent(float(moved[least, head]))}."
            for head, (most, least) in enumerate(extremes)
        ],
        scrub=Scrub("head", "head", np.arange(h)),
        sizes=rf"n={n},\; h={h},\; d_{{model}}={config.d_model},\; d_{{head}}={config.head_size}",
        axes={"d_model": config.d_model, "head": h, "d_head": config.head_size, "scheme": n_schemes}
        | dict.fromkeys(("position", "query", "key"), n),
        code=(alike, patterns_of, difference),
    )


def questions() -> tuple[Answer, ...]:
    models = all_untrained(0)
    ids, _ = read("it it it it it it")
    patterns = patterns_of(models, ids, 0)  # [scheme, head, query, key]
    same = patterns[:, :, -1, 1:]  # the last "it", over all the "it" before it and itself
    uneven = dict(zip(NAMES, (same.amax(dim=-1) - same.amin(dim=-1)).amax(dim=1).tolist(), strict=True))
    ids, names = read(SENTENCE)
    first, second = (names.index(the) for the in distinct(("the", "the")))
    last = patterns_of(models, ids, 0)[:, :, -1]  # [scheme, head, key]
    gap = (last[..., first] - last[..., second]).abs()
    told_apart = dict(zip(NAMES, gap.amax(dim=1).tolist(), strict=True))
    even = [scheme for scheme, spread in uneven.items() if spread < 1e-6]
    blind = [scheme for scheme, by in told_apart.items() if by < 1e-6]
    choices = ("none", "rotary", "alibi")
    return (
        Answer.of(
            choices.index(even[0]),
            options=tuple(NAMES[scheme] for scheme in choices),
            spread=uneven[even[0]],
            uneven=uneven,
        ),
        Answer.of(0 if blind == ["none"] else 1 if blind == ["none", "alibi"] else 2, told_apart=told_apart),
    )


SAME = Note("All had the same text, steps and seed.")
CONTROLS = ("text", "weights", "layer", When("weights", "untrained", ("seed",), (SAME,)))
PART = part(__name__, CONTROLS, lesson, questions, scrub="head")
