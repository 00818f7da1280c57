"""Reads one sweep on disk: its spec, its trials as the journal has them, its status, which settings count."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import FileError, read_json
from ..runs import owners
from ..runs.folder import MAX_NAME, Status, read_status
from ..runs.owners import Visitor
from .spec import JOURNAL, Spec, Value, written

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

SPEC = "sweep.json"
VERSION = 1
RUNS, VALUES, SENTENCE = "runs", "values", "sentence"
"""What a trial's entries in the journal are called."""
SHIPPED = Path(__file__).with_name("shipped")
"""Sweeps that ship with the app, like any, but without the runs; each says in its status what it shows."""


class Phase(StrEnum):
    """How a trial stands: Optuna's states by their names there, and two that it does not have."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETE = "finished"
    PRUNED = "pruned"
    FAIL = "failed"
    STOPPED = "stopped"  # somebody stopped its run, or the sweep
    SKIPPED = "skipped"  # drawn, but it makes no model or was tried already: it counts as no trial


DONE = (Phase.COMPLETE, Phase.PRUNED, Phase.FAIL)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A setting that is tried, once for each seed.

    number: from 0. settings: what varies. runs: the ids of its runs, in the order of the seeds. values: of
    each seed that has ended, the score of the last validation. value: their mean, None before all seeds have
    ended; of a pruned trial, that of the step where it was pruned. sentence: why it failed, was pruned or
    left out. seconds: from its beginning to its end, or None. link: of a shipped model, what opens it in
    Explore. turned: of the settings those that tell it from others. others: further scores, means of seeds.
    """

    number: int
    settings: dict[str, Value]
    state: Phase
    runs: tuple[str, ...] = ()
    value: float | None = None
    sentence: str = ""
    values: dict[int, float] = field(default_factory=dict)
    seconds: float | None = None
    link: dict[str, str] = field(default_factory=dict)
    turned: dict[str, Value] = field(default_factory=dict)
    others: dict[str, float] = field(default_factory=dict)

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

    repeats = True
    """Says whether its trials are what its `spec` asks for."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.shipped = self.path.parent == SHIPPED
        """Says whether it came with the app: everybody may look at it, and nobody changes it."""

    def __repr__(self) -> str:
        return f"Sweep({str(self.path)!r})"

    @property
    def name(self) -> str:
        """The sweep's name, in links and on the command line."""
        return self.path.name

    @property
    def created(self) -> str:
        """When it was made, as ISO 8601 text in UTC; "" where that is not known."""
        try:
            return str(read_json(self.path / SPEC, newest=VERSION).get("created", ""))
        except FileError:
            return ""

    @property
    def spec(self) -> Spec:
        """What it is to do."""
        described = read_json(self.path / SPEC, newest=VERSION)
        try:
            return Spec.from_dict(described["spec"])
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"{str(self.path / SPEC)!r} describes no sweep: {error}; restore it") from None

    def status(self) -> Status:
        """How its driver stands: `step` of `steps` trials have ended; `live` says whether it works."""
        return read_status(self.path)

    def may_see(self, visitor: Visitor) -> bool:
        """Says whether a visitor may look at it."""
        return self.shipped or owners.may_see(self.path, visitor)

    def may_change(self, visitor: Visitor) -> bool:
        """Says whether a visitor may stop, resume and delete it."""
        return not self.shipped and owners.may_change(self.path, visitor)

    def trials(self) -> list[Trial]:
        """All trials by their numbers, but for skipped ones; TPE draws some later."""
        trials, live = _trials(*self._journal()), self.status().live
        # Where the driver does not work, a trial under way stands still.
        return [t if live or t.state != Phase.RUNNING else replace(t, state=Phase.STOPPED) for t in trials]

    def best(self) -> Trial | None:
        """The finished trial with the best value, of equal ones the first; None before there is one."""
        first = next(iter(by_rank(self.spec, self.trials())), None)
        return first if first is not None and first.state == Phase.COMPLETE else None

    def importance(self) -> dict[str, float]:
        """How far each setting tells the best tenth of trials from all: shares that sum to 1, largest first.

        It is PED-ANOVA (Watanabe et al. 2023) as Optuna computes it from the finished trials; {} before four
        of them differ, from which it says nothing, and where one setting varies.
        """
        return dict(_importance(*self._journal())) if len(self.spec.space) > 1 else {}

    def _journal(self) -> tuple[Path, int, int]:
        """The folder and the journal's last change, by which what was read of it is known."""
        journal = self.path / JOURNAL
        facts = journal.stat() if journal.is_file() else None
        return self.path, facts.st_mtime_ns if facts else 0, facts.st_size if facts else 0


@lru_cache(16)
def _trials(folder: Path, changed: int, size: int) -> tuple[Trial, ...]:
    from .optuna_study import read

    study = read(folder)
    try:
        trials = map(trial_of, study.get_trials(deepcopy=False))
        return tuple(trial for trial in trials if trial.state != Phase.SKIPPED)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise FileError(
            f"a trial in the journal of {str(folder)!r} is damaged ({str(error)[:100]}); delete the sweep: "
            "its runs stay"
        ) from None


@lru_cache(16)
def _importance(folder: Path, changed: int, size: int) -> Mapping[str, float]:
    from optuna.importance import get_param_importances

    from .optuna_study import read

    values = [trial.value for trial in _trials(folder, changed, size) if trial.state == Phase.COMPLETE]
    return get_param_importances(read(folder)) if len(values) > 3 and len({*values}) > 1 else {}


def trial_of(trial: FrozenTrial) -> Trial:
    """A trial of Optuna's journal in our words."""
    attributes = trial.user_attrs
    runs, values = attributes.get(RUNS, {}), attributes.get(VALUES, {})
    ours = [phase for phase in (Phase.SKIPPED, Phase.STOPPED) if attributes.get(phase)]
    value = trial.values[0] if trial.values else math.nan
    return Trial(
        number=trial.number,
        settings=dict(trial.params or trial.system_attrs.get("fixed_params", {})),
        state=ours[0] if ours else Phase[trial.state.name],
        runs=tuple(runs[seed] for seed in sorted(runs, key=int)),
        value=value if math.isfinite(value) else None,
        sentence=str(attributes.get(SENTENCE, "")),
        values={int(seed): float(values[seed]) for seed in sorted(values, key=int)},
        seconds=None if trial.duration is None else trial.duration.total_seconds(),
    )


def by_rank(spec: Spec, trials: Sequence[Trial]) -> list[Trial]:
    """Finished trials, the best first, then the others as they came."""
    sign = 1 if spec.direction == "minimize" else -1

    def rank(trial: Trial) -> tuple[float, int]:
        is_ranked = trial.state == Phase.COMPLETE and trial.value is not None
        return sign * (trial.value or 0.0) if is_ranked else math.inf, trial.number

    return sorted(trials, key=rank)


def in_words(settings: Mapping[str, Value]) -> str:
    """A trial's settings in words, floats with four digits."""
    words = {name: f"{v:.4g}" if isinstance(v, float) else written(v) for name, v in settings.items()}
    return ", ".join(f"{name}={value}" for name, value in words.items())


def run_name(sweep: str, number: int, settings: Mapping[str, Value], seed: str) -> str:
    """What a trial's run is called: by the settings that vary, and by its trial's number where they are cut.

    The seed ends it, so that runs that differ by their seed alone have one name.
    """
    words, ending = in_words(settings), f" seed {seed}"
    room = MAX_NAME - len(f"{sweep} {ending}")
    if len(words) > room:
        words = f"{number} {words}"[: room - 1] + "…"
    return f"{sweep} {words}{ending}"
