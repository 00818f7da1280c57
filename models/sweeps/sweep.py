"""Sweeps on disk: made, found, read, started, stopped, deleted; pages know nothing else of where they work.

Each sweep has a folder in `.sweeps` among the runs, and while it works a process of its own, its driver. Its
runs are ordinary ones, in the folder of all runs. All but `create` goes without torch.
"""

from __future__ import annotations

import math
import re
import secrets
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import FileError, read_json, write_json, writing
from ..limits import in_force
from ..runs import jobs, owners, queue
from ..runs.folder import MAX_NAME, Ask, Status, read_status
from ..runs.owners import NotAllowed, Ownership, Visitor
from ..runs.processes import serving_process
from ..runs.queue import JobRefused
from ..runs.ray import cluster
from ..zoo.folders import runs_root
from .spec import JOURNAL, NAME, Spec, Value, written

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

SPEC = "sweep.json"
VERSION = 1
RUNS, VALUES, SENTENCE = "runs", "values", "sentence"
"""What a trial's entries in the journal are called."""
MOST_KEPT = 100
"""Sweeps that are kept: a page lists them all."""
MOST_LIVE = 1
"""Sweeps of one visitor that go on at once: each has a process of its own, with about 300 MB."""
DRIVER = [sys.executable, "-m", "attention_lab.models.sweeps.driver"]
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


# All sweeps: those made here, and those that ship


def sweeps_root() -> Path:
    """Where the folders of sweeps are, beside those of the runs."""
    return runs_root() / ".sweeps"


def list_sweeps() -> list[Sweep]:
    """All sweeps that were made here, newest first, including damaged ones."""
    folders = (path.parent for path in sweeps_root().glob(f"*/{SPEC}") if not path.parent.is_symlink())
    every = [Sweep(folder) for folder in folders if re.fullmatch(NAME, folder.name)]
    return sorted(every, key=lambda sweep: (sweep.created, sweep.name), reverse=True)


def list_shipped() -> list[Sweep]:
    """All sweeps that ship, by name, and then the families of shipped models."""
    from ..zoo.families import FAMILIES
    from .families import FamilySweep

    made = (Sweep(path.parent) for path in sorted(SHIPPED.glob(f"*/{SPEC}")))
    return [*made, *map(FamilySweep, FAMILIES.values())]


def find(name: str) -> Sweep:
    """The sweep of a name, which may come from anybody: one made here, else one that ships.

    Raises FileError where there is none.
    """
    for sweep in (*list_sweeps(), *list_shipped()):
        if sweep.name == name:
            return sweep
    known = ", ".join(sweep.name for sweep in list_sweeps()[:5]) or "none"
    raise FileError(f"there is no sweep {name[:60]!r}; the latest are: {known}")


def create(spec: Spec, *, by: Visitor) -> Sweep:
    """Makes the folder of a new sweep, which `start` lets work.

    by: its owner. Raises ValueError for what the task cannot do or where a sweep has the name already,
    JobRefused for more than the limits allow, WriteError where the disk refuses.
    """
    from . import optuna_study
    from .plan import plan

    whole = plan(spec, by=by)
    if len(list_sweeps()) >= MOST_KEPT:
        raise JobRefused(
            f"{MOST_KEPT} sweeps are kept already, the most there may be; delete one, its runs stay"
        )
    now = datetime.now(UTC)
    plain = re.sub(r"[^a-z0-9]+", "-", spec.task.lower())[:20].strip("-")
    name = spec.name or f"{plain}-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    path = sweeps_root() / name
    if path.exists():
        first = re.sub(r"-\d+$", "", name)[:44]
        free = next(f"{first}-{n}" for n in range(2, 10_000) if not path.with_name(f"{first}-{n}").exists())
        raise ValueError(
            f"there is a sweep {name!r} already; resume it, delete it, or take another name, such as {free!r}"
        )
    with writing(path):
        path.mkdir(parents=True)
    try:
        owners.write_owned(path, Ownership(owner=by.id))
        optuna_study.begin(path, whole.spec, whole.points)
        described = replace(whole.spec, name=name).to_dict()
        created = now.isoformat(timespec="microseconds")
        # Last: it makes the folder a sweep.
        write_json(path / SPEC, {"version": VERSION, "created": created, "spec": described})
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Sweep(path)


def start(name: str, *, by: Visitor, n_slots: int = 0) -> None:
    """Lets a sweep work, or go on, in a process of its own; returns at once.

    n_slots: runs that it trains at once, 0 for as many as the limits allow. It pauses when the server stops.
    Raises NotAllowed where it is another's, and JobRefused where it works already, has nothing left to do, or
    a limit is met.
    """
    sweep = _own(name, by, "start it")
    with queue.submitting(runs_root()):  # another server may start it this moment
        now = sweep.status()
        if now.live:
            raise JobRefused(f"sweep {name!r} works already; pause it first")
        if now.state == "finished":
            raise JobRefused(f"sweep {name!r} has tried its {now.steps:,} settings; start a new one for more")
        if in_force().read_only:
            raise JobRefused("this server is read-only: it trains nothing; run the app on your own machine")
        live = [each.name for each in list_sweeps() if owners.is_of(each.path, by) and each.status().live]
        if len(live) >= MOST_LIVE:
            raise JobRefused(
                f"{' and '.join(map(repr, live))} of yours works already, the most there may be; "
                "pause it, or wait until it has finished"
            )
        queue.write_queued(sweep.path, "its process starts", keep_going=False, steps=sweep.spec.trials)
    command = [*DRIVER, str(sweep.path.resolve()), "--slots", str(n_slots)]
    command += ["--parent", str(serving_process()), *(["--all-rights"] if by.all_rights else [])]
    try:
        jobs.launch(command, sweep.path)
    except OSError as error:
        raise JobRefused(f"no process could start: {error}") from None


def ask(name: str, what: Ask, *, by: Visitor) -> None:
    """Asks it to pause or to stop its runs and to end, within five seconds; `start` lets it go on.

    Raises NotAllowed where it is another's, as `delete` does.
    """
    sweep = _own(name, by, f"{what} it")
    jobs.LocalBackend(sweep.path.parent).stop(sweep.name, ask=what)


def delete(name: str, *, by: Visitor) -> None:
    """Removes a sweep that does not work; its runs stay. Raises JobRefused for one that works."""
    sweep = _own(name, by, "delete it")
    if sweep.status().live:
        raise JobRefused(f"sweep {name!r} works still; stop it first")
    with writing(sweep.path):
        shutil.rmtree(sweep.path)


def usual_slots() -> int:
    """How many runs a sweep trains at once where nobody says: as many as train at once here.

    On a Ray cluster, which knows itself what it has room for, they are as many as may wait.
    """
    return in_force().queue_length if cluster.setting() else queue.n_slots(queue.kind_for("auto"))


def _own(name: str, by: Visitor, act: str) -> Sweep:
    """The sweep that this visitor may change. Raises NotAllowed for another's."""
    sweep = find(name)
    if sweep.shipped:
        raise NotAllowed(
            f"sweep {name!r} comes with the app, so nobody can {act}; train it again under another name"
        )
    if not sweep.may_change(by):
        raise NotAllowed(f"this sweep is another visitor's: only its owner and a teacher may {act}")
    return sweep
