"""A sweep's folder, which is the truth about it: the page, the command line and the driver all read it here.

`sweep.json` says what is to be done, `journal.log` holds the trials, `status.json` how its driver stands. The
runs are ordinary ones, in the folder of all runs. All is read without torch.
"""

from __future__ import annotations

import math
import os
import platform
import shutil
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..files import FileError, read_json, write_json, writing
from ..runs.folder import MAX_NAME, WORDLESS, Status, read_status
from ..runs.owners import Ownership, Visitor, may_change, may_see, ownership_of
from .spec import Spec, Value, written

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

TrialPhase = Literal["waiting", "running", "finished", "pruned", "failed", "stopped", "skipped"]
SPEC = "sweep.json"
VERSION = 1
RUNS, VALUES, SENTENCE, SKIPPED, STOPPED = "runs", "values", "sentence", "skipped", "stopped"
"""What a trial's entries in the journal are called."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A setting that is tried, once for each seed.

    number: from 0. settings: what varies. runs: the ids of its runs, in the order of the seeds. values: of
    each seed that has ended, the score of the last validation. value: their mean, None before all seeds have
    ended; of a pruned trial, that of the step where it was pruned. spread: their standard deviation (n - 1),
    None for one seed. n: how many seeds `value` is the mean of. curve: held-out score at each step of the
    first seed, where trials are pruned. sentence: why it failed, was pruned or left out. seconds: from its
    beginning to its end, or None.

    "skipped" are settings that a sampler drew and that make no model, or that were tried already: they count
    as no trial.
    """

    number: int
    settings: dict[str, Value]
    state: TrialPhase
    runs: tuple[str, ...] = ()
    value: float | None = None
    spread: float | None = None
    n: int = 0
    sentence: str = ""
    values: dict[int, float] = field(default_factory=dict)
    curve: dict[int, float] = field(default_factory=dict)
    seconds: float | None = None


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

    def skipped(self) -> list[tuple[dict[str, Value], str]]:
        """The settings of a grid that make no model, each with the sentence that says why."""
        entries = self.description().get("skipped", [])
        return [(each["settings"], str(each["sentence"])) for each in entries if isinstance(each, dict)]

    def status(self) -> Status:
        """How its driver stands: `step` of `steps` trials have ended; `live` says whether it works."""
        written_status = read_status(self.path)
        if not written_status.sentence.startswith(WORDLESS):
            return written_status
        # Said of a run; a sweep counts trials, and the checkpoints are those of its runs.
        progress = f"after {written_status.step:,} of {written_status.steps:,} trials"
        sentence = f"{WORDLESS} {progress} (killed?); its runs keep their checkpoints, and resume goes on"
        return replace(written_status, sentence=sentence)

    def ownership(self) -> Ownership:
        """Who started it, and whether every visitor may look at it."""
        return ownership_of(self.path)

    def may_see(self, visitor: Visitor) -> bool:
        """Whether a visitor may look at it."""
        return may_see(self.path, visitor)

    def may_change(self, visitor: Visitor) -> bool:
        """Whether a visitor may pause, stop, resume and delete it."""
        return may_change(self.path, visitor)

    def trials(self) -> list[Trial]:
        """All trials so far by their numbers; those of a grid from the start, others as they are drawn."""
        trials, live = _trials(*self._journal()), self.status().live
        # Where the driver does not work, a trial under way stands still.
        return [t if live or t.state != "running" else replace(t, state="stopped") for t in trials]

    def best(self) -> Trial | None:
        """The finished trial with the best value, of equal ones the first; None before there is one."""
        finished = [trial for trial in self.trials() if trial.state == "finished"]
        sign = 1 if self.spec.direction == "minimize" else -1
        return min(finished, key=lambda trial: sign * (trial.value or 0.0), default=None)

    def importance(self) -> dict[str, float]:
        """How far each setting tells the best tenth of trials from all: shares that sum to 1, largest first.

        It is PED-ANOVA (Watanabe et al. 2023) as Optuna computes it from the finished trials; {} before four
        of them differ, from which it says nothing.
        """
        return dict(_importance(*self._journal()))

    def delete(self) -> None:
        """Removes the folder; the runs stay. Raises WriteError."""
        with writing(self.path):
            shutil.rmtree(self.path)

    def _journal(self) -> tuple[str, int, int]:
        """The folder and the journal's last change, by which what was read of it is known."""
        from .optuna_study import JOURNAL

        try:
            facts = (self.path / JOURNAL).stat()
        except OSError:
            return str(self.path), 0, 0
        return str(self.path), facts.st_mtime_ns, facts.st_size


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
    runs = attributes.get(RUNS, {})
    values = {int(seed): float(value) for seed, value in attributes.get(VALUES, {}).items()}
    values = dict(sorted(values.items()))
    states: dict[str, TrialPhase] = {
        "WAITING": "waiting",
        "RUNNING": "running",
        "COMPLETE": "finished",
        "PRUNED": "pruned",
        "FAIL": "failed",
    }
    state = states[trial.state.name]
    if state == "failed":
        state = "skipped" if is_skipped(trial) else "stopped" if attributes.get(STOPPED) else "failed"
    value = trial.values[0] if trial.values else None
    duration = trial.duration
    return Trial(
        number=trial.number,
        settings=dict(trial.params or trial.system_attrs.get("fixed_params", {})),
        state=state,
        runs=tuple(runs[seed] for seed in sorted(runs, key=int)),
        value=value if value is None or math.isfinite(value) else None,
        spread=statistics.stdev(values.values()) if len(values) > 1 else None,
        n=len(values),
        sentence=str(attributes.get(SENTENCE, "")),
        values=values,
        curve=dict(trial.intermediate_values),
        seconds=None if duration is None else duration.total_seconds(),
    )


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


def is_skipped(trial: FrozenTrial) -> bool:
    """Whether these settings count as no trial."""
    return bool(trial.user_attrs.get(SKIPPED))


# Sweeps that ship with the app: what was asked and every trial's result, without the runs.
# A folder each in `models/sweeps/shipped/`: `sweep.json` as any sweep has it, and `results.json`. `python
# -m attention_lab.models.training sweep --shipped NAME` trains one again.

SHIPPED = Path(__file__).with_name("shipped")
RESULTS = "results.json"


class ShippedSweep(Sweep):
    """A sweep that has ended elsewhere: everybody may look at it, and nobody changes it."""

    def results(self) -> dict[str, Any]:
        """results.json as it stands: version, trials, importance, seconds, machine, command, answer."""
        return read_json(self.path / RESULTS, newest=VERSION)

    @property
    def answer(self) -> str:
        """What the sweep shows, in words, with its numbers; "" where nobody wrote it."""
        return str(self.results().get("answer", ""))

    def status(self) -> Status:
        """How it ended: "finished", or "stopped" where not all trials had."""
        ended = [trial.state in ("finished", "pruned", "failed") for trial in self.trials()]
        return Status(
            state="finished" if all(ended) else "stopped",
            step=sum(ended),
            steps=self.spec.trials,
            seconds=float(self.results().get("seconds", 0.0)),
            sentence=self.answer,
        )

    def may_see(self, visitor: Visitor) -> bool:
        return True

    def may_change(self, visitor: Visitor) -> bool:
        return False

    def trials(self) -> list[Trial]:
        """All trials with their values; their runs do not ship."""
        known = {spec.name for spec in fields(Trial)}
        try:
            trials = []
            for entries in self.results()["trials"]:
                values = {name: value for name, value in entries.items() if name in known}
                for name in ("values", "curve"):  # JSON has texts for keys
                    values[name] = {int(at): float(value) for at, value in entries.get(name, {}).items()}
                trials.append(Trial(**values))
            return trials
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{str(self.path / RESULTS)!r} holds no trials ({error}); restore it") from None

    def importance(self) -> dict[str, float]:
        """As Optuna computed it when the sweep had ended."""
        return {str(name): float(share) for name, share in self.results().get("importance", {}).items()}


def list_shipped() -> list[ShippedSweep]:
    """All sweeps that ship, by name."""
    return [ShippedSweep(path.parent) for path in sorted(SHIPPED.glob(f"*/{SPEC}"))]


def write_results(sweep: Sweep, out: Path, *, answer: str = "", shipped: bool = False) -> Path:
    """Writes what a sweep asked and found to a folder, without its runs; returns the folder.

    shipped: the command that is named repeats a sweep that ships. Raises FileError where it works still, and
    WriteError.
    """
    if sweep.status().live:
        raise FileError(f"sweep {sweep.name!r} works still; wait until it has ended, or pause it")
    spec = sweep.spec
    trials = [asdict(trial) for trial in sweep.trials() if trial.state != "skipped"]
    for trial in trials:
        del trial["runs"]
    again = f"python -m attention_lab.models.training sweep --shipped {sweep.name}"
    results = {
        "version": VERSION,
        "trials": trials,
        "importance": sweep.importance(),
        "seconds": sweep.status().seconds,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": again if shipped else spec.command(),
        "answer": answer,
    }
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    write_json(out / RESULTS, results)
    write_json(out / SPEC, sweep.description())
    return out
