"""Does a model notice that its words changed places?"""

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.models.data.tasks.next_word import NextWord
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.pages.lab.lesson import Answer, Lesson, Set, When, part
from attention_lab.pages.lab.positions.inputs import (
    MASKS,
    NAMES,
    ORDERS,
    SENTENCE,
    Inputs,
    all_trained,
    all_untrained,
    read,
    trained,
)
from attention_lab.viz_core.boards import Bars, Fact, Facts, Matrix
from attention_lab.viz_core.labels import short


def shuffled(n_words: int, seed: int) -> Int[Tensor, " word"]:
    """The old place of each word after a shuffle; the same for a seed."""
    return torch.randperm(n_words, generator=torch.Generator().manual_seed(seed))


def reversed_order(n_words: int) -> Int[Tensor, " word"]:
    """The old place of each word when the sentence is read backwards."""
    return torch.arange(n_words - 1, -1, -1)


@torch.no_grad()
def outputs(model: Transformer, ids: Int[Tensor, " word"]) -> Float[Tensor, "word d_model"]:
    """The vector that the last layer makes of each word."""
    trace = Trace(lambda address, tensor: tensor if address.endswith(".norm") else None)
    model(ids[None], trace=trace)
    return trace[f"{model.config.stacks[0]}.norm"]


def movement(
    model: Transformer, ids: Int[Tensor, " word"], order: Int[Tensor, " word"]
) -> Float[Tensor, " word"]:
    """How far each word's output moves when the words change places: |after - before| / |before|.

    Each word is compared with itself at its new place: 0 means that the model did not notice.
    """
    before, after = outputs(model, ids)[order], outputs(model, ids[order])
    return (after - before).norm(dim=-1) / before.norm(dim=-1)


def movements(
    models: Mapping[str, Transformer], ids: Int[Tensor, " word"], order: Int[Tensor, " word"]
) -> dict[str, float]:
    """The mean `movement` over the words, scheme by scheme."""
    return {scheme: movement(model, ids, order).mean().item() for scheme, model in models.items()}


def losses_in_order(
    models: Mapping[str, TrainedModel[NextWord]], ids: Int[Tensor, " word"], order: Int[Tensor, " word-1"]
) -> Float[Tensor, "scheme two"]:
    """Nats per word of the trained models, for the sentence as it is and for its words in the given order.

    `ids` begins with <eos>, which keeps its place; `order` is that of the words after it.
    """
    texts = torch.stack([ids, torch.cat([ids[:1], ids[1:][order]])])  # [in order or shuffled, word]
    return torch.stack([lm.task.nats(lm.model, texts).mean(dim=-1) for lm in models.values()])


WITHOUT = "without positions"


def lesson(inputs: Inputs) -> Lesson:
    ids, _ = read(inputs.text)
    n = len(ids) - 1  # words after <eos>
    places = shuffled(n, inputs.shuffle) if inputs.order == "shuffled" else reversed_order(n)
    config, vocabulary = trained("none").model.config, trained("none").task.tokenizer.vocabulary
    moved = movements(all_untrained(inputs.seed, causal=inputs.mask == "causal"), ids[1:], places)
    losses = losses_in_order(all_trained(), ids, places)  # [scheme, in order or not]
    worse = losses[:, 1] - losses[:, 0]
    schemes = list(NAMES.values())
    table = Matrix(
        title="trained models: nats per word",
        values=torch.stack([losses[:, 0], losses[:, 1], worse]).numpy(), scale="plain",
        rows=("in order", ORDERS[inputs.order], "worse by"), columns=schemes, column_axis="scheme",
    )  # fmt: skip
    rows, axes = ([[table]], {"in order or not": 2}) if inputs.mask == "causal" else ([], {})
    return Lesson(
        variant=inputs.mask,
        rows=[
            [Facts.of(Fact("the words now", " ".join(vocabulary[id_] for id_ in ids[1:][places].tolist())))],
            [
                Bars(
                    title="how far the outputs move", values=np.array(list(moved.values())), labels=schemes,
                    y_label="moved / length", digits=3, axis="scheme",
                    reach=1.15 * max(moved.values()),  # room for the number over the highest bar
                )
            ],
            *rows,
        ],
        notice=_notice(moved, worse.tolist(), inputs),
        sizes=rf"n={n}\ \text{{words}},\; d_{{model}}={config.d_model}",
        axes={"word": n, "d_model": config.d_model, "scheme": len(moved), **axes},
        code=(shuffled, outputs, movement, movements, losses_in_order),
    )  # fmt: skip


def _notice(moved: dict[str, float], worse: list[float], inputs: Inputs) -> str:
    unmoved = [
        WITHOUT if scheme == "none" else f"with {NAMES[scheme]}" for scheme, by in moved.items() if by < 1e-4
    ]
    untouched = (
        f"the {'models' if len(unmoved) > 1 else 'model'} **{' and '.join(unmoved)}** did not notice "
        f"(moved by {short(moved['none'])})"
        if unmoved
        else "**every model noticed**, by the mask"
    )
    order = ORDERS[inputs.order].capitalize()
    if inputs.mask != "causal":  # as all trained models are
        return f"{order}, no mask: {untouched}."
    return (
        f"{order}, {MASKS[inputs.mask]}: {untouched}. Trained causal models do worse by "
        f"**{min(worse):.1f} to {max(worse):.1f} nats** per word."
    )


def questions() -> tuple[Answer, ...]:
    ids, _ = read(SENTENCE)
    words = ids[1:]
    backwards = movements(all_untrained(0, causal=False), words, reversed_order(len(words)))
    mixed = movements(all_untrained(0), words, shuffled(len(words), 0))
    blind = {scheme for scheme, moved in backwards.items() if moved < 1e-4}
    orders = {"none": 0, "alibi none": 1, "none t5": 2}
    return (
        Answer.of(orders.get(" ".join(sorted(blind)), 3), without=WITHOUT, backwards=backwards),
        Answer.of(0 if mixed["none"] < 1e-4 else 1, mixed=mixed),
    )


CONTROLS = (
    "text",
    "order",
    When("order", "shuffled", ("shuffle",)),
    "mask",
    Set("seed", {"label": "seed of the weights", "help": None}),
)
PART = part(__name__, CONTROLS, lesson, questions)
