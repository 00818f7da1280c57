"""A trained model in use: it reads, is traced, answers and continues texts, whatever its task."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from models.data.tasks import Aligned, Example, Named, Rarity, Reading, Task, Writing, generator_of
from models.data.tasks.alphabet import Alphabet
from models.data.tasks.translation import Translation
from models.engine.decoding import greedy, sample
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.files import read_json
from models.zoo.engine_model import EngineModel
from models.zoo.files import read_config, read_task, read_weights
from models.zoo.model import Model, call
from models.zoo.run_folders import TASK, Which, read_description, weights_path

_RUNS = "from models.zoo.run_folders import runs_root\n"
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
        self.see = task.seen
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
        begun = tuple(reading.inputs[0][0].tolist())
        room = self.max_len - len(begun)
        if room < 1:
            raise ValueError(
                f"the text has {len(begun)} tokens, as many as this model reads, so none can "
                "follow; give fewer"
            )
        return Writing(begun, min(CONTINUED, room), frozenset(), lambda ids: self._continued(reading, ids))

    def _continued(self, reading: Reading, ids: list[int]) -> Reading:
        """What was read and what was written after it; special words of the task's are no end of it."""
        (read,), (labels,) = reading.inputs, reading.tokens.values()
        return replace(
            reading,
            inputs=(torch.cat([read, torch.tensor([ids])], dim=1),),
            tokens={"decoder": [*labels, *(self.outputs[id_] for id_ in ids)]},
            answer=self.task.written(ids),
        )

    def references(self) -> list[Reading]:
        """A few held-out examples of its task, the same ones every time."""
        return [reading for reading, _ in self._held_out()]

    def examples(self) -> list[Example]:
        return self._held_out() if self.scored else []

    def _held_out(self) -> list[Example]:
        batch = self.task.batch(generator_of(0, 0), REFERENCES, held_out=True)
        rows = [tuple(self._unpadded(each[row]) for each in batch.inputs) for row in range(len(batch))]
        return [
            Example(Reading(inputs, self._unnamed(inputs)), targets[: inputs[-1].shape[1]])
            for inputs, targets in zip(rows, batch.targets, strict=True)
        ]

    def _unnamed(self, inputs: tuple[Tensor, ...]) -> dict[str, list[str]]:
        """A label for every position, which nobody reads."""
        return {side: [""] * read.shape[1] for side, read in zip(self.config.stacks, inputs, strict=True)}

    def texts(self, seed: int) -> Iterator[str]:
        return self.task.texts(seed)

    def _unpadded(self, row: Tensor) -> Tensor:
        """One row of a batch alone, [1, position, ...], without the padding at its end."""
        if row.ndim == 1 and self.config.pad_id is not None:
            row = row[: int((row != self.config.pad_id).nonzero().max()) + 1]
        return row[None]

    def code(self, text: str, **settings: Any) -> str:
        load = f"from models import load_model\n{self.imports}lm = load_model({self.source})"
        return f"{load}\ntrace = {call('lm.trace', text, **settings)}"

    def rarity(self, reading: Reading) -> Rarity | None:
        return self.task.rarity()

    def alignments(self, reading: Reading) -> list[Aligned] | None:
        return self.task.alignments(reading)

    def antecedents(self, trace: Trace) -> list[Named] | None:
        return self.task.antecedents(self.model, trace)

    def made_of(self) -> Alphabet | None:
        return self.task.made_of()

    def pictures(self, reading: Reading, trace: Trace) -> dict[str, Tensor]:
        if reading.picture is None:
            return {}
        rebuilt = self.task.rebuilt(trace["logits"][None])
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
    ) -> str:
        """What a decoder-only model writes after `prompt`, without it; temperature 0 is greedy.

        It reads as much of the end of a long prompt as leaves room for `max_new_tokens` (None: the room that
        there is). Raises ValueError for other kinds of models, and as `read` and `distribution` do.
        """
        ids = self._prompt(prompt)
        if max_new_tokens is not None:
            ids = ids[:, -max(1, self.config.max_len - max_new_tokens) :]
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
        net = self._stretched_net(n_tokens)
        longer = TrainedModel(self.name, self.task.stretched(n_tokens), net, self.card)
        longer.source, longer.imports = self.source, self.imports
        return longer

    def _prompt(self, text: str) -> Tensor:
        if self.config.kind != "decoder-only":
            raise ValueError(f"kind={self.config.kind!r} does not go on writing; ask a decoder-only model")
        (ids,) = self.task.read(text).inputs
        return ids


Translator = TrainedModel[Translation]


def read_trained(weights: Path, card: dict[str, Any]) -> TrainedModel[Any]:
    """The model of a card that names its task. Raises FileError."""
    return _made(weights, weights.stem, card, card["config"], card["learnt"], part="")


def read_run(folder: Path, which: Which = "last") -> TrainedModel[Any]:
    """The model of a training run as its last checkpoint has it, or its best validation. Raises FileError."""
    card, learnt = read_description(folder), read_json(folder / TASK)
    path, part = weights_path(folder, which), "model." if which == "last" else ""
    model = _made(path, folder.name, card, card["model"], learnt, part=part)
    file = "" if which == "last" else f" / {path.name!r}"
    model.source, model.imports = f"runs_root() / {folder.name!r}{file}", _RUNS
    return model


def _made(
    weights: Path, name: str, card: dict[str, Any], config: Any, learnt: Any, *, part: str
) -> TrainedModel[Task]:
    made = read_config(weights, config)
    task = read_task(weights, card["task"], learnt, made)
    return TrainedModel(name, task, read_weights(weights, made, part=part), card)
