"""Quantities that are computed when the stage asks for them: of a head, of its stack, and of the model."""

from collections.abc import Callable, Hashable
from itertools import product
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize

from attention_lab.models.data.tasks.batch import Repeated
from attention_lab.models.engine.address import Address
from attention_lab.models.interventions.head_paths import FEED_FORWARD, parts_of_logits, path
from attention_lab.models.interventions.head_sweep import Target
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.model import Model
from attention_lab.pages.explore.head_measures import shares
from attention_lab.pages.explore.state import Inputs, settings_of
from attention_lab.pages.explore.subject import Stack, Subject, operations_of, subject_of, token_text
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.work import BILLION, most_operations
from attention_lab.viz_core.measures import (
    MEASURES,
    attention_flow,
    head_scores,
    plane_of_queries_and_keys,
    rollout,
    value_weighted,
)
from attention_lab.viz_core.measures.several_heads import QueriesAndKeys

# Quantities of a head or of its stack that are computed when the stage asks for them.

N_NEAREST = 3
"""Words that are named beside a vector."""
MOST_FLOW = 10_000_000
"""queries x keys x the edges between them, of attention flow: a third of a second."""


def head_quantity(
    inputs: Inputs, show: str, stack: str, layer: int, head: int, q0: int, k0: int
) -> dict[str, Any]:
    """The quantity over all queries and keys that the stage's window may show.

    Raises ValueError, with a sentence, for what is not defined here.
    """
    from attention_lab.pages.explore.payload import WINDOW

    subject = subject_of(inputs)
    of = subject.stack(stack)
    layer, head = of.attention.nearest(layer), min(head, of.n_heads - 1)
    window = slice(q0, q0 + WINDOW), slice(k0, k0 + WINDOW)
    if show == "plane":
        plane = head_plane(subject, of, layer, head, *window)
        return {name: points.round(4).tolist() for name, points in plane._asdict().items()}
    if show == "nearest":
        return {show: nearest_words(subject, of, layer, head, *window)}
    part = head_matrix(subject, of, layer, head, show)[window]
    return {"values": [float(f"{value:.4g}") for value in part.ravel()], "shape": list(part.shape)}


def head_matrix(subject: Subject, stack: Stack, layer: int, head: int, show: str) -> np.ndarray:
    """[query, key]: "length", what the head takes from each key; "rollout" and "flow", from the first layer
    up to this one through all heads. Raises ValueError where it is not defined, or would take long.
    """
    match show:
        case "length":
            return _length(subject, stack, layer, head)
        case "flow":
            return _flow(subject, stack, layer)
    return rollout(_means(subject, stack, layer, "rollout"))[-1]


def head_plane(
    subject: Subject, stack: Stack, layer: int, head: int, queries: slice, keys: slice
) -> QueriesAndKeys:
    """These queries and keys of a head in one plane. Raises ValueError where they are not known."""
    if not stack.attention.whole:
        raise ValueError("This model's queries and keys are not known; look at the weights.")
    where = stack.address(layer)
    at = {f"{where}.q": head, f"{where}.k": head // stack.sharing}
    q, k = _arrays(subject, lambda a, t: t[at[a]].clone() if a in at else None).values()
    return plane_of_queries_and_keys(q[queries], k[keys])


def nearest_words(
    subject: Subject, stack: Stack, layer: int, head: int, queries: slice, keys: slice
) -> dict[str, list[list[tuple[str, float]]]]:
    """Of the values of these keys, and of z of these queries, the words whose own values are most like it,
    with the cosines, the most alike first. Raises ValueError where a word's own value is not known.
    """
    model, alphabet, where = subject.model, subject.model.made_of(), stack.address(layer)
    offer = offer_of(subject.inputs.model)

    def compute() -> tuple[torch.Tensor, int]:
        values = model.word_values(stack.id, layer, head)
        if values is None or alphabet is None:
            raise ValueError("This head's own values are not known; look at the numbers.")
        return normalize(values.float()), values.nbytes

    key = ("nearest", model_alone(subject.inputs), offer and offer.stamp, where, head)
    own = cache.cached(cache.payloads, key, compute)
    names = subject.names if model.by_first_use or alphabet is None else alphabet.names
    at = {f"{where}.v": head // stack.sharing, f"{where}.z": head}
    v, z = _arrays(subject, lambda a, t: t[at[a]].clone() if a in at else None).values()

    def nearest(vectors: np.ndarray) -> list[list[tuple[str, float]]]:
        cosines = normalize(torch.from_numpy(vectors).float()) @ own[: len(names)].T  # [vector, word]
        best = (each.tolist() for each in cosines.topk(min(N_NEAREST, len(names))))
        rows = (zip(*row, strict=True) for row in zip(*best, strict=True))
        return [[(token_text(names[word]), round(c, 2)) for c, word in row if c > 0] for row in rows]

    return cache.on_worker(lambda: {"values": nearest(v[keys]), "sums": nearest(z[queries])})


def _length(subject: Subject, stack: Stack, layer: int, head: int) -> np.ndarray:
    output = subject.model.projection(stack.id, layer)
    if output is None or not stack.attention.whole or stack.attention.handed_on:
        raise ValueError("This model's values or output projection are not known; look at the weights.")
    where = stack.address(layer)
    at = {f"{where}.pattern": head, f"{where}.v": head // stack.sharing}
    arrays = _arrays(subject, lambda a, t: t[[at[a]]] if a in at else None)
    pattern, v = map(arrays.__getitem__, at)
    return value_weighted(pattern, v, output[[head]].float().numpy())[0]


def _flow(subject: Subject, stack: Stack, layer: int) -> np.ndarray:
    work = stack.n_query * stack.n_key * (layer + 1) * stack.n_query * stack.n_key
    if work > MOST_FLOW:
        most = int((MOST_FLOW / (layer + 1)) ** 0.25)
        raise ValueError(
            f"Attention flow between {stack.n_query} tokens through {layer + 1} layers takes too long; take "
            f"at most {most} tokens, or the rollout."
        )
    return attention_flow(_means(subject, stack, layer, "flow"))


def _means(subject: Subject, stack: Stack, layer: int, name: str) -> np.ndarray:
    """The mean pattern of each layer's heads up to a layer: [layer, 1, query, key]."""
    if stack.id.endswith(".cross"):
        raise ValueError(
            f"Attention {name} follows one text through the layers; choose a stack of self-attention."
        )
    stack.attention.check_all_below(layer, f"attention {name}")
    addresses = {f"{stack.address(at)}.pattern" for at in range(layer + 1)}
    means = _arrays(subject, lambda a, t: t.mean(0, keepdim=True) if a in addresses else None)
    return np.stack([shares(mean) for mean in means.values()])


def _arrays(subject: Subject, reduce: Callable[[str, Any], Any]) -> dict[str, np.ndarray]:
    trace = cache.on_worker(lambda: subject.run(reduce))
    return {address: trace[address].numpy() for address in trace}


FIGURE_NAMES = {"length": "length", "rollout": "share", "flow": "flow"}
"""What viz_core calls them."""


# What heads do with random tokens that are read twice in a row: a property of the model, whatever the
# text.
# It is computed when a measure of it is chosen, and once for a model and the settings that build it.

N_TEXTS = 4
"""Random texts, of which each measure is the mean."""
RANDOM_LENGTH = 52
"""Tokens of such a text, about: two halves of 25, and special ones."""
REPEAT_MEASURES = tuple(measure.name for measure in MEASURES if measure.needs == "repeat")


def random_token_measures(inputs: Inputs) -> dict[str, Any]:
    """By stack and measure a number per head [layer * head], and a sentence on what was read.

    Raises ValueError, with a sentence, for a model that reads no tokens, and for too much work.
    """
    model = cache.model(inputs.model, inputs.settings)
    texts = [model.repeated(seed) for seed in range(N_TEXTS)]
    lengths, most = [len(tokens) for tokens in texts[0].reading.tokens.values()], most_operations()
    price = N_TEXTS * model.operations(lengths)
    if price > most:
        raise ValueError(
            f"{N_TEXTS} random texts of {lengths[0]} tokens take {price / BILLION:,.0f} billion operations, "
            f"more than {most / BILLION:,.0f}; take a smaller model."
        )
    stacks = [s for s in model.stacks(tuple(texts[0].starts)) if s.endswith(".self")]
    read = [cache.on_worker(lambda text=text: _scores(model, text, stacks)) for text in texts]
    stats: dict[str, dict[str, list[float]]] = {stack: {} for stack in stacks}
    for stack, name in product(stacks, REPEAT_MEASURES):
        means = np.mean([scores[stack][name] for scores in read], axis=0)  # [layer, head]
        stats[stack][name] = [round(float(value), 4) for value in means.ravel()]
    n = texts[0].n
    note = f"Means over {N_TEXTS} texts of {n} random tokens, read twice in a row."
    return {"stats": stats, "said": note}


def _scores(model: Model, text: Repeated, stacks: list[str]) -> dict[str, dict[str, list[np.ndarray]]]:
    """Of each layer of the stacks, the measures of its heads."""
    scores_of: dict[str, dict[str, list[np.ndarray]]] = {
        stack: {name: [] for name in REPEAT_MEASURES} for stack in stacks
    }

    def take(address: str, tensor: Any) -> None:
        where = Address.parse(address)
        if where.name == "pattern" and where.family in scores_of:
            repeat = (text.starts[where.stack], text.n)
            scores = head_scores(shares(tensor.numpy()), cross=False, repeat=repeat)
            for each in REPEAT_MEASURES:
                scores_of[where.family][each].append(scores[each])

    model.trace(text.reading, reduce=take)
    return scores_of


def price_random_tokens(inputs: Inputs) -> int:
    """The operations of `random_token_measures`, about."""
    return N_TEXTS * operations_of(Inputs(inputs.model, "x " * RANDOM_LENGTH, **inputs.settings))


def model_alone(inputs: Inputs) -> tuple[Hashable, ...]:
    """The model with the settings that build it: what random tokens say something of."""
    building = {s.name for s in settings_of(inputs.model) if s.builds}
    values = ((name, value) for name, value in inputs.settings.items() if name in building)
    return (inputs.model, *values)


# Which way an answer comes about: what each part of the stream gives to a logit, and what one head does
# through another alone.

PASSES = {"parts": 1, "path": 8}
"""How many passes each takes."""
TOP_OUTPUTS = 8


def logit_parts(subject: Subject, line: str) -> dict[str, Any]:
    """What each part adds to a logit, or to the difference of two, the largest first, and their sum.

    Raises ValueError for another target, and for a model whose logits are no sum of parts.
    """
    target = Target.read(line)
    if target.kind not in ("logit of", "logits"):
        raise ValueError(f"{line} is no sum of parts; choose a logit, or a difference of two.")
    model: Any = subject.model
    parts = parts_of_logits(model, subject.reading, target.at)
    columns = parts.values.double()
    values = columns[:, target.outputs[0]]
    if target.kind == "logits":
        values = values - columns[:, target.outputs[1]]
    order = values.abs().argsort(descending=True, stable=True).tolist()
    return {
        "parts": [[parts.names[at], float(f"{float(values[at]):.6g}")] for at in order],
        "before": float(f"{float(values.sum()):.6g}"),
    }


def path_patched(
    subject: Subject, sender: str, change: str, receiver: str, through: str, step: int
) -> dict[str, Any]:
    """The probabilities of the likeliest outputs at a step: as they are; where a change of the sending head
    is heard by what the receiving one reads alone, with feed-forward layers recomputed and with them frozen;
    and where all hear it. Raises ValueError as `path` does.
    """
    model: Any = subject.model
    edit = f"{sender}: {change}"
    settings = subject.inputs.reading
    paths = [
        path(model, subject.reading, edit, receiver, through=tuple(through), feed_forward=how, **settings)
        for how in FEED_FORWARD
    ]
    only = lambda address, x: x if address == "logits" else None  # noqa: E731
    plain = model.trace(subject.reading, reduce=only)
    whole = model.trace(subject.reading, reduce=only, edits=[edit], **settings)
    logits = [trace["logits"] for trace in (plain, *paths, whole)]
    at = max(0, min(step, len(logits[0]) - 1))
    count = len(subject.names)
    before, *others = each = [rows[at, :count].double().softmax(-1) for rows in logits]
    most = torch.stack(each).amax(0).topk(min(TOP_OUTPUTS, count)).indices.tolist()
    nats = [float((before * (before.log() - after.log())).nan_to_num(0).sum()) for after in others]
    return {
        "title": f"{edit} through {' and '.join(through)} of {receiver}",
        "outputs": [
            [token_text(subject.names[i]), *(float(f"{float(p[i]):.6g}") for p in each)] for i in most
        ],
        "kl": [float(f"{max(0.0, each):.6g}") for each in nats],
    }
