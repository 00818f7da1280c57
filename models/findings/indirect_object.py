"""Indirect objects: "Mary and John went, John gave a drink to" goes on with Mary (Wang et al. 2022)."""

from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor

from ..data.tasks import Reading
from ..fields import Field, whole
from ..percent import percent
from ..zoo.model import Attention, Model
from .finding import Chart, Finding, Number, Outcome, Tell, in_words, words_of

NAMES = ("Mary", "John", "Tom", "James", "Anna", "Paul", "Sarah", "Mark")
TEMPLATES = (
    "When {io} and {s} went to the store, {s} gave a drink to",
    "Then, {io} and {s} had a long day at work, and {s} gave a book to",
    "After {io} and {s} went to the park, {s} handed a ball to",
    "While {s} and {io} were at the house, {s} gave a letter to",
)
_SHOWN = 12


@dataclass(frozen=True)
class Prompt:
    """A text that is to go on with the indirect object: both names as tokens, and where that one stands."""

    reading: Reading
    object: int
    subject: int
    place: int


def prompts(model: Model, count: int) -> list[Prompt]:
    """The first `count` prompts whose names are one token each, and different ones.

    Raises ValueError for a model of which this is never so.
    """
    prompts_: list[Prompt] = []
    for at, (first, second) in enumerate(permutations(NAMES, 2)):
        text = TEMPLATES[at % len(TEMPLATES)].format(io=first, s=second)
        prompt = _prompt(model, text, first, second)
        prompts_ += [prompt] if prompt is not None else []
        if len(prompts_) == count:
            break
    if not prompts_:
        raise ValueError(
            f"{model.name!r} lacks first names as single tokens, or does not continue texts; choose GPT-2 "
            "small or another English language model"
        )
    return prompts_


def _prompt(model: Model, text: str, first: str, second: str) -> Prompt | None:
    try:
        reading, *answers = (model.read(text + more) for more in ("", f" {first}", f" {second}"))
    except ValueError:  # it does not read English
        return None
    if list(reading.tokens) != ["decoder"] or "continue" not in model.abilities:
        return None
    ids = reading.inputs[0][0]
    rows = [each.inputs[0][0] for each in answers]
    if any(len(row) != len(ids) + 1 or not torch.equal(row[:-1], ids) for row in rows):
        return None
    io, s = (int(row[-1]) for row in rows)
    places = (ids == io).nonzero().flatten().tolist()
    return Prompt(reading, io, s, places[0]) if len(places) == 1 and io != s else None


def keep_last_rows(address: str, values: Tensor) -> Tensor | None:
    """The last row of the logits and of every pattern: what the next token is written from."""
    if address == "logits":
        return values[-1].double()
    return values[:, -1] if address.endswith(".self.pattern") else None


def measure(model: Model, tell: Tell, *, texts: int) -> Outcome:
    """Logits of both names after each prompt, and how much each head looks at the indirect object."""
    differences: list[float] = []
    chances: list[float] = []
    weights: list[Tensor] = []  # [layer, head], a prompt each
    questions = prompts(model, texts)
    for at, prompt in enumerate(questions):
        trace = model.trace(prompt.reading, reduce=keep_last_rows)
        logits = trace["logits"]
        differences.append(float(logits[prompt.object] - logits[prompt.subject]))
        chances.append(float(logits.softmax(dim=-1)[prompt.object]))
        weights.append(torch.stack([trace[a][:, prompt.place] for a in trace if a.endswith(".pattern")]))
        tell((at + 1) / len(questions))
    attention, means = model.attention("decoder.self"), torch.stack(weights).mean(dim=0)
    return _outcome(torch.tensor(differences), chances, means, attention)


def _outcome(differences: Tensor, chances: list[float], weights: Tensor, attention: Attention) -> Outcome:
    mean, first = float(differences.mean()), float((differences > 0).double().mean())
    top = weights.flatten().topk(min(_SHOWN, weights.numel()))
    names = ["L{} H{}".format(*attention.head_at(at)) for at in top.indices.tolist()]
    return Outcome(
        numbers=(
            Number("logit difference, mean", mean, "3.56"),
            Number("texts where the indirect object comes before the subject", first, "0.993"),
            Number("probability of the indirect object", sum(chances) / len(chances), "0.49"),
            Number("largest weight on the indirect object, mean of a head", float(top.values[0]),
                   "0.59, name movers L9 H9, L9 H6, L10 H0"),
        ),
        holds=mean > 0 and first >= 0.99 and float(top.values[0]) > 0.5,
        said=(
            f"Over {len(differences)} texts, the indirect object's logit is {mean:.2f} above the subject's "
            f"and higher in {percent(first)}. {in_words(names[0]).capitalize()} looks at it most: "
            f"{float(top.values[0]):.2f}."
        ),
        charts=(
            Chart(
                title="weight on the indirect object, from the last word", x_label="head",
                y_label="weight", x=names, series={"weight": top.values.tolist()},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("indirect-object"),
    model="hf:gpt2",
    fits=lambda sizes: sizes.get("kind") == "decoder-only",
    measure=measure,
    parameters={"texts": Field(24, whole(2, 56), "Texts")},
    code=(prompts, keep_last_rows, measure),
)
