"""Softpick needs no sink and makes no massive activations: two models alike but for what makes weights."""

import torch

from ..data.tasks import generator_of
from ..engine.trace import Trace
from ..fields import Field, number, whole
from ..zoo import load_model
from .finding import Chart, Finding, Number, Outcome, Tell, words_of
from .no_sink import compared, on_first, split, weights_of

NAMES = ("softmax", "softpick")
MASSIVE = 1_000
"""Times the median that an activation is massive from (Sun et al. 2024, Massive Activations, section 2)."""


def largest(name: str, texts: int) -> float:
    """The largest activation of the stream that leaves the last layer, in medians, over held-out texts."""
    lm = load_model(f"sinks/{name}")
    batch = lm.task.batch(generator_of(1, 0), texts, held_out=True)
    ratios = []
    for row in range(texts):
        trace = Trace()
        with torch.no_grad():
            lm.model(batch.inputs[0][row : row + 1], trace=trace)
        sizes = trace["decoder.0.resid_post"].abs()
        ratios.append(float(sizes.max() / sizes.median()))
    return max(ratios)


def measure(model: None, tell: Tell, *, texts: int, sink: float, loss: float) -> Outcome:
    """The shipped pair on the same held-out texts."""
    softmax, softpick = compared(NAMES, texts, tell)
    spikes = {name: largest(name, texts) for name in NAMES}
    return Outcome(
        numbers=(
            Number("softmax: weight on the first, from consonants", softmax.idle),
            Number("softpick: weight on the first, from consonants", softpick.idle, "sink rate 0%", digits=4),
            Number("softmax: largest activation, in medians", spikes["softmax"], digits=0),
            Number("softpick: largest activation, in medians", spikes["softpick"], digits=0),
            Number("softmax: held-out loss, nats a letter", softmax.loss, digits=3),
            Number("softpick: held-out loss, nats a letter", softpick.loss, digits=3),
        ),
        holds=softpick.idle < sink and spikes["softpick"] < MASSIVE and softpick.loss <= loss * softmax.loss,
        said=(
            f"From consonants, which need no earlier letter, softmax puts {softmax.idle:.2f} on the first "
            f"token and softpick {softpick.idle:.4f}. The largest activation is {spikes['softmax']:.0f} "
            f"medians with softmax and {spikes['softpick']:.0f} with softpick, so neither is massive in one "
            "layer."
        ),
        charts=(
            Chart(
                title="weight on the first token", x_label="model", y_label="weight",
                x=[f"{name}, from {what}" for name in NAMES for what in ("consonants", "vowels")],
                series={"weight": [softmax.idle, softmax.busy, softpick.idle, softpick.busy]},
                line=(sink, "a sink"), digits=4,
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("softpick"),
    measure=measure,
    parameters={
        "texts": Field(64, whole(4, 256), "Held-out texts"),
        "sink": Field(0.05, number(0.001, 0.95), "A sink has, at least"),
        "loss": Field(1.01, number(1, 2), "Highest loss ratio"),
    },
    code=(split, on_first, weights_of, largest),
)
