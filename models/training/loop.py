"""The training loop: an iterator of records that prints and writes nothing and starts no process.

Its parts stand before it: snapshots, optimisers, random numbers, the rate schedule, and norms of gradients.
"""

import inspect
import math
import os
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from types import TracebackType
from typing import Any

import torch
from jaxtyping import Float16
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from ..config import ModelConfig
from ..data.tasks import Batch, Reading, Sample
from ..engine.size import operations_of_token
from ..engine.trace import Trace
from ..engine.transformer import Transformer
from ..scores.intervals import Interval, Verdict, validated
from .config import SNAPSHOT_BYTES, RunConfig, TrainingConfig
from .growth import remedy
from .memory import CompileClock, choose, example

# Snapshots of a probe's attention: compact, bounded, and dense at the start


def snapshot_steps(steps: int, n: int, bytes_each: int = 0) -> list[int]:
    """At most `n` steps from 0 to `steps`, both included, equally far apart on a logarithmic axis.

    At the start, where such steps would coincide, every step is taken. Together the snapshots stay below
    `SNAPSHOT_BYTES`, so large ones are fewer, but two at least.
    """
    n = max(2, min(n, SNAPSHOT_BYTES // max(1, bytes_each), steps + 1))
    for n_candidates in range(n, 64 * n):
        chosen = {0, *(round(steps ** (i / (n_candidates - 2))) for i in range(1, n_candidates - 1)), steps}
        if len(chosen) >= n:
            break
    return sorted({*sorted(chosen)[: n - 1], steps})


def snapshot_bytes(config: ModelConfig, reading: Reading) -> int:
    """The bytes of one snapshot: a float16 number for each head, query and key of every attention."""
    lengths = {stack: len(reading.tokens[stack]) for stack in config.stacks}
    pairs = sum(n * n for n in lengths.values())
    if config.kind == "encoder-decoder":
        pairs += lengths["decoder"] * lengths["encoder"]
    return 2 * config.n_layers * config.n_heads * pairs


@torch.no_grad()
def snapshot(model: Transformer, reading: Reading) -> dict[str, Float16[Tensor, "head query key"]]:
    """The pattern of every attention on one reading, by address, on the CPU. Call `eval` first."""

    def patterns(address: str, tensor: Tensor) -> Tensor | None:
        return tensor.half().cpu() if address.endswith(".pattern") else None

    trace = Trace(patterns)
    device = next(model.parameters()).device
    model(*(each.to(device) for each in reading.inputs), trace=trace)
    return {address: trace[address] for address in trace}


# Optimisers


class _Plain(torch.optim.Optimizer):
    """Its methods without the wrap that imports PyTorch's compiler to hide them from it: none of them is
    compiled, and every run would begin a second and a half later.
    """

    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)


class _Adam(_Plain, torch.optim.Adam):
    step = torch.no_grad()(inspect.unwrap(torch.optim.Adam.step))


class _AdamW(_Plain, torch.optim.AdamW):
    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))


class _Muon(_Plain, torch.optim.Muon):
    step = torch.no_grad()(inspect.unwrap(torch.optim.Muon.step))


class Optimizers:
    """Several optimisers, each of its own weights, that step as one."""

    def __init__(self, *parts: torch.optim.Optimizer) -> None:
        self.parts = parts
        # Then `step` is told of gradients that overflowed, and the program need not wait to hear of them.
        self._step_supports_amp_scaling = all(part.defaults.get("fused") for part in parts)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [group for part in self.parts for group in part.param_groups]

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad()

    def step(self) -> None:
        for part in self.parts:
            vars(part)["found_inf"] = getattr(self, "found_inf", None)
            part.step()


def make_optimizer(model: nn.Module, config: TrainingConfig, device: torch.device) -> Optimizers:
    """Adam (Kingma and Ba 2015), or AdamW with decoupled decay (Loshchilov and Hutter 2019), for all weights;
    or Muon (Jordan et al. 2024) for the matrices of layers, with AdamW for embeddings, outputs and vectors.
    Muon's steps are as long as AdamW's would be, so that one learning rate serves both (Liu et al. 2025,
    arXiv 2502.16982, 2.2).

    The config's `decay` says which weights decay; see `decays`.
    One fused pass updates all weights where the device has one; its numbers are the same each time.
    """
    kind = _Adam if config.optimizer == "adam" else _AdamW
    split: dict[bool, list[Tensor]] = {True: [], False: []}
    matrices: list[Tensor] = []
    for name, weight in model.named_parameters():
        if config.optimizer == "muon" and weight.dim() == 2 and ".layers." in name:
            matrices.append(weight)
        else:
            split[config.decay == "all" or decays(name, weight)].append(weight)
    groups: list[dict[str, Any]] = [{"params": split[True]}, {"params": split[False], "weight_decay": 0.0}]
    betas, fused = (config.beta1, config.beta2), device.type in ("cpu", "cuda")
    rate, decay = config.learning_rate, config.weight_decay
    rest = kind([each for each in groups if each["params"]], rate, betas, weight_decay=decay, fused=fused)
    if not matrices:
        return Optimizers(rest)
    return Optimizers(_Muon(matrices, rate, decay, adjust_lr_fn="match_rms_adamw"), rest)


def decays(name: str, weight: Tensor) -> bool:
    """Whether weight decay draws this weight to 0 where only "matrices" do: linear maps and embeddings.

    Gains and offsets of norms, and biases, are free: they are few, and drawing a gain to 0 is no prior for a
    simple function. Embeddings decay, as in nanoGPT, since ours are most often the output layer, too.
    Transformer-XL's u and v have three axes and are biases, so the name counts as well.
    """
    return weight.dim() >= 2 and name.endswith("weight")


def state_of(optimizer: Optimizers, model: nn.Module) -> dict[str, Tensor]:
    """The optimiser's moments as "<weight>|<moment>" -> tensor; weights without any yet are left out."""
    state = {weight: kept for part in optimizer.parts for weight, kept in part.state.items()}
    return {
        f"{name}|{key}": value
        for name, weight in model.named_parameters()
        for key, value in state.get(weight, {}).items()
    }


def restore(optimizer: Optimizers, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Loads what `state_of` returned. Raises ValueError where it belongs to another model."""
    states: dict[str, dict[str, Tensor]] = {}
    for address, value in tensors.items():
        name, _, key = address.partition("|")
        states.setdefault(name, {})[key] = value
    weights = dict(model.named_parameters())
    for name, state in states.items():
        moment = state.get("exp_avg", state.get("momentum_buffer"))
        if name not in weights or moment is None or moment.shape != weights[name].shape:
            raise ValueError(f"the optimiser's state has {name!r}, which is not so in this model")
    names = {id(weight): name for name, weight in weights.items()}
    for part in optimizer.parts:
        whole = part.state_dict()
        order = [names[id(weight)] for group in part.param_groups for weight in group["params"]]
        whole["state"] = {at: states[name] for at, name in enumerate(order) if name in states}
        part.load_state_dict(whole)


# Random numbers, lent to one run at a time


class Randomness:
    """A run's own random numbers: inside `with`, PyTorch's global ones continue the run's sequence.

    Outside, they are as if the run did not exist, so that two runs in one process do not mix.
    """

    def __init__(self, device: torch.device, seed: int) -> None:
        self._device = device
        outer = self._read()
        torch.manual_seed(seed)  # the GPU's as well
        self._own = self._read()
        self._write(outer)
        self._outer = outer

    def state(self) -> dict[str, Tensor]:
        """Where the sequence stands, as bytes, by device."""
        return dict(self._own)

    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes on from a `state`; a device that the state does not name goes on from the seed."""
        self._own |= {kind: value.cpu() for kind, value in state.items() if kind in self._own}

    def __enter__(self) -> None:
        self._outer = self._read()
        self._write(self._own)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._own = self._read()
        self._write(self._outer)

    def _read(self) -> dict[str, Tensor]:
        states = {"cpu": torch.get_rng_state()}
        if self._device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(self._device)
        elif self._device.type == "mps":
            states["mps"] = torch.mps.get_rng_state()
        return states

    def _write(self, states: dict[str, Tensor]) -> None:
        torch.set_rng_state(states["cpu"])
        if "cuda" in states:
            torch.cuda.set_rng_state(states["cuda"], self._device)
        if "mps" in states:
            torch.mps.set_rng_state(states["mps"])


# The rate schedule

TAIL = 0.2
"""The share of the steps in which a trapezoid's rate falls."""


def learning_rate(config: TrainingConfig, step: int, time_share: float = 0.0) -> float:
    """The rate of a step, counted from 1: it rises linearly until `warmup_steps`, then follows the schedule,
    which is as far on as the steps or the time, `time_share`, whichever has gone further.

    Both count from the step after `schedule_from`: where a run is trained further, they can start anew.

    "warm-up" falls as 1 / sqrt(step) (Vaswani et al. 2017, 5.3), scaled so that its peak is the config's
    learning rate; "cosine" falls along half a cosine to final_rate times the peak at the last step;
    "trapezoid" stays until the last fifth of the steps, and then falls to it in a line (Hägele et al. 2024,
    arXiv 2405.18392).
    """
    peak, warmup = config.learning_rate, config.warmup_steps
    step, steps = max(1, step - config.schedule_from), config.steps - config.schedule_from
    if step <= warmup:
        return peak * step / warmup
    if config.schedule == "constant":
        return peak
    if config.schedule == "warm-up":
        return peak * math.sqrt(max(1, warmup) / step)
    gone = max(step, min(1.0, time_share) * steps)
    progress = (gone - warmup) / max(1, steps - warmup)
    share = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
    if config.schedule == "trapezoid":
        share = min(1.0, (steps - gone) / max(1.0, TAIL * steps))
    return peak * (config.final_rate + (1 - config.final_rate) * share)


# Losses of a piece of a batch

Terms = dict[str, tuple[float, int]]
"""For each name of a task's losses, its weight and how many answers it is the mean of."""


def shares(losses: dict[str, Tensor], piece: Terms, whole: Terms) -> dict[str, Tensor]:
    """What a piece's losses contribute to those of the whole batch, and to their weighted sum, "loss"."""
    # Zero leaves out terms that the piece does not have: the mean of nothing is NaN.
    zero = losses["loss"].new_zeros(())
    parts = {name: losses[name] * (n / whole[name][1]) if n else zero for name, (_, n) in piece.items()}
    return {"loss": sum((piece[name][0] * share for name, share in parts.items()), start=zero), **parts}


# Norms of weights and gradients

_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.")


def weight_part(weight: str) -> str:
    """The part that a weight's name belongs to: "encoder.0" for a layer, "embedding", "decoder.norm", ..."""
    layer = _LAYER.match(weight)
    if layer:
        return f"{layer[1]}.{layer[2]}"
    names = weight.split(".")
    return ".".join(names[:2]) if names[0] in ("encoder", "decoder") else names[0]


HELD_OUT_SEED = 1
"""The same for all runs, so that their validations are of the same examples."""
_MEMORY_EVERY = 20  # steps
_LOOK_SHARE = 0.05
"""Of a run's minutes: the time between validations that its steps do not bring in time."""
_AHEAD = 8
"""Steps that a GPU is given at once: their numbers are waited for together."""


class DivergedError(ArithmeticError):
    """A loss that is not finite; the text names the step and what to try."""


@dataclass(frozen=True)
class Record:
    """One finished step, counted from 1. "loss" is what was minimised; gradient_norm is before clipping.

    learning_rate: of this step. memory: bytes, as `Machine.memory_bytes` counts them.
    validation ("loss" and the task's scores), samples and snapshot (address -> float16 [head, query, key],
    and what the task watches) are None but at their own steps; so are norms: part of the model ->
    [norm of its gradient before clipping, norm of its weights after the step]. intervals and n: of 95%, and
    the examples that count, for each score of the validation where they are known. tokens: read so far.
    share_of_peak: of the operations a second that the card's data sheet states; None where that is unknown.
    """

    step: int
    loss: float
    losses: dict[str, float]
    learning_rate: float
    gradient_norm: float
    tokens_per_second: float
    memory: int
    validation: dict[str, float] | None = None
    samples: list[Sample] | None = None
    snapshot: dict[str, Tensor] | None = None
    norms: dict[str, list[float]] | None = None
    intervals: dict[str, Interval] | None = None
    n: dict[str, int] | None = None
    tokens: int = 0
    share_of_peak: float | None = None


class Training(Iterator[Record]):
    """A training under way: each `next` is one step. The same config and threads give the same numbers.

    A GPU takes some steps before the first of their records is read: `waiting` says that others follow, and
    `step` and `state` are those of the last one. chosen: a sentence on the device. seconds: spent on steps,
    validations, samples and snapshots so far, including those before a `load_state`; compiling: on that.
    Raises ValueError for a device that is not there, DivergedError when the loss is no longer finite.
    """

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        how = config.training
        if how.threads:
            torch.set_num_threads(min(how.threads, os.cpu_count() or 1))  # a run may come from elsewhere
        self._machine = choose(how)
        self._machine.prepare()
        self.chosen = self._machine.sentence
        self.step, self.seconds, self.compiling, self.tokens = 0, 0.0, 0.0, 0
        self.model = Transformer(config.model, seed=how.seed).to(self._machine.device)
        self.model.recompute = how.gradient_checkpointing
        # Only the steps run compiled: traces and samples need what a compiler would fuse away.
        self._losses = torch.compile(config.task.losses) if self._machine.compiled else config.task.losses
        self._clock = CompileClock() if self._machine.compiled else None
        self._weights = list(self.model.parameters())
        self._parts: dict[str, list[nn.Parameter]] = {}
        for name, weight in self.model.named_parameters():
            self._parts.setdefault(weight_part(name), []).append(weight)
        self._optimizer: Any = make_optimizer(self.model, how, self._machine.device)
        self._scaler = torch.amp.GradScaler(self._machine.device.type, enabled=self._machine.scales_loss)
        self._randomness = Randomness(self._machine.device, how.seed)
        self._batches: Iterator[Batch] | None = None
        self._ready: Batch | None = None
        self._memory = 0
        self._records: deque[Record] = deque()
        self._look_at = _LOOK_SHARE

    @property
    def time_share(self) -> float:
        """How much of the config's minutes has gone; 0 where it goes by steps."""
        minutes = self.config.training.minutes
        return self.seconds / (60 * minutes) if minutes else 0.0

    @property
    def is_over(self) -> bool:
        """Says whether all steps are taken, or the minutes are over."""
        return self.step >= self.config.training.steps or self.time_share >= 1

    @property
    def waiting(self) -> bool:
        """Whether steps were taken whose records were not read yet."""
        return bool(self._records)

    def __next__(self) -> Record:
        if not self._records:
            if self.is_over:
                self.model.eval()
                raise StopIteration
            self._records.extend(self._steps(_AHEAD if self._machine.works_by_itself else 1))
        return self._records.popleft()

    def _steps(self, most: int) -> list[Record]:
        """The records of the next steps, up to one at which there is something to look at."""
        start, taken = time.perf_counter(), list[Any]()
        while len(taken) < most and not (taken and self._is_seen()):
            batch = self._next_batch()
            self.step += 1
            rate = self._rate()
            taken.append((self.step, batch.n_tokens, rate, *self._update(batch, rate)))
        if self._machine.works_by_itself and self.step < self.config.training.steps:
            # The device is still at these steps, which are awaited below: meanwhile, prepare the next batch.
            self._ready = self._next_batch()
        numbers = torch.stack(
            [torch.stack([*losses.values(), norm]) for *_, losses, norm, _ in taken]
        ).tolist()
        norms = [self._by_part(parts) for *_, parts in taken]
        compiling = self._clock.taken() if self._clock else 0.0
        now, self.compiling = time.perf_counter(), self.compiling + compiling
        spent = now - start - compiling
        seconds, self.seconds = spent / len(taken), self.seconds + spent
        records: list[Record] = []
        for (step, n_tokens, rate, losses, *_), row, by_part in zip(taken, numbers, norms, strict=True):
            values = dict(zip(losses, row, strict=False))  # the last number is the gradient's norm
            if not math.isfinite(values["loss"]):
                how, usual = self.config.training, self.config.task.training.get("learning_rate", 1e-3)
                why = f"the loss is {values['loss']} at step {step}: the training diverged"
                raise DivergedError(f"{why}; {remedy(how.learning_rate, usual, how.clip)}")
            self.tokens += n_tokens
            if not self._memory or step % _MEMORY_EVERY == 0:
                self._memory = self._machine.memory_bytes()
            losses_and_rate, speed = (values["loss"], values, rate), n_tokens / seconds
            numbered = Record(step, *losses_and_rate, row[-1], speed, self._memory, tokens=self.tokens)
            share = speed / self._tokens_at_peak if self._tokens_at_peak else None
            records.append(replace(numbered, norms=by_part, share_of_peak=share))
        records[-1] = replace(records[-1], **self._looks())
        self.seconds += time.perf_counter() - now
        return records

    @cached_property
    def _tokens_at_peak(self) -> float | None:
        """Tokens a second that the card's data sheet allows; None where it is not known."""
        peak = self._machine.peak
        if peak is None:
            return None
        return peak / operations_of_token(self.config.model, max(example(self.config.task).lengths))

    def _is_seen(self) -> bool:
        """Whether this step's record has more than numbers."""
        how = self.config.training
        is_due = self.step == how.steps or self.step % how.validation_interval == 0
        return is_due or self.step in self._snapshot_steps

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything that the steps to come depend on: tensors by address, and JSON values."""
        tensors = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        moments = state_of(self._optimizer, self.model)
        tensors |= {f"optimizer.{name}": value for name, value in moments.items()}
        tensors |= {f"random.{kind}": value for kind, value in self._randomness.state().items()}
        values: dict[str, Any] = {"step": self.step, "seconds": self.seconds, "tokens": self.tokens}
        values |= {"compiling": self.compiling, "scaler": self._scaler.state_dict()}
        return tensors, values

    def load_state(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Goes on from a `state`. Raises ValueError where it belongs to another model."""
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "random": {}}
        for address, tensor in tensors.items():
            part, _, name = address.partition(".")
            parts.setdefault(part, {})[name] = tensor
        try:
            self.model.load_state_dict(parts["model"])
            restore(self._optimizer, self.model, parts["optimizer"])
            self.step, self.seconds = int(values["step"]), float(values["seconds"])
            self.compiling = float(values.get("compiling", 0.0))
            self.tokens = int(values.get("tokens", 0))  # a state of before did not count them
            if values["scaler"]:
                self._scaler.load_state_dict(values["scaler"])
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"the state is of another model or training ({str(error).splitlines()[0][:200]}); give its "
                "own config"
            ) from None
        self._randomness.restore(parts["random"])
        self._batches = self._ready = None
        self._records.clear()

    def snapshot(self) -> dict[str, Tensor]:
        """The patterns of the probe now: address -> float16 [head, query, key]; and what the task watches."""
        with self._looking():
            return snapshot(self.model, self._probe) | self.config.task.watched(self.model)

    def verdict(self) -> Verdict:
        """ "loss" and the task's scores on held-out examples, the same ones each time; with how many examples
        each counts, and its 95% interval.

        As many are read at once as in a step, so that it needs no more memory than a step does.
        """
        with self._looking():
            products = self._machine.products()
            return validated(self.config.task, self.model, self._held_out, products=products)

    def _rate(self) -> float:
        """The learning rate of this step."""
        return learning_rate(self.config.training, self.step, self.time_share)

    def _update(self, batch: Batch, rate: float) -> tuple[dict[str, Tensor], Tensor, Tensor | None]:
        """One step of the optimiser: the batch's mean losses, the norm of the gradient before it is clipped,
        and for each part those of its gradient and its weights; None where they are not due: they cost a
        little.
        """
        how = self.config.training
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        if not self.model.training:
            self.model.train()
        self._optimizer.zero_grad()
        with self._randomness if self.config.model.dropout else nullcontext():
            losses = self._backward(batch)
        self._scaler.unscale_(self._optimizer)
        norm = self._norm(weight.grad for weight in self._weights)
        are_due = not (self.step % how.norms_interval and self.step % how.validation_interval)
        parts = None
        if are_due or self.step == how.steps:
            gradients = [[weight.grad for weight in weights] for weights in self._parts.values()]
            parts = torch.stack([self._norm(each) for each in gradients])
        if how.clip:
            clip_grads_with_norm_(self._weights, how.clip, norm)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        if parts is not None:
            weights = torch.stack([self._norm(part) for part in self._parts.values()])
            parts = torch.stack([parts, weights], dim=-1)
        return losses, norm, parts

    def _by_part(self, norms: Tensor | None) -> dict[str, list[float]] | None:
        """[gradient norm, weight norm] of each part, in the model's order, with six digits."""
        if norms is None:
            return None
        rounded = [[float(f"{norm:.6g}") for norm in pair] for pair in norms.tolist()]
        return dict(zip(self._parts, rounded, strict=True))

    def _backward(self, batch: Batch) -> dict[str, Tensor]:
        """Adds the gradients of the batch in `accumulation` pieces; returns the mean losses.

        Each term of a piece's loss is weighted by its share of the batch's targets, so that the mean is that
        of the whole batch.
        """
        how, task = self.config.training, self.config.task
        pieces = batch.split(how.accumulation) if how.accumulation > 1 else [batch]
        whole = task.terms(batch) if len(pieces) > 1 else {}
        means: dict[str, Tensor] = {}
        for piece in pieces:
            with self._machine.products():
                moved = piece.to(self._machine.device)
                losses = self._losses(self.model, moved, label_smoothing=how.label_smoothing)
            if whole:
                losses = shares(losses, task.terms(piece), whole)
            self._scaler.scale(losses["loss"]).backward()
            for name, loss in losses.items():
                means[name] = means.get(name, 0.0) + loss.detach()
        return means

    def _next_batch(self) -> Batch:
        """The batch that was prepared, else a new one."""
        if self._ready is not None:
            batch, self._ready = self._ready, None
            return batch
        if self._batches is None:
            how = self.config.training
            self._batches = self.config.task.batches(how.seed, how.batch_size, self.step)
        return next(self._batches)

    def _looks(self) -> dict[str, Any]:
        """The validation, samples and snapshot of this step's record, where they are due."""
        how, entries = self.config.training, dict[str, Any]()
        share = self.time_share
        if self.is_over or self.step % how.validation_interval == 0 or share >= self._look_at:
            start = time.perf_counter()
            entries |= self.verdict().noted()
            with self._looking():
                entries["samples"] = self.config.task.samples(self.model, how.seed)
            if how.minutes:  # what takes long comes rarely
                taken = (time.perf_counter() - start) / (60 * how.minutes)
                self._look_at = share + taken + max(_LOOK_SHARE, 5 * taken)
        if self.step in self._snapshot_steps:
            entries["snapshot"] = self.snapshot()
        return entries

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Inside, the model runs as in use: without dropout, without gradients."""
        self.model.eval()
        with torch.no_grad():
            yield

    @cached_property
    def _probe(self) -> Any:
        return self.config.task.probe()

    @cached_property
    def _snapshot_steps(self) -> frozenset[int]:
        how = self.config.training
        size = snapshot_bytes(self.config.model, self._probe)
        return frozenset(snapshot_steps(how.steps, how.n_snapshots, size))

    @cached_property
    def _held_out(self) -> list[Batch]:
        how = self.config.training
        return self.config.task.examples(HELD_OUT_SEED, how.held_out, at_once=how.n_at_once)

    def _norm(self, tensors: Iterable[Tensor | None]) -> Tensor:
        """The Euclidean norm of all tensors together, without those that are missing."""
        there = [tensor for tensor in tensors if tensor is not None]
        return get_total_norm(there) if there else torch.zeros((), device=self._machine.device)
