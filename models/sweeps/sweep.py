"""Reads a sweep's folder for page, command line and driver: its spec, its trials, its driver's status.

The runs are ordinary ones, in the folder of all runs. All is read without torch.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..files import FileError, read_json
from ..runs.folder import MAX_NAME, Cause, Status, read_status
from ..runs.owners import Visitor, may_change, may_see
from .spec import JOURNAL, Spec, Value, written

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

TrialPhase = Literal["waiting", "running", "finished", "pruned", "failed", "stopped", "skipped"]
_STATES: dict[str, TrialPhase] = {
    "WAITING": "waiting", "RUNNING": "running", "COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed",
}  # fmt: skip
DONE: tuple[TrialPhase, ...] = ("finished", "pruned", "failed")
SPEC = "sweep.json"
VERSION = 1
RUNS, VALUES, SENTENCE = "runs", "values", "sentence"
"""What a trial's entries in the journal are called."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A setting that is tried, once for each seed.

    number: from 0. settings: what varies. runs: the ids of its runs, in the order of the seeds. values: of
    each seed that has ended, the score of the last validation. value: their mean, None before all seeds have
    ended; of a pruned trial, that of the step where it was pruned. sentence: why it failed, was pruned or
    left out. seconds: from its beginning to its end, or None.

    "skipped" are settings that a sampler drew and that make no model, or that were tried already: they count
    as no trial.
    """

    number: int
    settings: dict[str, Value]
    state: TrialPhase
    runs: tuple[str, ...] = ()
    value: float | None = None
    sentence: str = ""
    values: dict[int, float] = field(default_factory=dict)
    seconds: float | None = None

    @property
    def n(self) -> int:
        """How many seeds `value` is the mean of."""
        return len(self.values)

    @property
    def spread(self) -> float | None:
        """The standard deviation of the values (n - 1); None for one seed."""
        return statistics.stdev(self.values.values()) if len(self.values) > 1 else None


class Sweep:
    """A sweep on disk. Methods raise FileError, with a remedy, for what is damaged or of a newer version."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Sweep({str(self.path)!r})"

    @property
    def name(self) -> str:
        """The sweep's name, in links and on the command line."""
        return self.path.name

    def description(self) -> dict[str, Any]:
        """sweep.json as it stands: version, id, created, spec, skipped."""
        return read_json(self.path / SPEC, newest=VERSION)

    @property
    def id(self) -> str:
        """What its runs know it by: a sweep that is made anew under the name has another."""
        return str(self.description().get("id", ""))

    @property
    def created(self) -> str:
        """When it was made, as ISO 8601 text in UTC; "" where that is not known."""
        try:
            return str(self.description().get("created", ""))
        except FileError:
            return ""

    @property
    def spec(self) -> Spec:
        """What it is to do."""
        try:
            return Spec.from_dict(self.description()["spec"])
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{str(self.path / SPEC)!r} describes no sweep: {error}; restore it") from None

    def status(self) -> Status:
        """How its driver stands: `step` of `steps` trials have ended; `live` says whether it works."""
        status = read_status(self.path)
        if status.cause != Cause.KILLED:
            return status
        sentence = (
            f"the process ended without a word after {status.step:,} of {status.steps:,} trials (killed?); "
            "its runs keep their checkpoints, and resume goes on"
        )
        return replace(status, sentence=sentence)

    @property
    def shipped(self) -> bool:
        """Says whether it came with the app: everybody may look at it, and nobody changes it."""
        return self.path.parent == SHIPPED

    def may_see(self, visitor: Visitor) -> bool:
        """Whether a visitor may look at it."""
        return self.shipped or may_see(self.path, visitor)

    def may_change(self, visitor: Visitor) -> bool:
        """Whether a visitor may pause, stop, resume and delete it."""
        return not self.shipped and may_change(self.path, visitor)

    def trials(self) -> list[Trial]:
        """All trials so far by their numbers; those of a grid from the start, others as they are drawn."""
        trials, live = _trials(*self._journal()), self.status().live
        # Where the driver does not work, a trial under way stands still.
        return [t if live or t.state != "running" else replace(t, state="stopped") for t in trials]

    def best(self) -> Trial | None:
        """The finished trial with the best value, of equal ones the first; None before there is one."""
        first = next(iter(by_rank(self.spec, self.trials())), None)
        return first if first is not None and first.state == "finished" else None

    def importance(self) -> dict[str, float]:
        """How far each setting tells the best tenth of trials from all: shares that sum to 1, largest first.

        It is PED-ANOVA (Watanabe et al. 2023) as Optuna computes it from the finished trials; {} before four
        of them differ, from which it says nothing, and where one setting varies.
        """
        return dict(_importance(*self._journal())) if len(self.spec.space) > 1 else {}

    def _journal(self) -> tuple[str, int, int]:
        """The folder and the journal's last change, by which what was read of it is known."""
        journal = self.path / JOURNAL
        facts = journal.stat() if journal.is_file() else None
        return str(self.path), facts.st_mtime_ns if facts else 0, facts.st_size if facts else 0


@lru_cache(16)
def _trials(folder: str, changed: int, size: int) -> tuple[Trial, ...]:
    from .optuna_study import read

    study = read(Path(folder))
    try:
        return () if study is None else tuple(trial_of(each) for each in study.get_trials(deepcopy=False))
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise FileError(
            f"a trial in the journal of {folder!r} is damaged ({str(error)[:100]}); delete the sweep: its "
            "runs stay"
        ) from None


@lru_cache(16)
def _importance(folder: str, changed: int, size: int) -> Mapping[str, float]:
    from optuna.importance import get_param_importances

    from .optuna_study import read

    finished = [trial for trial in _trials(folder, changed, size) if trial.state == "finished"]
    study = read(Path(folder))
    if study is None or len(finished) < 4 or len({trial.value for trial in finished}) < 2:
        return {}
    return get_param_importances(study)


def trial_of(trial: FrozenTrial) -> Trial:
    """A trial of Optuna's journal in our words."""
    attributes = trial.user_attrs
    runs, values = attributes.get(RUNS, {}), attributes.get(VALUES, {})
    state = _STATES[trial.state.name]
    if state == "failed":
        state = "skipped" if attributes.get("skipped") else "stopped" if attributes.get("stopped") else state
    value = trial.values[0] if trial.values else math.nan
    return Trial(
        number=trial.number,
        settings=dict(trial.params or trial.system_attrs.get("fixed_params", {})),
        state=state,
        runs=tuple(runs[seed] for seed in sorted(runs, key=int)),
        value=value if math.isfinite(value) else None,
        sentence=str(attributes.get(SENTENCE, "")),
        values={int(seed): float(values[seed]) for seed in sorted(values, key=int)},
        seconds=None if trial.duration is None else trial.duration.total_seconds(),
    )


def by_rank(spec: Spec, trials: Sequence[Trial]) -> list[Trial]:
    """Finished trials, the best first, then the others as they came; skipped ones are left out."""
    sign = 1 if spec.direction == "minimize" else -1

    def rank(trial: Trial) -> tuple[float, int]:
        is_ranked = trial.state == "finished" and trial.value is not None
        return sign * (trial.value or 0.0) if is_ranked else math.inf, trial.number

    return sorted((trial for trial in trials if trial.state != "skipped"), key=rank)


def in_words(settings: Mapping[str, Value]) -> str:
    """A trial's settings in words, floats with four digits."""
    words = {name: f"{v:.4g}" if isinstance(v, float) else written(v) for name, v in settings.items()}
    return ", ".join(f"{name}={value}" for name, value in words.items())


def run_name(sweep: str, number: int, settings: Mapping[str, Value], seed: int) -> str:
    """What a trial's run is called: by the settings that vary, and by its trial's number where they are cut.

    The seed ends it, so that runs that differ by their seed alone have one name.
    """
    words, ending = in_words(settings), f" seed {seed}"
    room = MAX_NAME - len(f"{sweep} {ending}")
    if len(words) > room:
        words = f"{number} {words}"[: room - 1] + "…"
    return f"{sweep} {words}{ending}"


# Sweeps that ship with the app, a folder each as any sweep has it, but without the runs; what it shows is the
# sentence of its status. `python -m attention_lab.models.training sweep --shipped NAME` trains one again.

SHIPPED = Path(__file__).with_name("shipped")


def list_shipped() -> list[Sweep]:
    """All sweeps that ship, by name."""
    return [Sweep(path.parent) for path in sorted(SHIPPED.glob(f"*/{SPEC}"))]
