"""Part 3: a trained head, colder and hotter, and what the translator then writes."""

import numpy as np

from models.engine.trace import Trace
from models.lessons.softmax import temperature, weights
from models.lessons.softmax.temperature import TEMPERATURES, Output, Place, pronoun
from models.lessons.softmax.weights import Softmax
from pages.lab.any_model import ANOTHER
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.softmax import any_head, head_choice
from pages.lab.softmax.inputs import PRONOUN, STACKS, TEXT, TWO_FEMININE, Inputs
from pages.shared import cache
from pages.shared.wording import distinct
from viz_core.boards import Bars, Board, Curves, Line, Panel, Scrub

STORY = {
    "reader": "translator",
    "stack": "encoder.self",
    "layer": 1,
    "head": 3,
    "scope": "layer",
    "text": TEXT,
}
UNSCALED = STORY | {"layer": 0, "text": TWO_FEMININE, "temperature": 0.25}
TRIES = (
    Try("heat one head to 50", STORY | {"temperature": 50.0, "scope": "head"}),
    Try("heat all four to 50", STORY | {"temperature": 50.0}),
    Try("leave out 1/√d_k: T = 1/4", UNSCALED),
)
N_LINES = 3


def lesson(inputs: Inputs) -> Lesson:
    if inputs.reader == ANOTHER:
        return any_head.lesson(inputs)
    lm, trace = cache.translator(), head_choice.trace_of(inputs.text)
    heads = (inputs.head,) if inputs.scope == "head" else tuple(range(lm.config.n_heads))
    place = temperature.Place(inputs.stack, inputs.layer, heads)
    query, step = _positions(inputs, trace)
    output = temperature.output(lm, trace, place, step)
    row = temperature.row(trace, place, head=inputs.head, query=query)
    temperatures = TEMPERATURES.numpy()
    keys = trace.tokens["decoder" if inputs.stack == "decoder.self" else "encoder"]
    return Lesson(
        see=_see(inputs, place),
        board=Board(
            rows=[
                [_weights(row, inputs, trace, query, keys)],
                [
                    _entropy(row, temperatures, inputs.head),
                    _next_word(output),
                    _words(output, temperatures),
                ],
            ],
            notice=[_notice(row, output, keys, at) for at in range(len(temperatures))],
            scrub=Scrub(
                field="temperature", label="temperature T", values=temperatures,
                words=[f"{t:.3g}{_meaning(t, lm.config.head_size)}" for t in temperatures.tolist()],
            ),
        ),
        formula=r"\mathrm{pattern} = \mathrm{softmax}\!\left(\frac{\q{q} \cdot \k{k}}{\sqrt{d_k}} \cdot "
        r"\new{\frac{1}{T}}\right)",
        sizes=rf"d_k = {lm.config.head_size},\; \sqrt{{d_k}} = {lm.config.head_size**0.5:g}",
        shapes=(
            Shape(r"\mathrm{scores} / T", "temperature, key", tuple(row.weights.shape)),
            Shape(r"\mathrm{pattern}", "temperature, key", tuple(row.weights.shape)),
            Shape(r"P(\text{next word})", "temperature, vocabulary", (len(temperatures), len(lm.task.words))),
        ),
        code=(temperature.row, weights.softmax, temperature.heated, temperature.output),
    )  # fmt: skip


def _meaning(temperature: float, d_k: int) -> str:
    known = {1.0: " (as trained)", d_k**-0.5: " (without 1/√d_k)"}
    return known.get(temperature, "")


def _positions(inputs: Inputs, trace: Trace) -> tuple[int, int]:
    """The row of the pattern, and how many words stand before the one to watch.

    The decoder's row that predicts a word is that of the word before it.
    """
    step = pronoun(trace.tokens["decoder"]) - 1 if inputs.step == PRONOUN else inputs.step
    query = pronoun(trace.tokens["encoder"]) if inputs.query == PRONOUN else inputs.query
    return (query if inputs.stack == "encoder.self" else step), step


def _see(inputs: Inputs, place: Place) -> str:
    heads = f"head {inputs.head}" if len(place.heads) == 1 else "all heads"
    return (
        f"The scores of {heads} of the trained translator's {STACKS[inputs.stack].lower()}, layer "
        f"{inputs.layer}, are divided by a temperature $T$. The bars are what head {inputs.head} then looks "
        "at, and how probable that makes the next word."
    )


def _weights(row: Softmax, inputs: Inputs, trace: Trace, query: int, keys: list[str]) -> Panel:
    word = trace.tokens[inputs.stack.split(".")[0]][query]
    return Bars(
        values=row.weights.numpy(), labels=distinct(keys), title=f"weights of “{word}” in head {inputs.head}",
        x_label="key", y_label="weight", colour=inputs.head, reach=1, axis="key",
    )  # fmt: skip


def _entropy(row: Softmax, temperatures: np.ndarray, head: int) -> Panel:
    return Curves(
        x=temperatures, lines=[Line(y=row.entropy.numpy(), name="entropy", colour=head)],
        title="entropy of these weights", x_label="temperature T", y_label="nats", log_x=True,
        at=temperatures,
    )  # fmt: skip


def _next_word(output: Output) -> Panel:
    before = " ".join(output.before[-3:]) or "<bos>"
    return Bars(
        values=output.probabilities.numpy(), labels=output.words, title=f"next word after “… {before}”",
        y_label="probability", reach=1,
    )  # fmt: skip


def _words(output: Output, temperatures: np.ndarray) -> Panel:
    lines = [
        Line(y=output.probabilities[:, at].numpy(), name=word, colour=at + 4)
        for at, word in enumerate(output.words[:N_LINES])
    ]
    return Curves(
        x=temperatures, lines=lines, title="probability of the likeliest", x_label="temperature T",
        y_label="probability", log_x=True, y_range=(0, 1), at=temperatures,
    )  # fmt: skip


def _notice(row: Softmax, output: Output, keys: list[str], at: int) -> str:
    key = distinct(keys)[int(row.weights[at].argmax())]
    best = int(output.probabilities[at].argmax())
    return (
        f"The largest weight, **{row.largest[at]:.2f}**, is on “{key}”; the likeliest next word is "
        f"“{output.words[best]}” (**{output.probabilities[at, best]:.2f}**). The translator writes: "
        f"**{output.translations[at]}**"
    )


def questions() -> tuple[Question, ...]:
    lm, trace = cache.translator(), head_choice.trace_of(TEXT)
    step = temperature.pronoun(trace.tokens["decoder"]) - 1
    it = temperature.pronoun(trace.tokens["encoder"])
    one, layer, cross = (
        temperature.output(lm, trace, temperature.Place(stack, 1, heads), step)
        for stack, heads in (
            ("encoder.self", (3,)), ("encoder.self", (0, 1, 2, 3)), ("decoder.cross", (0, 1, 2, 3)),
        )
    )  # fmt: skip
    row = temperature.row(trace, temperature.Place("encoder.self", 1, (3,)), head=3, query=it)
    coldest = trace.tokens["encoder"][int(row.weights[0].argmax())]
    p_one, p_layer = (made.probabilities[-1, made.words.index("elle")].item() for made in (one, layer))
    return (
        Question(
            "Head 3 of layer 1 is heated to T = 50: from “it”, it looks at all words alike. What is written?",
            ("Still “elle”", "Now “il”", "No pronoun"),
            0 if p_one > 0.5 else 1,
            f"P(elle) is {p_one:.3f}: the other three heads still look at the street. All four heated, it is "
            f"{p_layer:.2f}, and the translator writes “{layer.translations[-1]}”.",
        ),
        Question(
            "T goes towards 0. Where does the weight go?",
            ("To all keys alike", "To the key with the largest score", "To the first key"),
            1 if row.largest[0] > 0.99 else 0,
            f"At T = 1/50 “{coldest}” has {row.largest[0]:.3f}: dividing by a small T pulls scores apart. At "
            f"T = 50 the largest of {len(row.weights[0])} weights is {row.largest[-1]:.2f}.",
        ),
        Question(
            "The decoder's cross-attention (layer 1) is heated to 50. What happens?",
            ("It writes the same sentence", "It writes another French sentence", "It writes nothing"),
            1 if cross.translations[-1] != cross.translations[len(cross.translations) // 2] else 0,
            f"It writes “{cross.translations[-1]}”: it has learned French, but cannot see where it is in the "
            "English sentence.",
        ),
    )


PART = Part("head", "A real head", head_choice.CONTROLS, lesson, TRIES, questions, scrub="temperature")
