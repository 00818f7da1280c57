"""Switches every head off alone and patches every position of every layer, and measures what each does.

All of it is batched: a batch holds the text once for each edit, and each row is edited where it enters an
output projection (heads) or a layer (the stream). So one pass of so many rows does what so many passes would.
Where the metric is a function of a trace, each edit has a pass of its own, which is traced.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from math import inf, prod
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ..data.alignment import align
from ..data.tasks import IGNORED, Example, Reading
from ..data.tasks.batch import Alphabet
from ..engine.address import Address
from ..engine.depth import check_adds
from ..engine.trace import Trace
from ..fields import shortened
from .edited_pass import Heads, Subject, before_the_same_answer

Change = Callable[[Tensor], Tensor]
"""What a row [position, channel] becomes."""
_ROWS: ContextVar[object] = ContextVar("rows", default=None)


class Job(NamedTuple):
    """One row: what of it is changed, where it enters the module of an address, or leaves it."""

    address: str
    change: Change

    def place(self, leaving: bool = False) -> str:
        """Where a trace has what is changed."""
        of_heads = self.address.count(".") == 2
        return f"{self.address}.{'z' if of_heads else 'resid_post' if leaving else 'resid_pre'}"


@contextmanager
def changing(
    modules: Mapping[str, nn.Module], jobs: Sequence[Job], *, leaving: bool = False
) -> Iterator[None]:
    """Within it, one pass of this thread over a batch is changed: row i by job i.

    modules: by address, in the order of computation; a module that stands at several is called once for each.
    leaving: where they leave the module, else where they enter it.
    """
    rows: dict[str, list[tuple[int, Change]]] = {}
    for row, job in enumerate(jobs):
        rows.setdefault(job.address, []).append((row, job.change))
    of_module: dict[int, list[str]] = {}
    for address, module in modules.items():
        of_module.setdefault(id(module), []).append(address)
    mine = object()
    with ExitStack() as opened:
        for module in {id(module): module for module in modules.values()}.values():
            hooks = _Hooks(mine, iter(of_module[id(module)]), rows, len(jobs))
            if leaving:
                handle = module.register_forward_hook(hooks.leaving)
            else:
                handle = module.register_forward_pre_hook(hooks.entering, with_kwargs=True)
            opened.callback(handle.remove)
        token = _ROWS.set(mine)
        try:
            yield
        finally:
            _ROWS.reset(token)


class _Hooks(NamedTuple):
    """The hooks of one module; they leave alone what other threads send through it."""

    mine: object
    addresses: Iterator[str]
    rows: dict[str, list[tuple[int, Change]]]
    n_rows: int

    def entering(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        changes = self._asked()
        if not changes:
            return None
        if args:
            return (self._changed(args[0], changes), *args[1:]), keywords
        return args, keywords | {"hidden_states": self._changed(keywords["hidden_states"], changes)}

    def leaving(self, module: nn.Module, args: Any, output: Any) -> Any:
        changes = self._asked()
        if not changes:
            return None
        if isinstance(output, Tensor):
            return self._changed(output, changes)
        return (self._changed(output[0], changes), *output[1:])

    def _asked(self) -> list[tuple[int, Change]]:
        return self.rows.get(next(self.addresses), []) if _ROWS.get() is self.mine else []

    def _changed(self, whole: Tensor, changes: list[tuple[int, Change]]) -> Tensor:
        new = whole.clone()
        each = new.view(self.n_rows, -1, new.shape[-1])
        for row, change in changes:
            each[row] = change(each[row])
        return new


Metric = Callable[[Any], Any]
"""What a researcher asks: of all logits, float64 [row, position, output], a number for each row; or, where
its argument is named `trace`, of the trace of a pass one number.
"""
RULE = "probability of cat at 3, logit of 7 at 3, logits cat-dog, kl at -1, distance at 3, loss, or score"
_NUMBERS = {"probability of": 1, "logit of": 1, "logits": 2, "kl": 0, "distance": 0, "loss": 0, "score": 0}
"""How many outputs each kind names."""
_OUTPUT = r'([^\s"-]+|"[^"]+")'
_LINE = re.compile(rf"({'|'.join(_NUMBERS)})(?: {_OUTPUT}(?:-{_OUTPUT})?)?(?: at (-?[0-9]{{1,9}}))?")
_WHOLE = ("loss", "score", "metric", "trace")
"""Those of no position alone."""


@dataclass(frozen=True)
class Target:
    """One number, in a line, or a `Metric`. Positions below 0 are counted from the end; left out, it is the
    last. Outputs are numbers or words of the model's vocabulary: cat is " cat", as within a text, where that
    is one of them, and "cat" in quotes is just that.

    "probability of 7 at 3": the probability of output 7 at position 3. "logit of 7 at 3": its logit. "logits
    7-5 at 3": the logit of output 7 less that of 5. "kl at 3": KL(before || after) of the probabilities
    there, in nats. "distance at 3": how far the logits there, or the last stream of a model without any, are
    from what they were, the L2 norm of the difference over that of before. "loss": the mean cross-entropy, in
    nats, of each token that the model writes, given those before it. "score": the share of right answers in
    held-out examples of the task, in place of the text.
    """

    kind: str
    outputs: tuple[Any, ...] = ()  # numbers; or words, until `numbered`
    at: int = -1
    metric: Metric | None = None

    @classmethod
    def read(cls, line: str | Target | Metric) -> Target:
        """The target of a line, or of a function. Raises ValueError."""
        if isinstance(line, Target):
            return line
        if callable(line):
            return cls("trace" if _first_argument(line) == "trace" else "metric", metric=line)
        match = _LINE.fullmatch(" ".join(line.split()))
        if match is not None:
            outputs = [int(each) if each.isdecimal() else each for each in match.groups()[1:3] if each]
            if len(outputs) == _NUMBERS[match[1]] and not (match[4] and match[1] in _WHOLE):
                return cls(match[1], tuple(outputs), int(match[4] or -1))
        raise ValueError(f"{shortened(line)!r} is nothing to look at; write {RULE}")

    def __str__(self) -> str:
        if self.kind in _WHOLE:
            return self.kind
        outputs = " " + "-".join(map(str, self.outputs)) if self.outputs else ""
        return f"{self.kind}{outputs} at {self.at}"

    def numbered(self, model: Sweepable, reading: Reading) -> Target:
        """The same with the number of each output that is named by a word. Raises ValueError for a word that
        is no output of the model, or stands for several.
        """
        if all(isinstance(output, int) for output in self.outputs):
            return self
        names = list(model.names(reading))
        return replace(self, outputs=tuple(_number_of(output, names, model) for output in self.outputs))

    @property
    def position(self) -> int | None:
        """The only position whose logits it needs; None for all."""
        return None if self.kind in _WHOLE else self.at

    def check(self, reading: Reading, n_positions: int, n_outputs: int) -> None:
        """Raises ValueError for a position or an output that is not there, a loss where none is asked, and a
        score, which is of other texts.
        """
        if self.kind == "score":
            raise ValueError("score is of held-out examples, not of this text; choose another")
        if self.metric is not None:
            return
        if self.kind == "loss":
            if "decoder" not in reading.tokens or len(_written(reading)) < 2:
                raise ValueError("loss is of what a decoder writes; choose another")
            return
        if not -n_positions <= self.at < n_positions:
            raise ValueError(f"{self}: position {self.at} has no output; give 0 to {n_positions - 1}")
        for output in self.outputs:
            if output >= n_outputs:
                raise ValueError(f"{self}: output {output} is not there; give 0 to {n_outputs - 1}")

    def values(
        self, logits: Float[Tensor, "row _ output"], plain: Float[Tensor, "_ output"], reading: Reading
    ) -> Float[Tensor, " row"]:
        """The number in each row, from the logits at `position` alone, or at all; plain: without edits."""
        logits, plain = logits.double(), plain.double()
        if self.kind == "loss":
            written = _written(reading).to(logits.device)[1:]
            after = logits[:, :-1].flatten(0, 1)
            each = cross_entropy(after, written.repeat(len(logits)), reduction="none")
            return each.view(len(logits), -1).mean(dim=1)
        if self.metric is not None and self.kind == "metric":
            found = self.metric(logits)
            if not isinstance(found, Tensor) or found.shape != logits.shape[:1]:
                shape = list(found.shape) if isinstance(found, Tensor) else type(found).__name__
                raise ValueError(
                    f"the metric gave {shape} for logits {list(logits.shape)}; give a tensor with one number "
                    "for each row, such as logits[:, -1, 7] - logits[:, -1, 5]"
                )
            return found
        here = logits[:, 0]
        if self.kind == "distance":
            known = plain[0].isfinite()
            return (here - plain[0])[:, known].norm(dim=-1) / plain[0][known].norm()
        if self.kind == "logits":
            return here[:, self.outputs[0]] - here[:, self.outputs[1]]
        if self.kind == "logit of":
            return here[:, self.outputs[0]]
        after = here.log_softmax(dim=-1)
        if self.kind == "kl":
            before = plain[0].log_softmax(dim=-1)
            differs = (before - after).where(before > -inf, 0)  # what can never be said moves nothing
            return (before.exp() * differs).sum(dim=-1).clamp(min=0)
        return after[:, self.outputs[0]].exp()

    def of_pass(self, trace: Trace, reading: Reading) -> Tensor:
        """The number of one pass, [], through which gradients flow where the trace's values have them.

        Raises ValueError for a score, and for a metric that gives no single number.
        """
        if self.metric is not None and self.kind == "trace":
            found = torch.as_tensor(self.metric(trace))
            if found.numel() != 1:
                raise ValueError(f"the metric gave {list(found.shape)} for a trace; give one number")
            return found.flatten()[0]
        last = "logits" if "logits" in trace else f"{list(reading.tokens)[-1]}.norm"
        whole = trace[last]
        self.check(reading, *whole.shape)
        rows = whole if self.position is None else whole[[self.position]]
        return self.values(rows[None], rows.detach(), reading)[0]


def _number_of(output: int | str, names: list[str], model: Sweepable) -> int:
    """The number of an output that may be a word. Raises ValueError, with its pieces where it has several."""
    if isinstance(output, int):
        return output
    word = output.strip('"')
    ways = [word] if word != output else [f" {word}", word]
    numbers = next((at for way in ways if (at := [i for i, name in enumerate(names) if name == way])), [])
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        raise ValueError(f"{output} is the name of outputs {str(numbers)[1:-1]}; give one of these numbers")
    alphabet, pieces = model.made_of(), list[str]()
    with suppress(ValueError):  # it may be nothing that the model reads
        side, labels = next(iter(model.reading_of(word, {}).tokens.items()))
        first, last = (len(each.get(side, ())) for each in alphabet[2:4]) if alphabet else (0, 0)
        pieces = labels[first : len(labels) - last]
    if len(pieces) > 1 and set(pieces) <= set(names):
        written = ", ".join(f'"{piece}"' for piece in pieces)
        raise ValueError(
            f"{output} is no single output of {model.name!r}: its pieces are {written}; name one of them"
        )
    raise ValueError(f"{output} is no output of {model.name!r}; give a word of lm.outputs, or its number")


def _first_argument(function: Callable[..., Any]) -> str:
    """Its name; "" of a function of C, which tells none."""
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except ValueError:
        return ""


def _written(reading: Reading) -> Tensor:
    return reading.inputs[-1][0]


Progress = Callable[[float], object]


def scores_of(
    model: Sweepable,
    modules: Mapping[str, nn.Module],
    jobs: Sequence[Job],
    progress: Progress,
    *,
    most_tokens: int,
) -> list[float]:
    """The share of all asked answers that are right: without any edit, then with each alone.

    The right words stand before each answer, so greedy writing gets the same examples right throughout.
    Batched: each example is read in as many rows as there are edits. Raises ValueError where no examples are
    known.
    """
    examples = model.examples()
    if not examples:
        raise ValueError(f"{model.name!r} has no held-out examples, so no score; choose another")
    right = torch.zeros(1 + len(jobs), dtype=torch.long)
    for number, example in enumerate(examples):
        progress(number / len(examples))
        right += _right(model, example, modules, jobs, most_tokens)
    n_targets = sum(int((targets != IGNORED).sum()) for _, targets in examples)
    return (right.double() / n_targets).tolist()


def _right(
    model: Sweepable,
    example: Example,
    modules: Mapping[str, nn.Module],
    jobs: Sequence[Job],
    most_tokens: int,
) -> Int[Tensor, " row"]:
    """How many answers of an example are right: without any edit, then with each."""
    reading, targets = example
    counts_at = targets != IGNORED
    n_rows = max(1, most_tokens // max(read.shape[1] for read in reading.inputs))
    rows = [model.logits(reading, 1, None)]
    for first in range(0, len(jobs), n_rows):
        part = jobs[first : first + n_rows]
        with changing(modules, part):
            rows.append(model.logits(reading, len(part), None))
    best = torch.cat([logits[:, counts_at].argmax(dim=-1) for logits in rows])
    return (best == targets[counts_at]).sum(dim=1)


MOST_TOKENS = 1_024
"""Tokens of a batch, all rows together; enough for all cores, and few enough to be stopped."""
CHANGES = ("zero", "mean", "from")


@runtime_checkable
class Sweepable(Subject, Protocol):
    """A model whose modules are known, which reads a batch of one text, and knows held-out examples of its
    task.
    """

    def attention(self, stack: str) -> Heads: ...
    def projections(self) -> Mapping[str, nn.Module]: ...
    def layers(self) -> Mapping[str, nn.Module]: ...
    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor: ...
    def last(self, reading: Reading, n_rows: int, at: int | None) -> Tensor: ...
    def examples(self) -> Sequence[Example]: ...
    def names(self, reading: Reading) -> Sequence[str]: ...
    def made_of(self) -> Alphabet | None: ...


@dataclass(frozen=True)
class Sweep:
    """What each edit alone does to the target: its number after less the number before.

    effects: of heads by stack, such as "encoder.self", [layer, head] or [layer, head, position]; of patches
    by "encoder" and "decoder", [layer, position], where the stream enters the layer. layers: by the same
    names, the number of each row.
    """

    target: Target
    before: float
    effects: dict[str, Tensor]
    layers: dict[str, list[int]]

    @classmethod
    def of(cls, target: Target, before: float, values: Sequence[float], rows: Sequence[Row]) -> Sweep:
        """The numbers that were found, in rows: each a name, a layer's number, and the shape of its own."""
        effects: dict[str, list[Tensor]] = {}
        layers: dict[str, list[int]] = {}
        rest = iter(values)
        for name, layer, shape in rows:
            row = torch.tensor([next(rest) for _ in range(prod(shape))], dtype=torch.float64) - before
            effects.setdefault(name, []).append(row.view(shape))
            layers.setdefault(name, []).append(layer)
        return cls(target, before, {name: torch.stack(each) for name, each in effects.items()}, layers)

    @classmethod
    def mean(cls, sweeps: Sequence[Sweep]) -> Sweep:
        """The mean over several texts. Raises ValueError where their positions are not as many."""
        first, effects = sweeps[0], dict[str, Tensor]()
        for name in first.effects:
            each = [sweep.effects[name] for sweep in sweeps]
            if len({row.shape for row in each}) > 1:
                raise ValueError(
                    f"the texts have {' and '.join(str(row.shape[-1]) for row in each)} tokens, so their "
                    "positions have no mean; give texts of equal length"
                )
            effects[name] = torch.stack(each).mean(dim=0)
        before = sum(sweep.before for sweep in sweeps) / len(sweeps)
        return cls(first.target, before, effects, first.layers)


Row = tuple[str, int, tuple[int, ...]]
Asked = Any
"""A `Target`, its line, or a `Metric`; beside several texts, a list of as many."""
Text = Any
"""A text, its token ids, or a reading; or several texts or readings, in a list."""


def over_texts(sweep: Callable[..., Sweep]) -> Callable[..., Sweep]:
    """The sweep, which takes several texts in a list as well: their mean, each with its own metric and other
    text in lists of as many, or one of all.
    """
    declared = inspect.signature(sweep)

    @wraps(sweep)
    def of_each(*given: Any, **settings: Any) -> Sweep:
        bound = declared.bind(*given, **settings)
        asked: dict[str, Any] = bound.arguments
        texts, metric = asked["text"], asked["metric"]
        other: Any = asked.get("other")
        progress: Any = asked.get("progress")
        if not several(texts):
            return sweep(*given, **settings)
        metrics = metric if isinstance(metric, list | tuple) else [metric] * len(texts)
        others = other if several(other) else [other] * len(texts)
        for each, what in ((metrics, "metrics"), (others, "other texts")):
            if len(each) != len(texts):
                raise ValueError(f"{len(texts)} texts and {len(each)} {what}; give as many, or one for all")
        found = []
        for at, (text, own_metric, own_other) in enumerate(zip(texts, metrics, others, strict=True)):
            asked |= {"text": text, "metric": own_metric, "other": own_other}
            if progress is not None:
                asked["progress"] = lambda share, at=at: progress((at + share) / len(texts))
            found.append(sweep(*bound.args, **bound.kwargs))
        return Sweep.mean(found)

    return of_each


@over_texts
@torch.no_grad()
def sweep_heads(
    model: Sweepable,
    text: Text,
    metric: Asked,
    *,
    change: str = "zero",
    other: Text = None,
    by_position: bool = False,
    progress: Progress = lambda share: None,
    **settings: Any,
) -> Sweep:
    """Every head's z at zero, at its mean over the positions, or as it is in another text ("from"), alone;
    by_position: at each position alone.

    text: one, or several in a list, over which the mean is taken; then `metric` and `other` may be lists of
    as many. Texts of one length are put position by position; of another length, aligned as Side by side
    aligns them (`align`), and a position without a partner stays as it is. metric: a `Target` or its line, or
    a `Metric`; "score" is of held-out examples of the model's task, whatever the text. progress: hears which
    share is done, and may raise to end it. settings: of reading. Raises ValueError for a metric that is not
    there, a model whose parts are hidden, and what does not fit.
    """
    reading, target, modules = model.reading_of(text, settings), Target.read(metric), model.projections()
    jobs, rows = head_jobs(model, reading, change, other, by_position, settings, target)
    if target.kind == "score":
        before, *values = scores_of(model, modules, jobs, progress, most_tokens=MOST_TOKENS)
    else:
        target, before, values = values_of(model, reading, target, modules, jobs, progress)
    return Sweep.of(target, before, values, rows)


def several(text: Any) -> bool:
    """Whether it is a list of texts, and not the token ids of one."""
    return isinstance(text, list | tuple) and any(isinstance(each, str | Reading) for each in text)


def head_jobs(
    model: Sweepable, reading: Reading, change: str, other: Text, by_position: bool,
    settings: Mapping[str, Any], target: Target,
) -> tuple[list[Job], list[Row]]:  # fmt: skip
    """A job for every head, or every head at every position, and the rows of numbers that they give."""
    if change not in CHANGES:
        raise ValueError(f"change={change!r} is unknown; choose one of {', '.join(CHANGES)}")
    if (change == "from") != (other is not None):
        raise ValueError('another text goes with change="from", and with nothing else; give both')
    if target.kind == "score" and (by_position or other is not None):
        raise ValueError("score is of held-out examples with other positions; choose zero or mean")
    modules = model.projections()
    source, partners = None, dict[str, list[tuple[int, int]]]()
    if other is not None:
        wanted = {f"{address}.z" for address in modules}
        source, partners = source_of(model, reading, other, settings, wanted)
    jobs, rows = list[Job](), list[Row]()
    for address in modules:
        where = Address.parse(address)
        n_heads, n = model.attention(where.family).n_heads, len(reading.tokens[where.stack])
        rows.append((where.family, where.layer, (n_heads, n) if by_position else (n_heads,)))
        for head in range(n_heads):
            value = None if source is None else source[f"{address}.z"][head]
            new = _switched(head, n_heads, change, value, partners.get(where.stack, []))
            jobs += (
                [Job(address, _only_at(new, at)) for at in range(n)] if by_position else [Job(address, new)]
            )
    return jobs, rows


def source_of(
    model: Sweepable, reading: Reading, other: Text, settings: Mapping[str, Any], wanted: Collection[str]
) -> tuple[Trace, dict[str, list[tuple[int, int]]]]:
    """What another text has at some addresses, and by stack the positions here with their partners there."""
    there = before_the_same_answer(model.reading_of(other, settings), reading)
    partners = {}
    for side, tokens in reading.tokens.items():
        others = there.tokens[side]
        pairs = enumerate(range(len(tokens))) if len(tokens) == len(others) else align(tokens, others)
        partners[side] = [(i, j) for i, j in pairs if i is not None and j is not None]
    return model.trace(there, reduce=lambda a, x: x if a in wanted else None), partners


@over_texts
@torch.no_grad()
def sweep_positions(
    model: Sweepable,
    text: Text,
    metric: Asked,
    other: Text,
    *,
    progress: Progress = lambda share: None,
    **settings: Any,
) -> Sweep:
    """The stream that enters each layer at each position, alone, as it is in another text (causal tracing,
    Meng et al. 2022). Several texts, texts of another length, and what is raised, as in `sweep_heads`.
    """
    reading, modules = model.reading_of(text, settings), model.layers()
    jobs, rows = position_jobs(model, reading, other, settings)
    target, before, values = values_of(model, reading, metric, modules, jobs, progress)
    return Sweep.of(target, before, values, rows)


def position_jobs(
    model: Sweepable, reading: Reading, other: Text, settings: Mapping[str, Any]
) -> tuple[list[Job], list[Row]]:
    """A job for every layer at every position, and the rows of numbers that they give."""
    check_adds(model, model.name)
    modules = model.layers()
    wanted = {f"{address}.resid_pre" for address in modules}
    source, partners = source_of(model, reading, other, settings, wanted)
    jobs, rows = list[Job](), list[Row]()
    for address in modules:
        side, layer, _ = Address.parse(address)
        there, stream = dict(partners[side]), source[f"{address}.resid_pre"]
        n = len(reading.tokens[side])
        jobs += [Job(address, _patched(at, stream[there[at]] if at in there else None)) for at in range(n)]
        rows.append((side, layer, (n,)))
    return jobs, rows


def values_of(
    model: Sweepable,
    reading: Reading,
    metric: Asked,
    modules: Mapping[str, nn.Module],
    jobs: Sequence[Job],
    progress: Progress,
    *,
    leaving: bool = False,
) -> tuple[Target, float, list[float]]:
    """The target, its number without any edit, and with each; leaving: as in `changing`."""
    target, values = Target.read(metric).numbered(model, reading), list[float]()
    if target.kind == "trace":
        for at, job in enumerate(jobs):
            progress(at / len(jobs))
            values.append(float(target.of_pass(model.trace(reading, edit=_as_edit(job, leaving)), reading)))
        return target, float(target.of_pass(model.trace(reading), reading)), values
    give = model.last if target.kind in ("distance", "metric") else model.logits
    whole = give(reading, 1, None)[0]
    target.check(reading, *whole.shape)
    if target.position is not None:
        target = replace(target, at=target.at % len(whole))
    plain = whole if target.position is None else whole[[target.position]]
    before = float(target.values(plain[None], plain, reading)[0])
    n_rows = max(1, MOST_TOKENS // max(map(len, reading.tokens.values())))
    for first in range(0, len(jobs), n_rows):
        progress(first / len(jobs))
        part = jobs[first : first + n_rows]
        with changing(modules, part, leaving=leaving):
            rows = give(reading, len(part), target.position)
        values += target.values(rows, plain, reading).tolist()
    return target, before, values


def _as_edit(job: Job, leaving: bool) -> Callable[[str, Tensor], Tensor]:
    """A job as the edit of a traced pass: where heads are [head, position, channel], side by side."""
    place = job.place(leaving)

    def edit(address: str, value: Tensor) -> Tensor:
        if address != place or value.ndim == 2:
            return job.change(value) if address == place else value
        return job.change(side_by_side(value)).unflatten(1, (len(value), -1)).transpose(0, 1)

    return edit


def side_by_side(value: Tensor) -> Tensor:
    """A stream as it is, and heads [head, position, channel] as a row has them."""
    return value if value.ndim == 2 else value.transpose(0, 1).flatten(1)


def _switched(
    head: int, n_heads: int, change: str, other: Tensor | None, partners: Sequence[tuple[int, int]]
) -> Change:
    """A row of all heads' z side by side, without one; other: its z [position, channel] in another text."""
    here, there = ([pair[at] for pair in partners] for at in (0, 1))

    def changed(z: Tensor) -> Tensor:
        new, size = z.clone(), z.shape[-1] // n_heads
        mine = slice(head * size, (head + 1) * size)
        if other is not None:
            new[here, mine] = other[there].to(z)
        else:
            new[:, mine] = z[:, mine].mean(dim=0) if change == "mean" else 0
        return new

    return changed


def _only_at(change: Change, position: int) -> Change:
    def changed(row: Tensor) -> Tensor:
        new = row.clone()
        new[position] = change(row)[position]
        return new

    return changed


def _patched(position: int, value: Tensor | None) -> Change:
    def changed(stream: Tensor) -> Tensor:
        new = stream.clone()
        if value is not None:
            new[position] = value.to(stream)
        return new

    return changed
