"""Part 3 on any model: a head of it, colder and hotter, and what the model then answers."""

from collections.abc import Sequence

from models.lessons.softmax import any_head, weights
from models.lessons.softmax.any_head import Answers
from models.lessons.softmax.temperature import TEMPERATURES
from models.lessons.softmax.weights import Softmax
from pages.lab import any_model
from pages.lab.any_model import Read
from pages.lab.lesson import Lesson, Shape
from pages.lab.softmax.inputs import Inputs
from pages.shared import on_offer
from pages.shared.wording import distinct, plain
from viz_core.boards import Bars, Board, Curves, Line, Panel, Scrub
from viz_core.labels import visible

MOST_TOKENS = 64
N_LINES = 3


def lesson(inputs: Inputs) -> Lesson:
    read = any_model.read(inputs, most=MOST_TOKENS, passes=len(TEMPERATURES))
    _check_softmax(inputs, read)
    query, address = any_model.position(inputs, read), read.at(inputs.other_layer)
    heads = [inputs.other_head] if inputs.scope == "head" else list(range(read.attention.n_heads))
    scores = f"{address}.scores"
    trace = read.model.trace(read.reading, reduce=lambda a, value: value if a == scores else None)
    row = any_head.row(trace, address, head=inputs.other_head, query=query)
    answers = any_head.answers(read.model, read.reading, address, heads=heads, at=_asked(read, query))
    temperatures, d_k = TEMPERATURES.numpy(), read.attention.d_head
    keys = distinct([visible(key) for key in read.keys])
    return Lesson(
        see=_see(inputs, read, heads),
        board=Board(
            rows=[
                [_weights(row, keys, visible(read.queries[query]), inputs.other_head)],
                [_entropy(row, inputs.other_head), _answers(answers), _likeliest(answers)],
            ],
            notice=[_notice(row, answers, keys, at) for at in range(len(temperatures))],
            scrub=Scrub(
                field="temperature", label="temperature T", values=temperatures,
                words=[f"{t:.3g}{' (as trained)' if t == 1 else ''}" for t in temperatures.tolist()],
            ),
        ),
        formula=r"\mathrm{pattern} = \mathrm{softmax}\!\left(\mathrm{scores} \cdot \new{\frac{1}{T}}\right)",
        sizes=rf"d_k = {d_k}",
        shapes=(
            Shape(r"\mathrm{scores} / T", "temperature, key", tuple(row.weights.shape)),
            Shape(r"\mathrm{pattern}", "temperature, key", tuple(row.weights.shape)),
            Shape(r"P(\text{answer})", "temperature, output", (len(temperatures), _n_outputs(read))),
        ),
        code=(any_head.row, weights.softmax, any_head.answers),
    )  # fmt: skip


def _check_softmax(inputs: Inputs, read: Read) -> None:
    if read.attention.normalizer != "softmax":
        raise ValueError(
            f"{on_offer.title(inputs.other)} makes weights by {read.attention.normalizer!r}, and a "
            "temperature is a softmax's; choose a model with the softmax."
        )


def _asked(read: Read, query: int) -> int:
    """The row of the logits that is watched: the query's own, or the last where these are other tokens'."""
    last = list(read.reading.tokens)[-1]
    return query if read.side == last else len(read.reading.tokens[last]) - 1


def _n_outputs(read: Read) -> int:
    return len(read.model.names(read.reading))


def _see(inputs: Inputs, read: Read, heads: Sequence[int]) -> str:
    which = f"head {inputs.other_head}" if len(heads) == 1 else "all heads"
    title = plain(on_offer.title(inputs.other))
    where = "" if read.model.pooled else " there, or at the last token that it writes"
    return (
        f"The scores of {which} of layer {inputs.other_layer} of **{title}** are divided by a temperature "
        f"$T$. The bars are what head {inputs.other_head} then looks at from one token, and what the model "
        f"then answers{where}."
    )


def _weights(row: Softmax, keys: list[str], word: str, head: int) -> Panel:
    return Bars(
        values=row.weights.numpy(), labels=keys, title=f"weights of “{word}” in head {head}",
        x_label="key", y_label="weight", colour=head, reach=1, axis="key",
    )  # fmt: skip


def _entropy(row: Softmax, head: int) -> Panel:
    return Curves(
        x=TEMPERATURES.numpy(), lines=[Line(y=row.entropy.numpy(), name="entropy", colour=head)],
        title="entropy of these weights", x_label="temperature T", y_label="nats", log_x=True,
        at=TEMPERATURES.numpy(),
    )  # fmt: skip


def _answers(answers: Answers) -> Panel:
    return Bars(
        values=answers.probabilities.numpy(), labels=distinct([visible(word) for word in answers.words]),
        title="what the model answers", y_label="probability", reach=1,
    )  # fmt: skip


def _likeliest(answers: Answers) -> Panel:
    names = distinct([visible(word) for word in answers.words[:N_LINES]])
    lines = [
        Line(y=answers.probabilities[:, at].numpy(), name=name, colour=at + 4)
        for at, name in enumerate(names)
    ]
    return Curves(
        x=TEMPERATURES.numpy(), lines=lines, title="probability of the likeliest", x_label="temperature T",
        y_label="probability", log_x=True, y_range=(0, 1), at=TEMPERATURES.numpy(),
    )  # fmt: skip


def _notice(row: Softmax, answers: Answers, keys: list[str], at: int) -> str:
    best = int(answers.probabilities[at].argmax())
    return (
        f"The largest weight, **{row.largest[at]:.2f}**, is on “{keys[int(row.weights[at].argmax())]}”; the "
        f"likeliest answer is “{visible(answers.words[best])}” (**{answers.probabilities[at, best]:.2f}**)."
    )
