"""Defines the interface of every model: it reads a text, is traced, and says what it can do."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, TypeVar, overload

import torch
from torch import Tensor, nn

from ..byte_units import MB
from ..config import ModelConfig
from ..data.tasks.batch import (
    Aligned,
    Alphabet,
    Antecedent,
    Example,
    Rarity,
    Reading,
    Repeated,
    Writing,
    check_room,
    repeated,
)
from ..engine.address import attention_at
from ..engine.decoding import drawn
from ..engine.long_text import LongHeads, Progress
from ..engine.normalizers import NORMALIZERS
from ..engine.positions import has_bias, turns
from ..engine.size import addresses, trace_operations
from ..engine.trace import Trace
from ..engine.unembedding import Unembedding
from ..interventions.edit import Edit, read_edits, write_numbers
from ..interventions.edited_pass import Editing, Prepared, at_modules, one_after_the_other, write_under_edits
from ..interventions.head_sweep import Asked, Target

Change = Callable[[Any], object]
"""What is done to a network, a `torch.nn.Module`."""
Reduce = Callable[[str, Tensor], Any | None]
Wanted = Callable[[str], bool]
Edits = str | Edit | Sequence[str | Edit | tuple[str, Callable[[Tensor], Tensor]]]

_POOLED = {"mean": "The mean of all positions is read as", "first": "The first position is read as"}


@dataclass(frozen=True, kw_only=True)
class Attention:
    """One family of attentions, "encoder.self", "decoder.self" or "decoder.cross": an attention a layer.

    n_key_heads: heads of k and v; where they are fewer, n_heads / n_key_heads query heads share one. scales:
    what multiplies q . k, a layer each. cap: scores are cap * tanh((scale * q . k + bias) / cap), if given.
    has_bias: positions add something to the scores. turned: the layers whose q and k they turn. whole: q, k,
    v, scores and z are traced, not the pattern alone. normalizer: what makes weights of scores. handed_on:
    what heads hand on is not z alone. layers: the numbers that its layers have in addresses, where some
    layers of the model attend in another way, or not.
    """

    n_layers: int
    n_heads: int
    d_head: int
    n_key_heads: int
    scales: tuple[float, ...]
    cap: float | None = None
    has_bias: bool = False
    turned: tuple[int, ...] = ()
    whole: bool = True
    normalizer: str = "softmax"
    handed_on: bool = False
    layers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", self.layers or tuple(range(self.n_layers)))

    @property
    def note(self) -> str:
        """What a reader must know of its numbers, in sentences."""
        more = (
            "A gate, the token's own value, or a partner changes z before the output projection reads it."
            if self.handed_on
            else ""
        )
        return f"{NORMALIZERS[self.normalizer].note} {more}".strip()

    def head_at(self, place: int) -> tuple[int, int]:
        """The numbers of the layer and the head at a place of all heads in a row, [layer * head]."""
        row, head = divmod(place, self.n_heads)
        return self.layers[row], head

    def nearest(self, layer: int) -> int:
        """The layer of these whose number is nearest."""
        return min(self.layers, key=lambda number: abs(number - layer))

    def check_all_below(self, layer: int, what: str) -> None:
        """Raises ValueError where a layer before this one is none of these; what: such as "a rollout"."""
        others = tuple(at for at in range(layer) if at not in self.layers)
        if others:
            raise ValueError(
                f"{what} follows attention from the first layer on, but before layer {layer}, other layers "
                f"({write_numbers(others)}) mix tokens; choose a model whose layers all attend"
            )


class Model(ABC):
    """A model that pages and notebooks can ask. A subclass has these attributes; it reads, and is traced.

    config: its kind and sizes, from which `attention`, `max_len`, `operations` and `pooled` follow; a model
    that has no such config says these itself. outputs: what each column of the logits stands for; () where
    the logits do not choose between names. abilities: some of "translate", "answer", "continue", "fill",
    "classify" and "rebuild". see: what to look for in its heads. note: what of it cannot be shown, in
    sentences. n_bytes: its memory. scored: held-out examples of its task are known, with their answers.
    by_first_use: a word has no vector of its own, but that of its place among a text's different words. net:
    its network, a `torch.nn.Module`; None where none is known.

    Settings are keywords: those that the model's offer names for reading.
    """

    name: str
    config: ModelConfig
    outputs: tuple[str, ...] = ()
    abilities: tuple[str, ...] = ()
    see: str = ""
    note: str = ""
    n_bytes: int = MB
    scored: bool = False
    by_first_use: bool = False
    net: Any = None

    @abstractmethod
    def read(self, text: str, **settings: Any) -> Reading:
        """`text` as the model reads it, with its own answer written after it, if it has one.

        Raises ValueError, with a sentence, for what it cannot read.
        """

    def read_ids(self, ids: Sequence[int]) -> Reading:
        """These tokens as they are: nothing is put before or after them.

        Raises ValueError for tokens that it does not know, and for a model that is not given tokens alone.
        """
        alphabet = self.made_of()
        if alphabet is None or len(alphabet.before) != 1:
            raise ValueError(f"{self.name!r} does not read tokens alone; give it a text")
        check_room(len(ids), self.max_len)
        if not ids or min(ids) < 0 or max(ids) >= len(alphabet.names):
            raise ValueError(
                f"ids={list(ids)[:20]} are not all tokens of {self.name!r}; give one or more from 0 to "
                f"{len(alphabet.names) - 1:,}"
            )
        (side,) = alphabet.before
        return Reading((torch.tensor([list(ids)]),), {side: [alphabet.names[id_] for id_ in ids]})

    @overload
    def trace(
        self, what: list[str], *, reduce: Reduce | None = ..., edit: Editing | None = ..., edits: Edits = ...,
        grad: Asked = ..., **settings: Any,
    ) -> list[Trace]: ...  # fmt: skip
    @overload
    def trace(
        self, what: str | Reading | list[int] | Tensor = ..., *, reduce: Reduce | None = ...,
        edit: Editing | None = ..., edits: Edits = ..., grad: Asked = ..., **settings: Any,
    ) -> Trace: ...  # fmt: skip
    def trace(
        self,
        what: str | Reading | list[int] | list[str] | Tensor = "",
        *,
        reduce: Reduce | None = None,
        edit: Editing | None = None,
        edits: Edits = (),
        grad: Asked = None,
        **settings: Any,
    ) -> Trace | list[Trace]:
        """All that the model computes on a text, on token ids, or on a reading; `reduce` and `edit` as in
        `Trace`. Of a list of texts each is traced by itself: beside padding, its numbers would be others.

        edits: what is changed in the pass, each an `Edit` or its line, as "encoder.0.self heads 2: zero";
        `models.interventions` has the grammar. Other texts that they name are read with the same settings.
        grad: a metric, as in `sweep_heads`; `grads` of the trace has its gradient at each address, after the
        edits there. Raises ValueError as `read` and `read_ids` do, and for an edit that does not fit model or
        text.
        """
        if isinstance(what, list) and any(isinstance(each, str) for each in what):
            each_text: Any = partial(self.trace, reduce=reduce, edit=edit, edits=edits, grad=grad, **settings)
            return [each_text(text) for text in what]
        with torch.no_grad():
            reading, read = self.reading_of(what, settings), read_edits(edits)
            changed = Prepared(self, reading, read, settings).applied(reading) if read else None
        trace = Trace(reduce, edit=one_after_the_other(changed, edit), keeps_graph=grad is not None)
        trace.tokens = dict(reading.tokens)
        with (
            torch.set_grad_enabled(grad is not None),
            at_modules(self.net, changed.places if changed else (), changed),
        ):
            self.compute(reading, trace)
            if grad is not None:
                number = Target.read(grad).numbered(self, reading).of_pass(trace.in_graph(), reading)
                trace.differentiate(number)
        if changed is not None:
            changed.check_done()
        return trace

    def reading_of(self, what: Any, settings: Mapping[str, Any]) -> Reading:
        """A text, token ids, or what was read already, as it is read. Raises ValueError as `read` does."""
        if isinstance(what, Tensor):
            if what.ndim > 2 or (what.ndim == 2 and len(what) != 1):
                raise ValueError(f"ids of the shape {list(what.shape)}; give those of one text, [position]")
            what = what.flatten().tolist()
        if isinstance(what, list):
            return self.read_ids(what)
        if not isinstance(what, str | Reading):
            kind = type(what).__name__
            raise ValueError(f"{kind} is nothing to read; give a text, its token ids, or what lm.read gives")
        return self.read(what, **settings) if isinstance(what, str) else what

    @torch.no_grad()
    def answer(
        self,
        what: str | Reading,
        *,
        edits: Edits = (),
        progress: Progress = lambda share: None,
        **settings: Any,
    ) -> Reading:
        """What it writes, greedy, while the edits are in force, as a reading: `answer` is the text.

        Every token is written by a pass of its own. Positions that an edit names are edited as soon as they
        are there. progress: hears which share of the most that it may write is written, and may raise to end
        it. Raises ValueError as `trace` does, and for a model that writes nothing.
        """
        reading = self.reading_of(what, settings)
        return write_under_edits(self, reading, read_edits(edits), settings, progress)

    def writing(self, reading: Reading) -> Writing:
        """How it writes after what it has read. Raises ValueError for a model that writes nothing."""
        raise ValueError(f"{self.name!r} writes nothing; look at the probabilities of its outputs")

    def following(self, reading: Reading, edit: Editing | None) -> Tensor:
        """Scores of the token that it writes next, after all that its last stack has read, [output]."""
        trace = Trace(lambda address, x: x if address == "logits" else None, edit=edit)
        self.compute(reading, trace)
        logits: Tensor = trace["logits"]
        return logits[-1]

    @abstractmethod
    def compute(self, reading: Reading, trace: Trace) -> None:
        """One pass over a reading, all of it recorded in `trace`, which may edit it."""

    def addresses(self) -> Collection[str]:
        """What a trace of it holds and may edit, by address."""
        return addresses(self.config)

    def made_of(self) -> Alphabet | None:
        """The tokens that its texts are made of; None where it reads no texts."""
        return None

    def repeated(self, seed: int = 0) -> Repeated:
        """Random tokens, read twice in a row, to be traced (Olsson et al. 2022); the same for a seed.

        Raises ValueError for a model that reads no texts, or only very short ones.
        """
        alphabet = self.made_of()
        if alphabet is None:
            raise ValueError(f"{self.name!r} reads no texts; choose a model that does")
        return repeated(alphabet, self.max_len, seed)

    def rarity(self, reading: Reading) -> Rarity | None:
        """How often each token of a reading occurs elsewhere; None where that is not known."""
        return None

    def alignments(self, reading: Reading) -> list[Aligned] | None:
        """For each position that writes a word, the words read that it says again; None where unknown."""
        return None

    def remade(self, change: Change) -> Model:
        """This model with another network, which `change` has changed: it starts as a copy that shares the
        weights, so that modules and parameters may be replaced in it, and none may be changed itself.

        Raises ValueError where the network is not known.
        """
        raise ValueError(f"{self.name!r} has no network that could be changed; open another model")

    @property
    def number_format(self) -> str:
        """The format of its weights, such as "float32"; "" where they are not known."""
        return "" if self.net is None else str(format_of(self.net)).removeprefix("torch.")

    def references(self) -> Sequence[Reading]:
        """A few texts as the model was trained on them, to take means over; none where none are known."""
        return ()

    def examples(self) -> Sequence[Example]:
        """A few held-out examples of its task with their right answers; none where `scored` is false."""
        return ()

    def texts(self, seed: int) -> Iterator[str]:
        """Endless held-out texts of its own task, to measure it on; none where none are known."""
        return iter(())

    @abstractmethod
    def code(self, text: str, **settings: Any) -> str:
        """The lines of Python that give the same trace in a notebook, under the name `trace`."""

    def generate(
        self, prompt: str, *, max_new_tokens: int, temperature: float = 1.0, seed: int = 0, edits: Edits = ()
    ) -> str:
        """Writes on after a prompt, while the edits, as in `trace`, are in force at every step.

        Raises ValueError as `trace` does, and for a model that cannot continue a prompt.
        """
        raise ValueError(f"{self.name!r} does not go on writing; ask a decoder-only model")

    def _under_edits(
        self, writing: Writing, reading: Reading, edits: Edits, temperature: float, seed: int, **how: Any
    ) -> str:
        """Writes a text, drawn by chance unless the temperature is 0."""
        by_chance = partial(
            drawn, generator=torch.Generator().manual_seed(seed), temperature=temperature, **how
        )
        choose = by_chance if temperature else torch.argmax
        return write_under_edits(self, reading, read_edits(edits), {}, writing=writing, choose=choose).answer

    def fitted(self, text: str, more: str) -> str:
        """`text` followed by `more`, cut in front where it is too long for the model."""
        return text + more

    def stacks(self, sides: Sequence[str]) -> tuple[str, ...]:
        """Its families of attentions when it has read tokens of these sides, "encoder" and "decoder"."""
        if len(sides) == 2:
            return ("encoder.self", "decoder.self", "decoder.cross")
        return tuple(f"{side}.self" for side in sides)

    def attention(self, stack: str) -> Attention:
        """What the attentions of a stack, such as "encoder.self", have in common."""
        config, own = self.config, stack.endswith(".self")
        every = config.positionless_every
        placed = [at for at in range(config.n_layers) if not (every and (at + 1) % every == 0)]
        return Attention(
            n_layers=config.n_layers,
            n_heads=config.n_heads,
            d_head=config.head_size,
            n_key_heads=config.key_heads,
            scales=(config.scale,) * config.n_layers,
            has_bias=own and has_bias(config.positions),
            turned=tuple(placed) if own and turns(config.positions) else (),
            cap=config.score_cap,
            normalizer=config.normalizer,
            handed_on=config.head_gate != "none" or config.differential or (own and config.exclusive),
        )

    def projections(self) -> Mapping[str, nn.Module]:
        """The modules that read all heads' z side by side, in the order of computation, by address such as
        "encoder.0.self". Raises ValueError where they are not known.
        """
        modules = {address: each for address, each in self._output_maps().items() if each is not None}
        if not modules or len(modules) < len(self._output_maps()):
            raise ValueError(self._unknown_parts)
        return modules

    def _output_maps(self) -> Mapping[str, nn.Module | None]:
        """As `projections`; None for one that is not known."""
        return {}

    def layers(self) -> Mapping[str, nn.Module]:
        """The modules of its layers, in the order of computation, by address such as "encoder.0".

        Raises ValueError as `projections` does.
        """
        raise ValueError(self._unknown_parts)

    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor:
        """The logits [row, position, output] of a batch of one reading so many times; `at` one position, or
        at all. Nothing is recorded. Raises ValueError as `projections` does.
        """
        raise ValueError(self._unknown_parts)

    def last(self, reading: Reading, n_rows: int, at: int | None) -> Tensor:
        """As `logits`; of a model without an output of words, its last stream in their place."""
        return self.logits(reading, n_rows, at)

    def unembedding(self) -> Unembedding:
        """The norm and the matrix that make logits of the stream that leaves its last layer.

        Raises ValueError where the logits are made in another way, or it is not known.
        """
        raise ValueError(f"the last norm and output layer of {self.name!r} are not known; choose one of ours")

    @property
    def _unknown_parts(self) -> str:
        return f"the parts of {self.name!r} are not known; open another model"

    def projection(self, stack: str, layer: int) -> Tensor | None:
        """W_O of an attention, the rows of each head: [head, d_head, d_model]; None where it is not known."""
        module = self._output_map(stack, layer)
        if module is None:
            return None
        weight = module.weight.T if isinstance(module, nn.Linear) else module.weight  # [channel, d_model]
        return _precise(weight).reshape(self.attention(stack).n_heads, -1, weight.shape[1])

    def projection_bias(self, stack: str, layer: int) -> Tensor | None:
        """b_O, [d_model], which the output projection adds for no head; None where it has none."""
        bias = getattr(self._output_map(stack, layer), "bias", None)
        return None if bias is None else _precise(bias)

    def word_values(self, stack: str, layer: int, head: int) -> Tensor | None:
        """The value that a head makes of each token of the vocabulary, read alone, as embedded, without a
        position: [token, d_head]; None where a head is not known to read embeddings.
        """
        return None

    def _output_map(self, stack: str, layer: int) -> Any:
        return self._output_maps().get(attention_at(stack, layer))

    @property
    def max_len(self) -> int:
        """The most tokens that it reads."""
        return self.config.max_len

    def operations(self, lengths: Sequence[int]) -> int:
        """The floating-point operations of a trace of so many tokens, one number a stack."""
        return trace_operations(self.config, lengths)

    @property
    def pooled(self) -> str | None:
        """How all positions become one answer, as a sentence begins; None where each has its own."""
        return _POOLED.get(self.config.pooling)

    def stretched(self, n_tokens: int) -> Model:
        """This model as it reads so many tokens, with the same weights. Raises ValueError where it cannot."""
        if n_tokens <= self.max_len:
            return self
        raise ValueError(f"{self.name!r} reads at most {self.max_len:,} tokens; give a shorter text")

    def long(
        self,
        reading: Reading,
        *,
        wants: Wanted = lambda address: True,
        progress: Progress = lambda share: None,
    ) -> dict[str, LongHeads]:
        """What the patterns of a long text are computed from, by addresses such as "decoder.0.self".

        wants: whether those of an address are kept. progress: hears which share is done, and may raise to end
        it. Raises ValueError for a model that does not read long texts.
        """
        raise ValueError(f"{self.name!r} does not read long texts; choose a model of texts")

    def names(self, reading: Reading) -> tuple[str, ...]:
        """What each column of the logits stands for when this is read."""
        return self.outputs

    def antecedents(self, trace: Trace) -> list[Antecedent] | None:
        """The noun that the model takes each pronoun for; None where its task does not ask for it."""
        return None

    def pictures(self, reading: Reading, trace: Trace) -> dict[str, Tensor]:
        """The picture that was read and what the model made of it, [row, column] or, in colour, [row, column,
        3], in 0..1, by their titles.
        """
        return {}

    def places(self) -> Tensor | None:
        """The position [row, column] that reads each part of a picture, where the model reads pictures: the
        parts are equal rectangles, or single pixels.
        """
        return None

    @property
    def step_note(self) -> str:
        """The note beside the probabilities of its outputs."""
        return f"There are {len(self.outputs):,} outputs; the most probable come first."


def call(name: str, *arguments: Any, **settings: Any) -> str:
    """A call as a line of Python."""
    words = [*map(repr, arguments), *(f"{key}={value!r}" for key, value in settings.items())]
    return f"{name}({', '.join(words)})"


# A network made anew around the same weights, so that one thing of it can be other.

Parts = TypeVar("Parts")
_HOOKS = (
    "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
)  # fmt: skip


def sharing_weights(net: nn.Module, parts: Parts) -> Parts:
    """A copy of `parts`, modules and what refers to them, that shares the parameters and buffers of `net` and
    has none of its hooks: another thread may record a pass of it meanwhile.

    Whoever changes it puts other parameters in their place and changes none itself.
    """
    memo: dict[int, object] = {id(each): each for each in chain(net.parameters(), net.buffers())}
    for module in net.modules():
        for hooks in (getattr(module, name) for name in _HOOKS):
            memo[id(hooks)] = OrderedDict()
    return copy.deepcopy(parts, memo)


def _precise(weight: Tensor) -> Tensor:
    """A weight on the CPU, in 32 bits or more."""
    weight_copy = weight.detach().cpu()
    return weight_copy if weight_copy.dtype == torch.float64 else weight_copy.float()


def format_of(net: nn.Module) -> torch.dtype:
    """The number format of a network's weights: of the first."""
    return next((each.dtype for each in net.parameters() if each.is_floating_point()), torch.float32)


def in_format_of(net: nn.Module, inputs: Iterable[Tensor]) -> list[Tensor]:
    """What a network reads, in the number format of its weights; ids stay whole numbers."""
    dtype = format_of(net)
    return [read.to(dtype) if read.is_floating_point() else read for read in inputs]
