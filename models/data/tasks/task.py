"""Defines a task: what a model learns, where its examples come from, what to watch meanwhile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import count
from typing import Any, ClassVar

import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor
from torch.nn.functional import cross_entropy

from ...config import Kind
from ...engine.trace import Trace
from ...engine.transformer import Transformer
from ...fields import Option, check_fields, rule_of
from .batch import (
    IGNORED,
    Aligned,
    Alphabet,
    Answers,
    Antecedent,
    Batch,
    Judgement,
    Quotients,
    Rarity,
    Reading,
    Sample,
    Split,
    Writing,
    answers_at,
)


def option(
    default: Any,
    about: str,
    *,
    low: int | float | None = None,
    high: int | float | None = None,
    choices: Sequence[Any] = (),
    file: Sequence[str] = (),
    of: str = "",
    column_of: str = "",
) -> Any:
    """A field: its default, what it is, and what it may be.

    low, high: the least and the greatest number. choices: all that it may be. file: the endings of a file
    that it names (a path; "" for none). of: the option that names a file, where this one is about that file.
    column_of: the same, where this one names a column of it.
    """
    rule, of = rule_of(default, low, high, choices), of or column_of
    declared = Option(default, rule, help=about, file=tuple(file), of=of, column=bool(column_of))
    return field(default=default, metadata={"field": declared})


Tally = dict[str, tuple[float, float]]
"""For each score, a sum and what that sum is to be divided by."""
GONE = ("next_sentence", "memory", "evaluation_memory", "shift")
"""Options of earlier versions, which change nothing of what a trained model reads and answers."""
TASKS: dict[str, type[Task]] = {}
"""Every task there is, by name. A class enters itself by having a `name`."""


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Seeded examples, a kind of model, a loss, a score, a probe; its fields are its options.

    name: in links and on the command line. title: what a person reads. see: one sentence on what to look for
    in the heads; see_own: the same for a file of one's own, of which nothing is known. kind: of the model.
    abilities: what its models can be asked to do, of `models.zoo.model`; () leaves it to the kind. sizes,
    training: values of ModelConfig and TrainingConfig that learn the task in about half a minute on a
    laptop; the page starts from them.

    Raises ValueError, with value, rule and remedy, for options that make no task.
    """

    name: ClassVar[str] = ""
    abilities: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str]
    see: ClassVar[str]
    see_own: ClassVar[str] = ""
    kind: ClassVar[Kind]
    sizes: ClassVar[dict[str, Any]] = {}
    training: ClassVar[dict[str, Any]] = {}
    fixes: ClassVar[dict[str, str]] = {}
    """Sizes that a person might choose and the task requires, and what they follow from, in words."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if cls.__dict__.get("name"):
            TASKS[cls.name] = cls

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of(cls, options: dict[str, Any]) -> Task:
        """The task with these options. Raises ValueError for unknown names and values."""
        known = [spec.name for spec in fields(cls)]
        for name in options:
            if name not in known:
                raise ValueError(
                    f"{name!r} is no option of task {cls.name!r}; it has {', '.join(known) or 'none'}"
                )
        return cls(**options)

    @classmethod
    def from_disk(cls, options: dict[str, Any]) -> Task:
        """The task that a run or a model was kept with, whose options may be of an earlier version. Raises
        ValueError as `of` does.
        """
        return cls.of({name: value for name, value in options.items() if name not in GONE})

    def to_dict(self) -> dict[str, Any]:
        """The options as JSON values."""
        return asdict(self)

    @property
    def hint(self) -> str:
        """What to look for, as far as it holds with these options."""
        return self.see_own if self.see_own and getattr(self, "file", "") else self.see

    @abstractmethod
    def required_sizes(self) -> dict[str, Any]:
        """Fields of ModelConfig that follow from the task: vocab_size, max_len, pad_id, n_outputs, ..."""

    @abstractmethod
    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """`size` examples, the same for a generator's state; held-out ones never appear in training."""

    def split_sizes(self) -> dict[Split, int | None]:
        """How many examples each part has; None where they are made at random, without end."""
        return {"training": None, "held out": None, "test": None}

    def examples(self, seed: int, size: int, *, split: Split = "held out", at_once: int = 0) -> list[Batch]:
        """About `size` examples of a part, the same for a seed, in batches of at most `at_once` (0: one).

        Here, where examples are made at random, those of a test are held out like the others, and what keeps
        them apart is another seed; `models.scores` leaves out those that come twice.
        """
        batch = self.batch(generator_of(seed, 0), size, held_out=split != "training")
        return batch.split(-(-len(batch) // (at_once or len(batch))))

    def sketch(self, size: int) -> Batch:
        """`size` examples as long as those of training, to plan it: of large data, little is read."""
        return self.batch(generator_of(0, 0), size)

    def stretched(self, length: int) -> "Task":
        """The same task, which reads texts of so many tokens. Raises ValueError where it reads no text."""
        raise ValueError(f"{self.title!r} is no task of long texts; choose a language model")

    @abstractmethod
    def probe(self) -> Reading:
        """The example whose attention is watched during training; at most 64 positions a side."""

    @abstractmethod
    def read(self, text: str) -> Reading:
        """What a person typed, as the model reads it. Raises ValueError for what it cannot read."""

    @abstractmethod
    def outputs(self) -> tuple[str, ...]:
        """What each column of the logits stands for; () where they are no choice between names."""

    def answered(self, model: Transformer, reading: Reading) -> Reading:
        """What was read with the model's own greedy answer written after it; `Reading.answer` is its text.

        Here there is none to write: a decoder-only task that ends in an answer and an encoder-decoder one
        give their own. The last token of an answer is not read again.
        """
        return reading

    def writing(self, reading: Reading) -> Writing | None:
        """How an answer is written after what was read; None where the task has none of its own."""
        return None

    def read_by(self, model: Transformer, text: str) -> Reading:
        """`text` as this model reads it, with its answer. A subclass may take settings as keywords."""
        return self.answered(model, self.read(text))

    def made_of(self) -> Alphabet | None:
        """The tokens that its texts are made of; None where it reads no texts."""
        return None

    def rarity(self) -> Rarity | None:
        """How often each token occurs in what is trained on; None where nobody counted."""
        return None

    def texts(self, seed: int) -> Iterator[str]:
        """Endless held-out texts to measure its models on; none where it is not one of texts."""
        return iter(())

    def watched(self, model: Transformer) -> dict[str, Tensor]:
        """What is kept beside the probe's patterns in each snapshot of a run, by a name of its own."""
        return {}

    def alignments(self, reading: Reading) -> list[Aligned] | None:
        """For each position that writes a word, the words read that it says again; None where unknown."""
        return None

    def antecedents(self, model: Transformer, trace: Trace) -> list[Antecedent] | None:
        """What the model takes each pronoun for; None where no model of the task was ever asked."""
        return None

    def written(self, ids: Sequence[int]) -> str:
        """Outputs as the text that they stand for, so that what a model wrote can be read again."""
        names = self.outputs()
        return " ".join(names[at] for at in ids)

    def pictures_from(self, logits: Tensor) -> Tensor | None:
        """Logits [picture, position, channel] as pictures [picture, row, column] in 0..1; else None."""
        return None

    def places(self) -> Tensor | None:
        """The position [row, column] that reads each pixel of a picture, where the task reads pictures."""
        return None

    def learnt(self) -> dict[str, Any]:
        """JSON values that the task took from its data, as a vocabulary; kept with the model."""
        return {}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Takes over what `learnt` returned, so that reading needs the data no more."""
        assert not learnt, f"{self.name} kept nothing, but got {list(learnt)}"

    def batches(self, seed: int, size: int, start: int = 0) -> Iterator[Batch]:
        """The endless training batches of a seed, from the one of step `start` (0 the first)."""
        for step in count(start):
            yield self.batch(generator_of(seed, step), size)

    def losses(self, model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
        """Means over the batch; "loss" is what training lowers, here the cross-entropy in nats per target."""
        logits, targets = self.answers(model, batch)
        loss = cross_entropy(logits.float(), targets, ignore_index=IGNORED, label_smoothing=label_smoothing)
        return {"loss": loss}

    def answers(self, model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits [answer, output] and targets [answer] of what is asked, and of nothing else.

        In training they are of all positions, IGNORED ones among them: shapes that stay the same are faster.
        """
        if torch.is_grad_enabled():
            return model(*batch.inputs).flatten(0, 1), batch.targets.flatten()
        places = batch.targets != IGNORED
        return model(*batch.inputs, positions=places), batch.targets[places]

    def terms(self, batch: Batch) -> dict[str, tuple[float, int]]:
        """What "loss" is the sum of: for each name of `losses`, its weight, and how many answers it is the
        mean of. So the loss of a batch that is read in pieces is that of the whole.
        """
        return {"loss": (1.0, batch.n_asked)}

    def score(self, model: Transformer, batch: Batch) -> dict[str, float]:
        """Held-out scores, the most important first."""
        return quotients([self.tally(model, batch)])

    def tally(self, model: Transformer, batch: Batch) -> Tally:
        """What the scores are made of, so that those of a batch can be put together from its pieces."""
        scores = self.judged(model, batch).scores
        return {name: (each.above.sum().item(), each.below.sum().item()) for name, each in scores.items()}

    @torch.no_grad()
    def judged(self, model: Transformer, batch: Batch) -> Judgement:
        """The losses and scores of each example, in one pass. A task whose own `losses` are not the
        cross-entropy gives its own, or none: then `losses` says them, without an interval.
        """
        at = self.at(model, batch)
        own = type(self).losses is not Task.losses
        return Judgement({} if own else {"loss": at.loss()}, self.scores_of(at, batch))

    @torch.no_grad()
    def at(self, model: Transformer, batch: Batch) -> Answers:
        """What the model answers at each position that is asked."""
        return answers_at(*self.answers(model, batch), batch)

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """The scores of each example, the most important first.

        Here it is the share of examples that are right throughout. The model reads the right words before
        each answer; greedy writing gets the same share right.
        """
        return {"exact match": at.whole()}

    def prompts_of(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """For each example of a batch, what one types to have it read again; "" where it cannot be.

        numbers: those of the examples in their part, where they have any.
        """
        return [""] * len(batch)

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """A few things that the model makes, to be looked at while it learns."""
        return []


def quotients(tallies: Iterable[Tally]) -> dict[str, float]:
    """The scores that some tallies make together; those that nothing counts for are left out."""
    totals: dict[str, tuple[float, float]] = {}
    for tally in tallies:
        for name, (above, below) in tally.items():
            before = totals.get(name, (0.0, 0.0))
            totals[name] = (before[0] + above, before[1] + below)
    return {name: above / below for name, (above, below) in totals.items() if below}


def learnt_value(learnt: Any, name: str, kind: Any) -> Any:
    """The entry of this name in what a task learnt; kind: its type. Raises ValueError for another."""
    value = learnt.get(name) if isinstance(learnt, dict) else learnt
    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        raise ValueError(f"{name}={value!r:.40} is not what was learnt; give what learnt returned") from None


def generator_of(seed: int, step: int) -> torch.Generator:
    """The random numbers of one step: a run that goes on needs no numbers from the steps before."""
    return torch.Generator().manual_seed((seed * 1_000_003 + step) % (1 << 63))


def make_task(name: str, options: dict[str, Any] | None = None, *, from_disk: bool = False) -> Task:
    """The task `name` with its options; `from_disk`: those of a run or model, read as `Task.from_disk` does.

    Raises ValueError for unknown names and values.
    """
    if name not in TASKS:
        raise ValueError(f"task={name!r} is unknown; choose one of {', '.join(TASKS)}")
    return TASKS[name].from_disk(options or {}) if from_disk else TASKS[name].of(options or {})
