"""Wraps a `Transformer` of our engine as a model: trained here, shipped or untrained."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from ..config import ModelConfig
from ..data.tasks import Aligned, Antecedent, Example, Rarity, Reading, Task, Writing, generator_of
from ..data.tasks.batch import Alphabet, check_room
from ..engine import masks
from ..engine.attention import MultiHeadAttention
from ..engine.decoding import greedy, room, sample
from ..engine.long_text import LongHeads, LongTrace, Progress
from ..engine.positions import POSITIONS
from ..engine.trace import Trace
from ..engine.transformer import Transformer
from ..engine.unembedding import Unembedding
from ..files import read_json
from .folders import PACKED, TASK, Which, read_description, weights_path
from .model import Change, Edits, Model, Wanted, call, format_of, in_format_of, sharing_weights
from .model_file import read_config, read_task, read_weights

# A model of ours: its arithmetic is a `Transformer` of the engine.


class EngineModel(Model):
    """A model whose arithmetic is a `Transformer` of the engine."""

    def __init__(self, name: str, model: Transformer) -> None:
        self.name = name
        self.model = self.net = model.eval()
        self.config = model.config
        self.n_bytes = sum(weight.nbytes for weight in model.parameters())

    def remade(self, change: Change) -> EngineModel:
        net = sharing_weights(self.model, self.model)
        change(net)
        other = copy(self)
        EngineModel.__init__(other, self.name, net)
        return other

    def projections(self) -> dict[str, nn.Module]:
        return {address: each.reads_heads for address, each in self._attentions().items()}

    def projection(self, stack: str, layer: int) -> Tensor | None:
        w_o = super().projection(stack, layer)
        if w_o is None or not self.config.differential:
            return w_o
        # both heads of a pair have all its rows: [pair, 2 * d_head, d_model], twice
        return w_o.unflatten(0, (-1, 2)).flatten(1, 2).repeat(2, 1, 1)

    def _output_maps(self) -> dict[str, nn.Module | None]:
        return {address: each.out_proj for address, each in self._attentions().items()}

    def _attentions(self) -> dict[str, MultiHeadAttention]:
        return {
            f"{address}.{kind}": getattr(layer, f"{kind}_attention")
            for address, layer in self.layers().items()
            for kind in ("self", "cross")
            if getattr(layer, f"{kind}_attention") is not None
        }

    def layers(self) -> dict[str, nn.Module]:
        return {
            f"{side}.{at}": layer
            for side in self.config.stacks
            for at, layer in enumerate(self.model.get_submodule(f"{side}.layers").children())
        }

    @torch.no_grad()
    def word_values(self, stack: str, layer: int, head: int) -> Tensor | None:
        side, kind = stack.split(".")
        config, net = self.config, self.model
        embedding = net.embedding if side == "encoder" else net.target_embedding or net.embedding
        # behind a layer, the stream still has embeddings in it where layers add to it and no norm follows
        adds = config.residual and config.norm != "post" and not config.depth_attention
        mixed = layer and config.value_residual
        if kind != "self" or not isinstance(embedding, nn.Embedding) or (layer and not adds) or mixed:
            return None
        first: Any = net.get_submodule(side)
        at = first.layers[layer]
        x = embedding.weight * config.d_model**0.5
        x = first.embedding_norm(x if first.types is None else first.types(x, None))
        values: Tensor = at.self_attention.own_values((at.self_norm(x) if at.pre_norm else x)[None])
        return values[0, head]  # [token, d_head]

    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor:
        inputs = [read.expand(n_rows, *read.shape[1:]) for read in reading.inputs]
        positions = None
        if at is not None and self.config.pooling == "none":
            positions = torch.zeros(inputs[-1].shape[:2], dtype=torch.bool)
            positions[:, at] = True
        logits = self.model(*inputs, mask=reading.allowed, positions=positions)
        return logits.view(n_rows, -1, logits.shape[-1])

    @torch.no_grad()
    def unembedding(self) -> Unembedding:
        net = self.model
        bends = self.config.logit_cap is not None or (net.output is not None and net.transform is not None)
        if self.config.pooling != "none" or bends:
            raise ValueError(
                f"the output of {self.name!r} is not read at each position by a matrix; choose another model"
            )
        words = net.unembed(torch.eye(self.config.d_model, dtype=format_of(net)))  # [d_model, output]
        norm: Any = net.get_submodule(f"{self.config.stacks[-1]}.norm")
        none = torch.zeros_like(words[0])
        if isinstance(norm, nn.Identity):
            return Unembedding(False, None, words, none)
        centred = isinstance(norm, nn.LayerNorm)
        constant = none if not centred or norm.bias is None else norm.bias @ words
        return Unembedding(centred, norm.weight.detach(), words, constant, norm.eps)

    def compute(self, reading: Reading, trace: Trace) -> None:
        inputs = in_format_of(self.model, reading.inputs)
        self.model(*inputs, mask=reading.allowed, trace=trace)

    @torch.no_grad()
    def long(
        self,
        reading: Reading,
        *,
        wants: Wanted = lambda address: True,
        progress: Progress = lambda share: None,
    ) -> dict[str, LongHeads]:
        if self.config.input_channels is not None:
            return super().long(reading)
        n_attentions = self.config.n_layers * len(self.stacks(tuple(reading.tokens)))
        trace = LongTrace(wants, lambda n: progress(n / n_attentions))
        read, memory, allowed = reading.inputs[-1], None, reading.allowed
        if self.model.encoder is not None:
            memory = self.model.encode(reading.inputs[0], mask=allowed, trace=trace)
            allowed = None
        if self.model.decoder is not None:  # the logits of so many tokens would be larger than all the rest
            source = None if memory is None else reading.inputs[0]
            none = torch.zeros(read.shape, dtype=torch.bool)
            self.model.decode(read, memory, source, mask=allowed, trace=trace, positions=none)
        return trace.heads


# A trained model in use: it reads, is traced, answers and continues texts, whatever its task.

Learnt = TypeVar("Learnt", bound=Task)
CONTINUED = 16
"""Tokens that a model writes after a text while it is edited: each takes a pass over all before it."""
REFERENCES = 16
"""Held-out examples to take means and scores over."""


_ABILITIES = {"decoder-only": "continue", "encoder-decoder": "translate", "encoder-only": "classify"}


class TrainedModel(EngineModel, Generic[Learnt]):
    """A model with the task that it was trained on, and its card (for a run, its config).

    source: the argument of `load_model` in a notebook's code; imports: the lines before it that it needs.
    """

    def __init__(self, name: str, task: Learnt, model: Transformer, card: dict[str, Any]) -> None:
        super().__init__(name, model)
        self.task = task
        self.card = card
        self.outputs = task.outputs()
        self.abilities = task.abilities or (_ABILITIES[task.kind],)
        self.see = task.hint
        self.scored = bool(self.outputs)
        self.source, self.imports = repr(name), ""

    @torch.no_grad()
    def read(self, text: str, **settings: Any) -> Reading:
        return self.task.read_by(self.model, text, **settings)

    def writing(self, reading: Reading) -> Writing:
        own = self.task.writing(reading)
        if own is not None:
            return own
        if self.config.kind != "decoder-only":
            return super().writing(reading)
        return self._continuing(reading)

    def _continuing(self, reading: Reading) -> Writing:
        (read,), (labels,) = reading.inputs, reading.tokens.values()
        free = self.max_len - read.shape[1]
        if free < 1:
            raise ValueError(
                f"the text fills all {read.shape[1]} tokens that this model reads; give a shorter one"
            )

        def finished(ids: list[int]) -> Reading:
            """What was read and what was written after it; special words of the task's are no end of it."""
            inputs = (torch.cat([read, torch.tensor([ids])], dim=1),)
            tokens = {"decoder": [*labels, *(self.outputs[id_] for id_ in ids)]}
            return replace(reading, inputs=inputs, tokens=tokens, answer=self.task.written(ids))

        return Writing(tuple(read[0].tolist()), min(CONTINUED, free), frozenset(), finished)

    def references(self) -> list[Reading]:
        """A few held-out examples of its task, the same ones every time."""
        return [reading for reading, _ in self._held_out()]

    def examples(self) -> list[Example]:
        return self._held_out() if self.scored else []

    def _held_out(self) -> list[Example]:
        """Rows of a batch, each [1, position, ...] without the padding at its end; their labels are empty."""
        batch, pad_id = self.task.batch(generator_of(0, 0), REFERENCES, held_out=True), self.config.pad_id
        examples = []
        for row, targets in enumerate(batch.targets):
            inputs = tuple(each[row] for each in batch.inputs)
            if pad_id is not None and inputs[0].ndim == 1:
                inputs = tuple(ids[: int((ids != pad_id).nonzero().max()) + 1] for ids in inputs)
            labels = {side: [""] * len(read) for side, read in zip(self.config.stacks, inputs, strict=True)}
            reading = Reading(tuple(read[None] for read in inputs), labels)
            examples.append(Example(reading, targets[: len(inputs[-1])]))
        return examples

    def texts(self, seed: int) -> Iterator[str]:
        return self.task.texts(seed)

    def code(self, text: str, **settings: Any) -> str:
        load = f"from attention_lab.models import load_model\n{self.imports}lm = load_model({self.source})"
        return f"{load}\ntrace = {call('lm.trace', text, **settings)}"

    def rarity(self, reading: Reading) -> Rarity | None:
        return self.task.rarity()

    def alignments(self, reading: Reading) -> list[Aligned] | None:
        return self.task.alignments(reading)

    def antecedents(self, trace: Trace) -> list[Antecedent] | None:
        return self.task.antecedents(self.model, trace)

    def made_of(self) -> Alphabet | None:
        return self.task.made_of()

    def pictures(self, reading: Reading, trace: Trace) -> dict[str, Tensor]:
        if reading.picture is None:
            return {}
        rebuilt = self.task.pictures_from(trace["logits"][None])
        return {"read": reading.picture} | ({} if rebuilt is None else {"rebuilt": rebuilt[0]})

    def places(self) -> Tensor | None:
        return self.task.places()

    def generate(
        self,
        prompt: str,
        *,
        max_new_tokens: int | None = None,
        temperature: int | float = 1.0,
        top_k: int | None = None,
        top_p: int | float | None = None,
        seed: int = 0,
        edits: Edits = (),
    ) -> str:
        """Writes on after `prompt`, and returns that alone; temperature 0 is greedy. edits: as in
        `trace`, in force at every step.

        It reads as much of the end of a long prompt as leaves room for `max_new_tokens` (None: the room that
        there is). Raises ValueError for other kinds of models, and as `read` and `distribution` do.
        """
        ids = self._prompt(prompt)
        if max_new_tokens is not None:
            ids = ids[:, -max(1, self.config.max_len - max_new_tokens) :]
        if edits:
            reading, most = self.read_ids(ids[0].tolist()), room(self.model, ids, None, None, max_new_tokens)
            writing = self._continuing(reading)._replace(most=most)
            return self._under_edits(writing, reading, edits, temperature, seed, top_k=top_k, top_p=top_p)
        if temperature == 0:
            rows = greedy(self.model, ids, max_new_tokens=max_new_tokens)
        else:
            rows = sample(
                self.model,
                ids,
                generator=torch.Generator().manual_seed(seed),
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                max_new_tokens=max_new_tokens,
            )
        return self.task.written(rows[0, ids.shape[1] :].tolist())

    def fitted(self, text: str, more: str) -> str:
        """`text` followed by `more`, cut in front where it is too long for the model.

        Raises ValueError as `generate` does.
        """
        ids = torch.cat([self._prompt(text), self._prompt(more)], dim=1)[0]
        if len(ids) <= self.config.max_len:
            return text + more
        return self.task.written(ids[-self.config.max_len :].tolist())

    def stretched(self, n_tokens: int) -> Model:
        if n_tokens <= self.max_len:
            return self
        if POSITIONS[self.config.positions].counted:
            raise ValueError(
                f"{self.name!r} has learnt vectors for {self.max_len:,} positions only; "
                "give a shorter text, or choose a model with other positions"
            )
        net = Transformer(ModelConfig.from_dict(self.config.to_dict() | {"max_len": n_tokens}))
        net.load_state_dict(self.model.state_dict())
        longer = TrainedModel(self.name, self.task.stretched(n_tokens), net, self.card)
        longer.source, longer.imports = self.source, self.imports
        return longer

    def _prompt(self, text: str) -> Tensor:
        if self.config.kind != "decoder-only":
            raise ValueError(f"kind={self.config.kind!r} does not go on writing; ask a decoder-only model")
        (ids,) = self.task.read(text).inputs
        return ids


def read_trained(weights: Path, card: dict[str, Any]) -> TrainedModel[Any]:
    """The model of a card that names its task. Raises FileError."""
    name = Path(weights.name.removesuffix(PACKED)).stem
    return _made(weights, name, card, card["config"], card["learnt"], part="")


def read_run(folder: Path, which: Which = "last") -> TrainedModel[Any]:
    """The model of a training run as its last checkpoint has it, or its best validation. Raises FileError."""
    card, learnt = read_description(folder), read_json(folder / TASK)
    path, part = weights_path(folder, which), "model." if which == "last" else ""
    model = _made(path, folder.name, card, card["model"], learnt, part=part)
    file = "" if which == "last" else f" / {path.name!r}"
    model.source = f"runs_root() / {folder.name!r}{file}"
    model.imports = "from attention_lab.models.zoo.folders import runs_root\n"
    return model


def _made(
    weights: Path, name: str, card: dict[str, Any], config: Any, learnt: Any, *, part: str
) -> TrainedModel[Task]:
    own_config = read_config(weights, config)
    task = read_task(weights, card["task"], learnt, own_config)
    return TrainedModel(name, task, read_weights(weights, own_config, part=part), card)


# A transformer with random weights that reads any words: attention before it has learnt anything.

PAD = "<pad>"


@lru_cache(maxsize=16)
def _structure(config: ModelConfig) -> Transformer:
    """A model of these sizes, of which others are made, without the weights that each draws anew."""
    structure = Transformer(config, seed=0)
    for module in structure.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.to("meta")
    return structure


class UntrainedModel(EngineModel):
    """An encoder-only `Transformer` from `seed`, whose n-th random vector is a text's n-th different word.

    Raises ValueError unless `config` is encoder-only with pad_id 0.
    """

    PADDING = 3
    by_first_use = True
    step_note = "Random weights."

    def __init__(self, config: ModelConfig, *, seed: int = 0) -> None:
        if config.kind != "encoder-only" or config.pad_id != 0:
            raise ValueError(
                f"kind={config.kind!r}, pad_id={config.pad_id!r}: an untrained model here is encoder-only "
                "with pad_id 0; use Transformer for others"
            )
        super().__init__("untrained", _structure(config).anew(seed))
        self.seed = seed

    def read(self, text: str, *, mask: str = "none", mask_arg: str = "") -> Reading:  # type: ignore[override]
        """The words of `text` under a mask of `masks.named`; masks with padding add three hidden <pad>.

        An empty `mask_arg` is the mask's usual one. Raises ValueError for an unknown mask, a text without
        words, and more words than the model can read.
        """
        n_padding = self.PADDING if masks.kind_of(mask) == "padding" else 0
        words = text.split()
        if not words:
            raise ValueError("the text is empty; give at least one word")
        limit = min(self.config.max_len - self.PADDING, self.config.vocab_size - 1)
        check_room(len(words), limit, "words")
        # A typed "<pad>" is a word like any other: only what is added here has id 0 and is hidden.
        ids_of = {word: at for at, word in enumerate(dict.fromkeys(words), start=1)}
        ids = torch.tensor([[ids_of[word] for word in words] + [0] * n_padding])
        allowed = self._allowed(mask, mask_arg, ids.shape[1])
        return Reading((ids,), {"encoder": words + [PAD] * n_padding}, text, allowed=allowed)

    def made_of(self) -> Alphabet:
        n_words = self.config.vocab_size - 1
        names = (PAD, *(f"word {at}" for at in range(1, n_words + 1)))
        return Alphabet(names, range(1, n_words + 1), {"encoder": ()})

    def stretched(self, n_tokens: int) -> UntrainedModel:
        """The model of the same seed that reads so many words; its vectors for words are others."""
        if n_tokens <= self.config.max_len - self.PADDING:
            return self
        sizes = {"vocab_size": n_tokens + 1, "max_len": n_tokens + self.PADDING}
        return UntrainedModel(ModelConfig.from_dict(self.config.to_dict() | sizes), seed=self.seed)

    def names(self, reading: Reading) -> tuple[str, ...]:
        """The word of each token id that a text uses: <pad>, then its different words as they appear."""
        return (PAD, *dict.fromkeys(reading.text.split()))

    def code(self, text: str, **settings: Any) -> str:
        sizes = ("n_layers", "n_heads", "d_model", "d_head", "vocab_size", "max_len", "positions")
        config, said = self.config.to_dict(), ("kind", *sizes, "attention_scale", "norm")
        plain = ModelConfig(**{name: config[name] for name in said}).to_dict()
        fields = {name: config[name] for name in config if name in said or config[name] != plain[name]}
        return (
            "from attention_lab.models import ModelConfig, UntrainedModel\n"
            f"lm = UntrainedModel({call('ModelConfig', **fields)}, seed={self.seed})\n"
            f"trace = {call('lm.trace', text, **settings)}"
        )

    def _allowed(self, mask: str, mask_arg: str, n: int) -> Tensor | None:
        """Which query may attend to which key, [1, 1, query, key]; None where all may attend to all."""
        if (mask, mask_arg) == ("none", ""):
            return None
        if masks.kind_of(mask) == "padding":
            if mask_arg:
                raise ValueError(
                    f"mask={mask!r} hides the {self.PADDING} {PAD} that it adds and takes no argument, "
                    f"not {mask_arg[:40]!r}; leave it out"
                )
            mask_arg = str(self.PADDING)
        return masks.named(mask, mask_arg, n)
