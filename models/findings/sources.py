"""What findings are measured on: texts that a model can read, and runs that ship with their models."""

import random
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from torch import Tensor

from ..data.grammar import sample_pairs
from ..data.reviews import sample_review
from ..data.tasks import Reading
from ..runs.folder import RunFolder
from ..zoo.folders import SHIPPED
from ..zoo.model import Model, Reduce
from .finding import Tell

Known = TypeVar("Known")
_SPECIAL = re.compile(r"<.+>|\[.+\]")
_TRIED = 20
_SEED = 1  # the training of shipped models drew other sentences


def sentences(seed: int = _SEED) -> Iterator[str]:
    """Endless held-out English sentences of the grammar."""
    for pair in sample_pairs(seed, "held out"):
        yield " ".join(pair.english)


def reviews(seed: int = _SEED) -> Iterator[str]:
    """Endless held-out reviews, each all praise or all blame in the end."""
    rng = random.Random(seed)
    while True:
        yield sample_review(rng, held_out=True).text


def own_texts(model: Model) -> Iterator[str]:
    """Endless held-out texts of a model's own task; reviews, where it has none of its own."""
    first = next(own := model.texts(_SEED), None)
    return reviews() if first is None else chain([first], own)


def readings(model: Model, texts: Iterator[str], count: int, tell: Tell) -> Iterator[Reading]:
    """The first `count` texts that the model can read, read. Raises ValueError where it can read none."""
    return (reading for reading, _ in known_readings(model, ((text, None) for text in texts), count, tell))


def known_readings(
    model: Model, texts: Iterator[tuple[str, Known]], count: int, tell: Tell
) -> Iterator[tuple[Reading, Known]]:
    """The same of texts of which something is known, each with that."""
    refused, read = "", 0
    for tried, (text, known) in enumerate(texts):
        if read == count or (tried >= _TRIED and not read) or tried >= 10 * count:
            break
        try:
            reading = model.read(text)
        except ValueError as error:
            refused = str(error)
            continue
        yield reading, known
        read += 1
        tell(read / count)
    if not read:
        raise ValueError(
            f"{model.name!r} cannot read any of the texts measured here ({refused}); choose a model of "
            "English sentences"
        )


def longest(model: Model, most: int, seed: int = _SEED) -> Reading:
    """As many words of held-out sentences as fit into `most` tokens of the model, as one reading.

    Raises ValueError for a model that reads none.
    """
    drawn = (word for sentence in sentences(seed) for word in sentence.split())
    words = list(islice(drawn, most))
    best, refused = None, f"its first word has more than {most} tokens"
    for count in range(1, most + 1):
        try:
            reading = model.read(" ".join(words[:count]))
        except ValueError as error:
            refused = str(error)
            break
        if max(map(len, reading.tokens.values())) > most:
            break
        best = reading
    if best is None:
        raise ValueError(f"{model.name!r} cannot read English sentences ({refused}); choose another model")
    return best


def is_word(token: str) -> bool:
    """Whether a token is of the text, and not a mark such as <eos> or [CLS]."""
    return not _SPECIAL.fullmatch(token.strip())


def keep_own_patterns(side: str) -> Reduce:
    """Keeps the patterns of one stack's self-attention."""
    return lambda at, x: x if at.startswith(f"{side}.") and at.endswith(".self.pattern") else None


def reads_english(sizes: dict[str, Any]) -> bool:
    """Whether a model's config may be that of one that reads words."""
    return sizes.get("input_channels") is None


def run_of(name: str) -> RunFolder:
    """The run of a shipped model. Raises FileError, once it is read, where it is not there."""
    return RunFolder(SHIPPED / name / "run")


def validated(run: RunFolder) -> tuple[list[int], list[dict[str, float]]]:
    """The steps of a run's validations, and their scores."""
    losses = [(line["step"], line["validation"]) for line in run.metrics() if "validation" in line]
    return [step for step, _ in losses], [scores for _, scores in losses]


def snapshots(run: RunFolder) -> tuple[list[int], list[dict[str, Tensor]]]:
    """The steps of a run's snapshots, and what each holds: the probe's patterns, address -> [head, query,
    key], and what the task watches.
    """
    steps = run.snapshots()
    return steps, [{at: x.float() for at, x in run.snapshot(step).items()} for step in steps]
