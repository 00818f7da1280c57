"""A model trained on any task in use: read, trace, answer, go on writing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.config import ModelConfig
from models.data.tasks import Reading, Task
from models.engine.decoding import greedy, sample
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.files import read_json
from models.zoo.files import read_config, read_task, read_weights
from models.zoo.run_folders import CHECKPOINT, TASK, read_description


class TrainedModel:
    """A model with the task that it was trained on, and its card: what is said of it (of a run, its config).

    outputs: what each column of the logits stands for; () where they are no choice between names.
    """

    def __init__(self, name: str, task: Task, model: Transformer, card: dict[str, Any]) -> None:
        self.name = name
        self.task = task
        self.model = model.eval()
        self.config: ModelConfig = model.config
        self.card = card
        self.outputs = task.outputs()

    def read(self, text: str) -> Reading:
        """`text` as the task reads it. Raises ValueError for what it cannot read."""
        return self.task.read(text)

    @torch.no_grad()
    def answered(self, text: str) -> tuple[Reading, str]:
        """What the model reads once its own answer is written, and the answer; "" where the task has none.

        Raises ValueError as `read` does.
        """
        return self.task.answered(self.model, self.read(text))

    def trace(self, text: str, *, reduce: Callable[[str, Tensor], Any | None] | None = None) -> Trace:
        """All that the model computes when it reads `text` and writes its answer, if its task has one.

        `reduce` as in `Trace`. Raises ValueError as `read` does.
        """
        return self.trace_of(self.answered(text)[0], reduce=reduce)

    @torch.no_grad()
    def trace_of(
        self, reading: Reading, *, reduce: Callable[[str, Tensor], Any | None] | None = None
    ) -> Trace:
        """All that the model computes on one reading; `reduce` as in `Trace`."""
        trace = Trace(reduce)
        trace.tokens = dict(reading.tokens)
        self.model(*reading.inputs, trace=trace)
        return trace

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

        Of a long prompt it reads as much of the end as leaves room for `max_new_tokens` (None: what room
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
        """`text` and `more` after it, cut in front where the model could not read it all.

        Raises ValueError as `generate` does.
        """
        ids = torch.cat([self._prompt(text), self._prompt(more)], dim=1)[0]
        if len(ids) <= self.config.max_len:
            return text + more
        return self.task.written(ids[-self.config.max_len :].tolist())

    def _prompt(self, text: str) -> Tensor:
        if self.config.kind != "decoder-only":
            raise ValueError(f"kind={self.config.kind!r} does not go on writing; ask a decoder-only model")
        (ids,) = self.read(text).inputs
        return ids


def read_trained(weights: Path, card: dict[str, Any]) -> TrainedModel:
    """The model of a card that names its task. Raises FileError."""
    return _made(weights, weights.stem, card, card["config"], card["learnt"], part="")


def read_run(folder: Path) -> TrainedModel:
    """The model of a training run as its last checkpoint has it. Raises FileError."""
    card, learnt = read_description(folder), read_json(folder / TASK)
    return _made(folder / CHECKPOINT, folder.name, card, card["model"], learnt, part="model.")


def _made(
    weights: Path, name: str, card: dict[str, Any], config: Any, learnt: Any, *, part: str
) -> TrainedModel:
    made = read_config(weights, config)
    task = read_task(weights, card["task"], learnt, made)
    return TrainedModel(name, task, read_weights(weights, made, part=part), card)
