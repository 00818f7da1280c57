"""Watches a training of a person's own: it becomes a run on Runs, and in a notebook a figure that follows it.

    from attention_lab import watch
    with watch(model, tokenizer, probe="the cat sat on the mat", every=50) as w:
        for batch in batches:
            ...
            w.step(loss=loss, lr=rate)

A watch reads the model and never changes it; what goes wrong with it is a warning, and the training goes on.
"""

from __future__ import annotations

import json
import math
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from attention_lab.models import capture, load_model
from attention_lab.models.files import write_json
from attention_lab.models.runs.folder import METRICS, SNAPSHOTS, WATCHED, State, Status, new_run, write_status
from attention_lab.models.runs.processes import this_process
from attention_lab.models.runs.recording import MOST_LINES, keep
from attention_lab.models.zoo.folders import PROBE

if TYPE_CHECKING:
    from attention_lab.notebook import BoardFigure

SECONDS = 0.5  # between two times that what is noted is handed to the disk
FIGURE_SECONDS = 1.0  # between two messages of the live figure
_ADDRESS = re.compile(r"(encoder|decoder)\.\d+\.(self|cross)\.pattern")
Tokens = dict[str, list[str]]
Reader = Callable[[str], tuple[Sequence[str] | Mapping[str, Sequence[str]], Any]]


class Heads:
    """Every head of a model as it is at the moment, on a probe.

    reader: the tokenizer of a model of transformers; of any other module a function of the probe that gives
    its tokens (by side, where it has an encoder and a decoder) and what the module is called with.
    Raises ValueError with a sentence for what cannot be traced.
    """

    def __init__(self, model: Any, reader: Any, probe: str, settings: Mapping[str, Any]) -> None:
        self._model, self._reader, self._probe, self._settings = model, reader, probe, settings
        self._tensors: tuple[int, ...] = ()
        self._reading: Any = None

    def read(self) -> tuple[Tokens, dict[str, Tensor]]:
        """The tokens of each side, and the patterns by address, float16 [head, query, key]."""
        from transformers import PreTrainedModel

        of_transformers = isinstance(self._model, PreTrainedModel)
        tokens, patterns = self._of_transformers() if of_transformers else self._of_module()
        return tokens, {address: pattern.half() for address, pattern in patterns.items()}

    def _of_transformers(self) -> tuple[Tokens, dict[str, Tensor]]:
        # To move a model to a GPU may give it other tensors, which those that are read must follow.
        tensors = tuple(map(id, chain(self._model.parameters(), self._model.buffers())))
        if tensors != self._tensors:
            self._lm, self._tensors = load_model(self._model, self._reader), tensors
            self._reading = self._reading or self._lm.read(self._probe, **self._settings)
        trace = self._lm.trace(self._reading, reduce=lambda a, t: t if a.endswith(".pattern") else None)
        return dict(self._reading.tokens), {a: trace[a] for a in trace if _ADDRESS.fullmatch(a)}

    def _of_module(self) -> tuple[Tokens, dict[str, Tensor]]:
        given, inputs = self._reader(self._probe)
        modes = [(module, module.training) for module in self._model.modules()]
        try:
            with torch.no_grad():
                _, trace = capture(self._model.eval(), *(inputs if isinstance(inputs, tuple) else (inputs,)))
        finally:
            for module, mode in modes:
                module.training = mode
        patterns = {address: trace[address] for address in trace if address.endswith(".pattern")}
        tokens = {side: list(each) for side, each in given.items()} if isinstance(given, Mapping) else {}
        if not all(map(_ADDRESS.fullmatch, patterns)):  # layers of one's own, in the order of their paths
            square = [each for each in patterns.values() if each.shape[1:] == (len(given),) * 2]
            side = "decoder" if all(not each.triu(1).any() for each in square) else "encoder"
            patterns = {f"{side}.{layer}.self.pattern": each for layer, each in enumerate(square)}
        if not patterns:
            raise ValueError(
                f"no attention between the {len(given)} tokens of the probe was seen in "
                f"{type(self._model).__name__}; it is seen where nn.MultiheadAttention or "
                "F.scaled_dot_product_attention computes it, and the reader names every position"
            )
        return tokens or {address.split(".")[0]: list(given) for address in patterns}, patterns


class Watched:
    """A run that a program of a person's own trains. folder: the run's; n_steps: how many steps were made.

    A context manager: at its end the run is finished, or failed where the training raised an error.
    """

    def __init__(self, heads: Heads, probe: str, name: str, every: int, steps: int) -> None:
        if every < 1:
            raise ValueError(f"every={every} keeps no heads; give the steps between two snapshots, 1 or more")
        self._heads, self._every, self.steps, self.n_steps = heads, every, steps, 0
        tokens, patterns = heads.read()
        kind = "encoder-decoder" if len(tokens) > 1 else f"{next(iter(tokens))}-only"
        layers = {address.split(".")[1] for address in patterns}
        sizes = {"kind": kind, "n_layers": len(layers), "n_heads": len(next(iter(patterns.values())))}
        training = {"steps": steps} if steps else {}
        # Nobody knows its data, so that no two of these are seeds of one configuration.
        task = {"name": WATCHED, "options": {"begun": datetime.now(UTC).isoformat(" ")}}
        parts = {"task": task, "model": sizes, "training": training}
        self.folder = new_run(WATCHED, parts, {}, name=name)
        write_json(self.folder.path / PROBE, {"tokens": tokens, "text": probe, "picture": None})
        keep(self.folder.path / SNAPSHOTS, 0, patterns)
        self._metrics = (self.folder.path / METRICS).open("a", encoding="utf-8")
        self._kept, self._n_noted, self._over = 0, 0, False
        self._begun, self._flushed, self._drawn = time.monotonic(), 0.0, 0.0
        self._figure: BoardFigure | None = None
        self._say("running")

    def step(
        self,
        loss: Any = None,
        lr: Any = None,
        *,
        at: int | None = None,
        gradient_norm: Any = None,
        validation: Mapping[str, Any] | None = None,
    ) -> None:
        """Notes that a step was made, and keeps the heads after every so many.

        loss, lr, gradient_norm: numbers or tensors of one. validation: held-out scores by name, "loss" among
        them. at: which step it was, counted from 1, where not each one is told; by default the next.
        """
        if self._over:
            return
        self.n_steps = self.n_steps + 1 if at is None else max(at, self.n_steps)
        numbers = {"loss": loss, "learning_rate": lr, "gradient_norm": gradient_norm}
        try:
            self._note(_finite(numbers), _finite(validation or {}))
            if self.n_steps % self._every == 0:
                self._keep()
            if time.monotonic() - self._flushed > SECONDS:
                self._say("running")
        except (OSError, ValueError) as problem:
            self._over = True
            warnings.warn(f"the training goes on unwatched: {problem}", stacklevel=2)

    def close(self, error: BaseException | None = None) -> None:
        """Keeps the last heads and says how the run ended; later steps are not noted."""
        if self._over:
            return
        state: State = "failed" if isinstance(error, Exception) else "stopped" if error else "finished"
        try:
            self._keep()
            self._say(state, f"{type(error).__name__}: {error}"[:300] if error else "")
            self._over = True
            self._metrics.close()
            self._draw()
        except (OSError, ValueError) as problem:  # the error of the training itself is not to be hidden
            self._over = True
            warnings.warn(f"the end of the training was not noted: {problem}", stacklevel=2)

    def callback(self, of: str = "transformers") -> Any:
        """The callback that watches: for `callbacks` of the Trainer of "transformers", or of "lightning"."""
        if of not in ("transformers", "lightning"):
            raise ValueError(f'{of!r} has no callback here; give "transformers" or "lightning"')
        return _of_trainer(self) if of == "transformers" else _of_lightning(self)

    @property
    def figure(self) -> BoardFigure:
        """The run's board of Runs: curves, every head, a slider. It follows the training."""
        from attention_lab.notebook import BoardFigure

        if self._figure is None:
            self._figure = BoardFigure(self._board())
        return self._figure

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: Any) -> None:
        self.close(error)

    def __repr__(self) -> str:
        return f"watch of {self.folder.name!r}: step {self.n_steps:,}, heads of every {self._every:,}"

    def _ipython_display_(self) -> None:
        self.figure._ipython_display_()

    def _repr_mimebundle_(self, **how: Any) -> Any:
        return self.figure._repr_mimebundle_(**how)

    def _note(self, numbers: dict[str, float], validation: dict[str, float]) -> None:
        """Writes a record, but for some of a very long run, whose curves have points enough."""
        if not (numbers or validation):
            return
        self._n_noted += 1
        if not validation and self._n_noted % math.ceil(self._n_noted / MOST_LINES):
            return
        scores = {"validation": validation} if validation else {}
        seconds = round(time.monotonic() - self._begun, 3)
        self._metrics.write(
            f"{json.dumps({'step': self.n_steps, **numbers, 'seconds': seconds, **scores})}\n"
        )

    def _keep(self) -> None:
        """Keeps every head as it is now, once a step."""
        if self._kept < self.n_steps:
            keep(self.folder.path / SNAPSHOTS, self.n_steps, self._heads.read()[1])
            self._kept = self.n_steps
            if time.monotonic() - self._drawn > FIGURE_SECONDS:
                self._draw()

    def _say(self, state: State, sentence: str = "") -> None:
        self._metrics.flush()
        me, now = this_process(), time.monotonic()
        status = Status(
            state=state, sentence=sentence, step=self.n_steps, steps=max(self.steps, self.n_steps),
            seconds=now - self._begun, pid=me.pid, started_at=me.started_at, born=me.born,
            heartbeat=time.time(), watched=True,
        )  # fmt: skip
        write_status(self.folder.path, status)
        self._flushed = now

    def _draw(self) -> None:
        if self._figure is not None:
            if not self._over:
                self._metrics.flush()
            self._figure.draw(self._board(), at=float(self._kept))
            self._drawn = time.monotonic()
            if self._over:
                self._figure.draw_again()

    def _board(self) -> Any:
        from attention_lab.pages.runs import scrubber
        from attention_lab.pages.shared.training.runs import Run

        run = Run(self.folder.id, self.folder)
        return scrubber.board_of(run, self.folder.metrics(), steps=self.n_steps, see="")


def _finite(values: Mapping[str, Any]) -> dict[str, float]:
    """Those that are numbers, as JSON knows them."""
    numbers = {
        name: float(value.detach() if isinstance(value, Tensor) else value)
        for name, value in values.items()
        if value is not None
    }
    return {name: number for name, number in numbers.items() if math.isfinite(number)}


def _of_trainer(watched: Watched) -> Any:
    from transformers import TrainerCallback

    class Watching(TrainerCallback):
        """Steps, what is logged and evaluated, and the end of a Trainer."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            watched.steps = state.max_steps

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            watched.step(at=state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
            logs = logs or {}
            evaluated = ("loss", "accuracy", "f1")
            scores = {name: logs[f"eval_{name}"] for name in evaluated if f"eval_{name}" in logs}
            how = {"gradient_norm": logs.get("grad_norm"), "validation": scores}
            watched.step(logs.get("loss"), logs.get("learning_rate"), at=state.global_step, **how)

        def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            watched.close()

    return Watching()


def _of_lightning(watched: Watched) -> Any:
    import sys

    # Whoever asks has imported one of its two packages, whose trainer takes callbacks of its own alone.
    lightning: Any = sys.modules.get("lightning.pytorch") or sys.modules.get("pytorch_lightning")
    if lightning is None:
        raise ValueError(
            "Lightning is not imported yet; import lightning.pytorch, or pytorch_lightning, before"
        )

    class Watching(lightning.Callback):
        """Steps, validations and the end of a Lightning Trainer."""

        def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, *rest: Any) -> None:
            if trainer.global_step > watched.n_steps:  # gradients may gather over several batches
                loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
                rate = trainer.optimizers[0].param_groups[0]["lr"] if trainer.optimizers else None
                watched.step(loss, rate, at=trainer.global_step)

        def on_validation_end(self, trainer: Any, module: Any) -> None:
            if not trainer.sanity_checking:
                named = trainer.callback_metrics.items()
                scores = {
                    name.removeprefix("val_"): value for name, value in named if name.startswith("val_")
                }
                watched.step(at=trainer.global_step, validation=scores)

        def on_train_end(self, trainer: Any, module: Any) -> None:
            watched.close()

        def on_exception(self, trainer: Any, module: Any, error: BaseException) -> None:
            watched.close(error)

    return Watching()


def watch(
    model: nn.Module,
    reader: Any,
    probe: str,
    *,
    name: str = WATCHED,
    every: int = 50,
    steps: int = 0,
    **settings: Any,
) -> Watched:
    """Begins to watch a model that is about to be trained, and keeps its heads as they are.

    model: of transformers, with its tokenizer as `reader`; or any torch module, with a function of the probe
    that gives (tokens, inputs), as `Heads` has it. probe: a sentence on which all heads are kept, at first,
    after every so many steps, and last. name: the run's, on Runs. steps: how many there will be, where known.
    settings: how a model of transformers reads the probe, as `target=` the answer of one that writes.
    Of several processes that train one model, the first alone should watch.
    Raises ValueError with a sentence for a model that cannot be traced, or a name or `every` that cannot be.
    """
    return Watched(Heads(model, reader, probe, settings), probe, name, every, steps)
