"""A gate on each head takes attention off the first token: two models alike but for that gate."""

from ..fields import Field, number, whole
from .finding import Chart, Finding, Number, Outcome, Tell, words_of
from .no_sink import compared, on_first, split, weights_of

NAMES = {"softmax": "without", "gated": "with a gate"}


def measure(model: None, tell: Tell, *, texts: int, share: float, loss: float) -> Outcome:
    """The shipped pair on the same held-out texts."""
    plain, gated = compared(NAMES, texts, tell)
    return Outcome(
        numbers=(
            Number("without: weight on the first, from consonants", plain.idle, "0.467, all tokens"),
            Number("with a gate: weight on the first, from consonants", gated.idle, "0.048, all tokens"),
            Number("without: held-out loss, nats a letter", plain.loss, digits=3),
            Number("with a gate: held-out loss, nats a letter", gated.loss, digits=3),
        ),
        holds=gated.idle <= share * plain.idle and gated.loss <= loss * plain.loss,
        said=(
            f"From consonants, which need no earlier letter, the head puts {plain.idle:.2f} on the first "
            f"token without a gate, and {gated.idle:.2f} with a gate, which can simply close. Held-out loss "
            f"goes from {plain.loss:.3f} to {gated.loss:.3f} nats a letter."
        ),
        charts=(
            Chart(
                title="weight on the first token", x_label="model", y_label="weight",
                x=[f"{name}, from {what}" for name in NAMES.values() for what in ("consonants", "vowels")],
                series={"weight": [plain.idle, plain.busy, gated.idle, gated.busy]},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("gate-on-heads"),
    measure=measure,
    parameters={
        "texts": Field(64, whole(4, 256), "Held-out texts"),
        "share": Field(0.5, number(0.05, 0.95), "Share left, at most"),
        "loss": Field(1.01, number(1, 2), "Highest loss ratio"),
    },
    code=(split, on_first, weights_of),
)
