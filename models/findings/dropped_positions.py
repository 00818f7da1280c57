"""A model reads longer texts once its rotary positions are dropped and it was trained on for a little."""

from collections.abc import Iterator
from dataclasses import replace

from ..data.tasks import Task
from ..engine.transformer import Transformer
from ..fields import Field, number, whole
from ..runs.recipes import RECIPES
from ..runs.train_shipped import config_of
from ..scores.intervals import validated
from ..training.loop import HELD_OUT_SEED, Training
from ..zoo import load_model
from .finding import Chart, Finding, Number, Outcome, Tell, words_of

_HELD_OUT = 256


def dropped(steps: int, tell: Tell) -> Transformer:
    """The shipped rotary model without its positions, trained on by its own recipe for so many steps."""
    config = config_of(RECIPES["positions/rotary"])
    training = replace(config.training, steps=steps, warmup_steps=steps // 10, validate_every=10**6)
    run = Training(replace(config, model=replace(config.model, positions="none"), training=training))
    run.model.load_state_dict(load_model("positions/rotary").model.state_dict())  # rotary has no weights
    for record in run:
        tell(record.step / steps)
    return run.model.eval()


def losses(task: Task, model: Transformer) -> dict[str, float]:
    """Nats a word on held-out texts, by where the word stands."""
    batches = task.examples(HELD_OUT_SEED, _HELD_OUT, at_once=64)
    found = validated(task, model, batches).scores
    return {name: value for name, value in found.items() if name.startswith("positions")}


def measure(model: None, tell: Tell, *, steps: int, near: float) -> Outcome:
    """The shipped model with rotary positions, that without positions, and the one whose positions go now."""
    rotary, none = load_model("positions/rotary"), load_model("positions/none")
    by_model = {
        "rotary": losses(rotary.task, rotary.model),
        "dropped": losses(rotary.task, dropped(steps, tell)),
        "never had any": losses(none.task, none.model),
    }
    places = list(by_model["rotary"])
    first, last = places[0], places[-1]

    def numbers() -> Iterator[Number]:
        for name, found in by_model.items():
            yield from (Number(f"{name}: {place}", found[place], digits=3) for place in places)

    before, after = by_model["rotary"], by_model["dropped"]
    return Outcome(
        numbers=tuple(numbers()),
        holds=after[last] < before[last] and after[first] <= near * before[first],
        said=(
            f"On {last}, four times as long as the texts of training, rotary positions have "
            f"{before[last]:.2f} nats a word, and {after[last]:.2f} once they are dropped. On {first} the "
            f"loss goes from {before[first]:.2f} to {after[first]:.2f}."
        ),
        charts=(
            Chart(
                title="held-out loss by position", x_label="model and positions", y_label="nats a word",
                x=[f"{name}, {place.removeprefix('positions ')}" for name in by_model for place in places],
                series={"loss": [found[place] for found in by_model.values() for place in places]},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("dropped-positions"),
    measure=measure,
    parameters={
        "steps": Field(150, whole(10, 3_000), "Steps without positions"),
        "near": Field(1.05, number(1, 2), "Highest loss ratio, near"),
    },
    code=(dropped, losses),
)
