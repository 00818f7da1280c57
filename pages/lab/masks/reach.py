"""Whom a token hears from, through one layer after another under the same mask."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_lab.models.engine import masks
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.masks.inputs import (
    MOST_LAYERS,
    PAINT,
    WORDS,
    Inputs,
    allowed_of,
    mask_matrix,
    names,
    of_mask,
    on_explore,
)
from attention_lab.viz_core.boards import Layers, Matrix, Scrub


class Reach(NamedTuple):
    """What a mask lets through in models of 1, 2, ... layers."""

    reached: Bool[Tensor, "layer query key"]
    counts: Int[Tensor, "layer query"]
    """How many tokens each query's vector depends on, itself included."""
    layers: Int[Tensor, "query key"]
    """How many layers it takes; 0 for oneself, -1 where none are enough."""


def through_layers(allowed: Bool[Tensor, "n n"], n_layers: int) -> Reach:
    """Who can influence whom after 1 to `n_layers` layers, and how many it takes."""
    reached = masks.reach(allowed, n_layers)
    return Reach(reached, reached.sum(dim=-1), masks.layers_needed(allowed))


def cone(allowed: Bool[Tensor, "n n"], query: int, n_layers: int) -> Bool[Tensor, "frame floor n"]:
    """Which vectors on the way matter to the query's after layer 1, 2, ... `n_layers` (the frames).

    Floor 0 is the input, floor l the output of layer l. The vector of token j on floor l matters to the query
    on floor L if the L - l layers between can carry it there; on floor L only the query itself is left.
    """
    n = len(allowed)
    nobody = torch.zeros(n, dtype=torch.bool)
    itself = nobody.clone()
    itself[query] = True
    carried = [itself, *masks.reach(allowed, n_layers)[:, query]]  # by 0, 1, 2, ... layers
    frames = [
        [carried[top - floor] if floor <= top else nobody for floor in range(n_layers + 1)]
        for top in range(1, n_layers + 1)
    ]
    return torch.stack([torch.stack(floors) for floors in frames])


def spread(allowed: Bool[Tensor, "n n"], key: int, n_layers: int) -> Bool[Tensor, "floor n"]:
    """Which tokens have heard of `key`: on floor 0 itself alone, on floor l after l layers."""
    itself = torch.zeros(1, len(allowed), dtype=torch.bool)
    itself[0, key] = True
    return torch.cat([itself, masks.reach(allowed, n_layers)[:, :, key]])


def furthest_back(reached: Bool[Tensor, "layer query key"]) -> Int[Tensor, "layer query"]:
    """How many tokens before itself a query reaches, at most, after each layer."""
    first = reached.int().argmax(dim=-1)  # the first key that is reached
    return torch.arange(reached.shape[1]) - first


LAYERS = np.arange(1, MOST_LAYERS + 1)
NEEDED = "layers needed (∞: never)"


def lesson(inputs: Inputs) -> Lesson:
    n = inputs.length
    last, first = WORDS[n - 1], WORDS[0]
    allowed = allowed_of(inputs.flow, inputs.flow_argument, n)
    through = through_layers(allowed, MOST_LAYERS)
    lit = cone(allowed, n - 1, MOST_LAYERS)
    needed = through.layers.numpy().astype(float)
    to_first = int(needed[n - 1, 0])
    story = (
        f"no number of layers brings it “{first}”"
        if to_first < 0
        else f"“{first}” needs **{to_first}** {'layer' if to_first == 1 else 'layers'} to get there"
    )
    tree = Layers(tokens=WORDS[:n], links=allowed.numpy(), lit=lit.numpy(), title=f"what “{last}” depends on")
    return Lesson(
        numbers={"word": last},
        rows=[
            [tree],
            [
                mask_matrix(allowed.numpy(), edit="flow", **names(n)),
                Matrix(
                    values=np.where(needed < 0, np.inf, needed), title=NEEDED, digits=0, reach=n,
                    marked=through.reached.numpy(), **names(n),
                ),
            ],
        ],
        notice=[
            f"After **{layers}** {'layer' if layers == 1 else 'layers'} “{last}” can depend on "
            f"**{n_words} of {n}** words; {story}."
            for layers, n_words in zip(LAYERS, through.counts[:, -1].tolist(), strict=True)
        ],
        scrub=Scrub("layers", "layers", LAYERS),
        sizes=rf"n = {n},\; L = 1 \ldots {MOST_LAYERS}",
        axes={
            "query": n, "key": n, "layer": MOST_LAYERS,
            **dict(zip(("layers", "floor", "token"), lit.shape, strict=True)),
        },
        code=[through_layers, masks.reach, masks.layers_needed, cone],
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    window = through_layers(masks.sliding_window(16, 5)[0, 0], 3)
    counts = window.counts[:, -1].tolist()  # of the last of 16 words
    after_three = (counts[0] + 2, counts[0] + 2 * (counts[0] - 1), 3 * counts[0])
    needed = int(window.layers[15, 0])
    apart = int(through_layers(masks.memory(12, 3, 0)[0, 0], 5).counts[4, 11])
    joined = furthest_back(through_layers(masks.memory(16, 3, 3)[0, 0], 3).reached)[:, 15]
    steps = {int(step) for step in joined.diff()}
    return (
        Answer.of(
            after_three.index(counts[2]),
            options=tuple(map(str, after_three)),
            heard=counts,
            more=counts[0] - 1,
            counts=", ".join(map(str, counts)),
            needed=needed,
        ),
        Answer.of((3, 12, 15).index(apart), apart=apart),
        Answer.of(1 if steps == {3} else 0, steps_back=", ".join(str(int(back)) for back in joined)),
    )


CONTROLS = (of_mask("flow", "flow_argument"), "length", on_explore("flow", "flow_argument", "length"), PAINT)
PART = part(__name__, CONTROLS, lesson, questions, scrub="layers")
