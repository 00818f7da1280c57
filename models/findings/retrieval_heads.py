"""Retrieval heads: few heads fetch a fact from far back, and without them it is lost (Wu et al. 2024)."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..data.tasks import Reading
from ..data.tasks.needle import ASKED, STOP, Needle
from ..fields import Field, one_of, whole
from ..percent import percent
from ..zoo.model import Model
from .finding import Chart, Finding, Number, Outcome, Tell, in_words, words_of
from .sources import readings

RETRIEVES = 0.1
"""A retrieval head has a score above this, in the paper (section 2.2)."""
DEPTHS = {"any": "anywhere", "0": "at the start", "0.5": "in the middle", "1": "at the end"}
FEW = 0.05
"""Retrieval heads are less than this share of all heads, in the paper (section 3)."""
Head = tuple[int, int]
"""A layer and a head of it, both from 0."""
_DRAWS = 5
_SHOWN = 16


@dataclass(frozen=True)
class Fetch:
    """A text with its question and answer, read: the rows of the logits that write the answer, its tokens,
    and where these stand in the needle.
    """

    reading: Reading
    rows: list[int]
    ids: list[int]
    places: list[int]


def fetch_of(reading: Reading) -> Fetch | None:
    """What is fetched in a text that was read; None where its tokens do not repeat those of the needle."""
    if list(reading.tokens) != ["decoder"]:
        return None
    labels, ids = [token.strip() for token in reading.tokens["decoder"]], reading.inputs[0][0].tolist()
    question_at = max((at for at, label in enumerate(labels) if label == ASKED), default=len(labels))
    first = next((at for at in range(question_at, len(labels)) if labels[at].isdecimal()), None)
    if first is None:
        return None
    answer = ids[first - 1 :]  # after the last token of the name
    starts = [at + 1 for at in range(question_at) if ids[at : at + len(answer)] == answer]
    if len(starts) != 1 or STOP not in labels[starts[0] : question_at]:
        return None
    places = list(range(starts[0], labels.index(STOP, starts[0])))
    return Fetch(reading, [first - 1 + at for at in range(len(places))], [ids[at] for at in places], places)


def texts(words: int, depth: str) -> Iterator[str]:
    """Endless haystacks, each with the answer after its question; every one is new."""
    task, rng = Needle(length=words), random.Random(1)
    while True:
        haystack = task.haystack(rng, depth=None if depth == "any" else float(depth))
        yield f"{haystack.text} {' '.join(haystack.answer)}"


def hits_in(model: Model, fetch: Fetch) -> tuple[Bool[Tensor, " token"], Bool[Tensor, "layer head token"]]:
    """Of each token of the answer: whether the model writes it, and whether a head's largest weight is on it
    in the needle.
    """
    rows, places = fetch.rows, torch.tensor(fetch.places)

    def reduce(address: str, values: Tensor) -> Tensor | None:
        if address == "logits":
            return values[rows].argmax(dim=-1).cpu()
        return values[:, rows].argmax(dim=-1).cpu() if address.endswith(".self.pattern") else None

    trace = model.trace(fetch.reading, reduce=reduce)
    hits = torch.stack([trace[address] == places for address in trace if address != "logits"])
    return trace["logits"] == torch.tensor(fetch.ids), hits


def answered(model: Model, fetch: Fetch, heads: Sequence[Head]) -> bool:
    """Whether the model writes all of the answer while these heads are off."""
    edits = [f"decoder.{layer}.self heads {head}: zero" for layer, head in heads]
    trace = model.trace(fetch.reading, reduce=lambda at, x: x if at == "logits" else None, edits=edits)
    return bool((trace["logits"][fetch.rows].argmax(dim=-1).cpu() == torch.tensor(fetch.ids)).all())


def scores_of(pairs: Sequence[tuple[Tensor, Tensor]]) -> Float[Tensor, "layer head"]:
    """Of the tokens that were copied, the share for which each head's largest weight was on the copied one.

    pairs: what `hits_in` gave, a text each. Raises ValueError where nothing was copied.
    """
    copied = sum(int(right.sum()) for right, _ in pairs)
    if not copied:
        raise ValueError("no head fetches a number, since no answer is right")
    return torch.stack([(hits & right).sum(dim=-1) for right, hits in pairs]).sum(dim=0).double() / copied


def measure(model: Model, tell: Tell, *, count: int, k: int, words: int, depth: str) -> Outcome:
    """Each head's score, and the share of texts answered with and without the strongest heads."""
    read = [fetch_of(reading) for reading in readings(model, texts(words, depth), count, lambda share: None)]
    fetches = [fetch for fetch in read if fetch is not None]
    if not fetches:
        raise ValueError(
            f"{model.name!r} does not read numbers from left to right; choose the model "
            "'needle' or a language model of English"
        )
    pairs = [hits_in(model, fetch) for fetch in fetches]
    try:
        scores = scores_of(pairs)
    except ValueError as error:
        raise ValueError(f"{model.name!r} cannot answer: {error}; choose the model 'needle'") from error
    ordered = sorted(range(scores.numel()), key=lambda at: -float(scores.flatten()[at]))
    heads = [model.attention("decoder.self").head_at(at) for at in ordered]
    if 2 * k > len(heads):
        raise ValueError(
            f"{model.name!r} has {len(heads)} heads, too few to leave {k} and as many others out; "
            f"give at most {len(heads) // 2}"
        )
    rng = random.Random(0)
    sets = [heads[:k], *(rng.sample(heads[k:], k) for _ in range(_DRAWS))]
    shares = []
    for at, off in enumerate(sets):
        shares.append(sum(answered(model, fetch, off) for fetch in fetches) / len(fetches))
        tell((at + 1) / len(sets))
    whole = sum(bool(right.all()) for right, _ in pairs) / len(pairs)
    return _outcome(scores, heads, whole, shares[0], shares[1:], len(fetches), k)


def _outcome(
    scores: Tensor, heads: list[Head], whole: float, without: float, others: list[float], n: int, k: int
) -> Outcome:
    top = heads[:_SHOWN]
    names = [f"L{layer} H{head}" for layer, head in top]
    n_retrieve = int((scores > RETRIEVES).sum())
    other = sum(others) / len(others)
    share, fetched, every, rest, gone = map(
        percent, (n_retrieve / len(heads), float(scores.max()), whole, other, without)
    )
    few = f" Of {len(heads)} heads, even one is more than {FEW:.0%}." if FEW * len(heads) <= 1 else ""
    return Outcome(
        numbers=(
            Number(f"heads that score above {RETRIEVES:g}", n_retrieve, digits=0),
            Number("share of all heads", n_retrieve / len(heads), "below 0.05"),
            Number("highest score", float(scores.max())),
            Number("texts answered, all heads", whole),
            Number(f"texts answered without the {k} strongest", without),
            Number(f"texts answered without {k} others, mean of {len(others)} draws", other),
            Number("the worst of these draws", min(others)),
        ),
        holds=0 < n_retrieve < FEW * len(heads) and without < 0.5 * whole <= other,
        said=(
            f"In {n} texts, {n_retrieve} of {len(heads)} heads, {share}, score above {RETRIEVES:g}; "
            f"{in_words(names[0])} fetches {fetched} of the numbers. All heads answer {every} of the texts; "
            f"without the {k} strongest, {gone}; without {k} random others, {rest}.{few}"
        ),
        charts=(
            Chart(
                title="retrieval score", x_label="head", y_label="share of copied numbers", x=names,
                series={"score": scores.flatten().topk(len(top)).values.tolist()},
                line=(RETRIEVES, "retrieval head"),
            ),
            Chart(
                title="texts answered", x_label="heads that are off", y_label="share",
                x=["none", f"top {k}", *(f"random {at + 1}" for at in range(len(others)))],
                series={"answered": [whole, without, *others]},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("retrieval-heads"),
    model="needle",
    fits=lambda sizes: sizes.get("kind") == "decoder-only",
    measure=measure,
    parameters={
        "count": Field(30, whole(5, 200), "Texts"),
        "k": Field(3, whole(1, 20), "Heads switched off"),
        "words": Field(64, whole(48, 256), "Words of a text", "The shipped model needle reads 64 at most."),
        "depth": Field("any", one_of(DEPTHS), "Where the fact is", control="segments"),
    },
    code=(fetch_of, hits_in, scores_of, answered, measure),
)
