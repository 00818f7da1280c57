"""The trials of a sweep that works: which settings come next, what was measured, how each ended.

All of it is in the journal before anything else depends on it, so that a killed driver loses nothing.
"""

import argparse
import math
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeGuard

from filelock import FileLock, Timeout
from optuna.trial import FrozenTrial, TrialState
from optuna.trial import Trial as OptunaTrial

from ..fields import shortened
from ..files import FileError, writing
from ..runs import jobs, queue
from ..runs.folder import LOCK, LOG, REQUEST, Ask, RunFolder, State, Status, ended_by, list_runs
from ..runs.owners import MACHINE, Visitor
from ..runs.processes import SERVING, Identity, this_process
from ..runs.queue import SLOTS, Busy, JobRefused, NoRoom
from ..runs.ray.cluster import UNREACHED, WENT_AWAY
from ..runs.significance import summary
from ..runs.worker import Watch, heeding_signals
from ..zoo.folders import runs_root
from . import optuna_study
from .control import check_startable, queued_status, usual_slots
from .optuna_study import JOURNAL
from .plan import Configs, Settings, first_settings
from .sweep import RUNS, SENTENCE, SKIPPED, STOPPED, VALUES, Sweep, in_words, is_skipped, run_name

MOST_SKIPPED = 100
"""A sampler that draws so many useless settings one after the other has found all there are."""


@dataclass
class OpenTrial:
    """A trial under way. runs: its run of each seed so far. values: the score of each seed that has ended."""

    number: int
    settings: Settings
    optuna: OptunaTrial
    runs: dict[int, str] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    reported: int = 0


class Ledger:
    """The journal of a sweep in its driver's hands. Methods raise WriteError where the disk refuses."""

    def __init__(self, sweep: Sweep, configs: Configs) -> None:
        self.spec = sweep.spec
        self._configs = configs
        self._folder = sweep.path
        # The first rung of ASHA: the first validation after a tenth of the steps and after the warm-up.
        how = configs.run(first_settings(self.spec, configs)).training
        min_steps = max(how.validation_interval, how.warmup_steps, how.steps // 10)
        self._study = optuna_study.open_study(sweep.path, self.spec, min_steps)
        self.exhausted = ""

    def open_trials(self) -> list[OpenTrial]:
        """The trials that an earlier driver began and did not end."""
        begun = [self._reopen(each) for each in self._all() if each.state == TrialState.RUNNING]
        return [each for each in begun if each.runs or not self._skip_useless(each.optuna, each.settings)]

    @property
    def n_ended(self) -> int:
        """Trials that have ended, however they did."""
        return sum(each.state.is_finished() and not is_skipped(each) for each in self._all())

    @property
    def failures(self) -> list[str]:
        """The sentences of the trials that failed, in order; [] as soon as one did not."""
        ended = [each for each in self._all() if each.state.is_finished() and not is_skipped(each)]
        if any(each.state != TrialState.FAIL or each.user_attrs.get(STOPPED) for each in ended):
            return []
        return [str(each.user_attrs.get(SENTENCE, "")) for each in ended]

    def next(self) -> OpenTrial | None:
        """The next trial, begun; None where all are. What makes no model, or was tried, is skipped."""
        for skipped in count():
            begun = [
                each for each in self._all() if each.state != TrialState.WAITING and not is_skipped(each)
            ]
            if len(begun) >= self.spec.trials or self.exhausted:
                return None
            if skipped >= MOST_SKIPPED:
                self.exhausted = (
                    f"the sampler drew {skipped} settings in a row that make no model or were tried already"
                )
                return None
            self._study.sampler = optuna_study.sampler(self.spec, len(self._all()))
            trial = self._study.ask(optuna_study.distributions(self.spec))
            settings: Settings = dict(trial.params)
            if not self._skip_useless(trial, settings):
                return OpenTrial(trial.number, settings, trial)
        raise AssertionError("unreachable")

    def keep(self, trial: OpenTrial) -> None:
        """Notes the runs and the values of a trial."""
        trial.optuna.set_user_attr(RUNS, {str(seed): run for seed, run in trial.runs.items()})
        trial.optuna.set_user_attr(VALUES, {str(seed): value for seed, value in trial.values.items()})

    def report(self, trial: OpenTrial, step: int, value: float) -> bool:
        """Notes the score of a step, after those of earlier ones; True where the trial is to be pruned."""
        trial.optuna.report(value, step)
        trial.reported = step
        return trial.optuna.should_prune()

    def finish(self, trial: OpenTrial) -> None:
        """Ends a trial with the mean of its values."""
        self._study.tell(trial.number, summary(list(trial.values.values())).mean)

    def prune(self, trial: OpenTrial, sentence: str) -> None:
        """Ends a trial that was stopped early; its value is the last that was reported."""
        self._end(trial.optuna, TrialState.PRUNED, sentence)

    def fail(self, trial: OpenTrial, sentence: str) -> None:
        """Ends a trial without a value."""
        self._end(trial.optuna, TrialState.FAIL, sentence)

    def stop(self, trial: OpenTrial, sentence: str) -> None:
        """Ends a trial whose run somebody stopped or deleted."""
        trial.optuna.set_user_attr(STOPPED, True)
        self._end(trial.optuna, TrialState.FAIL, sentence)

    def _skip_useless(self, trial: OptunaTrial, settings: Settings) -> bool:
        """Whether settings are no trial, which then ends as skipped."""
        useless = self._useless(trial.number, settings)
        if useless:
            trial.set_user_attr(SKIPPED, True)
            self._end(trial, TrialState.FAIL, useless)
        return bool(useless)

    def _end(self, trial: OptunaTrial, state: TrialState, sentence: str) -> None:
        trial.set_user_attr(SENTENCE, sentence)
        self._study.tell(trial.number, state=state)

    def _all(self) -> list[FrozenTrial]:
        return self._study.get_trials(deepcopy=False)

    def _useless(self, number: int, settings: Settings) -> str:
        """Why settings that were drawn are no trial; "" where they are one."""
        before = [each for each in self._all() if each.number != number and not is_skipped(each)]
        same = next((each for each in before if each.params == settings), None)
        if same is not None:
            return f"the same settings as those of trial {same.number}"
        try:
            self._configs.run(settings)
        except ValueError as error:
            return str(error)
        return ""

    def _reopen(self, trial: FrozenTrial) -> OpenTrial:
        runs = {int(seed): str(run) for seed, run in trial.user_attrs.get(RUNS, {}).items()}
        values = {int(seed): float(value) for seed, value in trial.user_attrs.get(VALUES, {}).items()}
        self._study.sampler = optuna_study.sampler(self.spec, trial.number)
        optuna_trial = optuna_study.trial(self._folder, self._study, trial.number)
        # A kill in the middle of drawing leaves settings that are drawn now.
        settings: Settings = {name: trial.params.get(name) for name in self.spec.space}
        for name in self.spec.space.keys() - trial.params.keys():
            settings[name] = optuna_study.suggest(optuna_trial, name, self.spec.space[name])
        return OpenTrial(trial.number, settings, optuna_trial, runs, values, trial.last_step or 0)


# How the runs of a sweep stand and what they reached, as its driver reads them.

RAY = "ATTENTION_LAB_RAY"


def outcome(sweep: Sweep) -> str:
    """The best trial of a sweep that has ended, in words."""
    best = sweep.best()
    if best is None:
        return "no trial has a value"
    return f"best is trial {best.number} ({in_words(best.settings)}): {sweep.spec.score} {best.value:.4g}"


def check_cluster() -> None:
    """Raises NoRoom where runs are to train on a cluster, and none answers: the sweep waits for it, then."""
    if os.environ.get(RAY):
        from ..runs.ray import cluster

        try:
            cluster.address()
        except JobRefused as error:
            raise NoRoom(str(error)) from None


def status_of(run_id: str) -> Status:
    """How a run stands; one whose folder is gone was stopped."""
    try:
        return jobs.status(run_id)
    except FileError as error:
        return Status(state="failed", sentence=f"{error}")


def last_score(run: RunFolder, score: str) -> float | None:
    """A score in the last validation; None where it is not there or no finite number."""
    for entry in reversed(run.metrics()):
        validation = entry.get("validation")
        if isinstance(validation, dict):
            value = validation.get(score)
            return float(value) if is_finite(value) else None
    return None


def is_finite(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# Trains the runs of a sweep's trials through `models.runs.jobs`, watches them, prunes, and sums them up.

TURN_SECONDS = 0.3
FAILURES = 5
"""A sweep of which so many trials failed, and none did not, ends with the first reason."""
LOST = 3
"""A run whose process is lost so often is not begun again."""
FULL = "the disk is full"
_LIVE = ("queued", "running", "stopping")
_GOES_ON = "resume goes on"  # ends the sentence of a run that was paused by no person

Ended = Callable[[OpenTrial, str, float | None, str], None]


class Conductor:
    """One sweep at work, in its driver's process.

    by: the owner of its runs. n_slots: runs at once. request: says "pause" or "stop" once somebody wishes so.
    say: is told how many trials have ended and what goes on. ended: is told of each trial that ends.

    Where trials are pruned, only the first seed of a trial is compared with the others, at the same steps;
    the other seeds train once it has ended unpruned. So all comparisons are of the same seed, and a pruned
    trial costs a part of one run.
    """

    def __init__(
        self,
        sweep: Sweep,
        *,
        by: Visitor,
        n_slots: int,
        keep_going: bool = False,
        request: Callable[[], str] = lambda: "",
        say: Callable[[int, str], None] = lambda n_ended, sentence: None,
        ended: Ended = lambda trial, state, value, sentence: None,
    ) -> None:
        self._sweep, self._by, self._n_slots, self._keep_going = sweep, by, n_slots, keep_going
        self._request, self._say, self._ended = request, say, ended
        self._spec, self._id = sweep.spec, sweep.id
        self._configs = Configs(self._spec)
        self._ledger = Ledger(sweep, self._configs)
        self._open: list[OpenTrial] = []
        self._live: set[str] = set()  # runs that trained or waited when last looked at
        self._leaving: set[str] = set()  # runs of ended trials that have not ended yet
        self._left: dict[str, str] = {}  # runs that a person paused, each with its trial
        self._lost: dict[str, int] = {}
        self._waits = ""

    def run(self) -> tuple[State, str]:
        """Works until all trials have ended or somebody asks it to end; the final state and its sentence."""
        with writing(self._sweep.path / JOURNAL):
            try:
                self._adopt()
                while not self._request():
                    ended = self._turn()
                    if ended is not None:
                        self._ask_runs("pause")
                        return ended
                    time.sleep(TURN_SECONDS)
            except NoRoom as error:
                self._ask_runs("pause")
                return "paused", f"{error}; then resume the sweep"
            except OSError:
                self._ask_runs("pause")
                raise
        ask: Ask = "stop" if self._request() == "stop" else "pause"
        self._ask_runs(ask)
        return ended_by(ask), ""

    def _turn(self) -> tuple[State, str] | None:
        """Looks at all runs, starts what may start; how the sweep ended, if it did."""
        for trial in list(self._open):
            self._follow(trial)
        self._leaving = {run for run in self._leaving if status_of(run).live}
        failures = self._ledger.failures
        if len(failures) >= min(FAILURES, self._spec.trials):
            sentence = f"all {len(failures)} trials so far failed; the first: {failures[0]}"
            return "failed", f"{sentence}; start a sweep with other settings"
        self._start_runs()
        n, word = len(self._live), "run" if len(self._live) == 1 else "runs"
        trains = f"{n} {word} of {len(self._open)} open trials train or wait"
        self._say(self._ledger.n_ended, f"{trains}; {self._waits}" if self._waits else trains)
        if not self._open:
            return ("finished", self._ledger.exhausted or outcome(self._sweep)) if not self._leaving else None
        if self._left and not self._live and not self._waits:
            run, whose = next(iter(self._left.items()))
            return "paused", f"run {run} of {whose} was paused by hand; resume the sweep to go on with it"
        return None

    def _adopt(self) -> None:
        """Takes over what an earlier driver began: its runs are known by what their config.json says."""
        self._open = self._ledger.open_trials()
        by_number = {trial.number: trial for trial in self._open}
        for run in list_runs():
            try:
                origin = run.description().get("sweep")
            except FileError:
                continue
            if not isinstance(origin, dict) or origin.get("id") != self._id:
                continue
            trial = by_number.get(origin.get("trial", -1))
            if trial is not None and origin.get("seed") in self._spec.seed_list:
                trial.runs.setdefault(origin["seed"], run.id)
            elif trial is None and status_of(run.id).live:
                self._leaving.add(run.id)

    def _follow(self, trial: OpenTrial) -> None:
        """Takes note of what the runs of a trial have done, and ends the trial where it has ended."""
        for seed, run_id in list(trial.runs.items()):
            if seed in trial.values:
                continue
            status = status_of(run_id)
            if status.live:
                self._live.add(run_id)
                self._left.pop(run_id, None)
                if seed == self._spec.seed_list[0] and self._reports(trial, run_id):
                    why = (
                        f"pruned at step {trial.reported:,}: of the trials that came so far, most are better"
                    )
                    self._ledger.keep(trial)
                    self._ledger.prune(trial, why)
                    return self._close(trial, "pruned", why)
                continue
            was_live = run_id in self._live
            self._live.discard(run_id)
            problem = self._after(trial, seed, run_id, status, was_live)
            if problem:
                return self._give_up(trial, problem)
        if len(trial.values) == self._spec.seeds:
            self._ledger.finish(trial)
            self._close(trial, "finished", "")
        return None

    def _after(self, trial: OpenTrial, seed: int, run_id: str, status: Status, was_live: bool) -> str:
        """Deals with a run that is not live; why its trial cannot end well, or "".

        was_live: whether this driver saw it live before.
        """
        has_failed = status.state == "failed" or (was_live and status.refused)  # an old refusal may be mended
        if status.state == "finished":
            if seed == self._spec.seed_list[0]:
                self._reports(trial, run_id)
            value = last_score(RunFolder(runs_root() / run_id), self._spec.score)
            if value is None:
                return f"seed {seed}: {run_id} has no finite {self._spec.score!r} in its last validation"
            trial.values[seed] = value
            self._ledger.keep(trial)
        elif has_failed and any(cause in status.sentence for cause in (FULL, WENT_AWAY, UNREACHED)):
            if was_live:
                raise NoRoom(status.sentence)
        elif has_failed and not self._begins_again(run_id):
            return f"seed {seed}: {status.sentence}"
        elif was_live and status.state in ("paused", "stopped") and _GOES_ON not in status.sentence:
            if status.state == "stopped":
                self._ledger.keep(trial)
                self._ledger.stop(trial, f"seed {seed}: {run_id} was stopped at step {status.step:,}")
                self._close(trial, "stopped", f"seed {seed} was stopped")
            else:
                self._left[run_id] = f"trial {trial.number}"
        return ""

    def _begins_again(self, run_id: str) -> bool:
        """Whether a failed run only lost its process: it goes on from its checkpoint, a few times."""
        try:
            written = RunFolder(runs_root() / run_id).status()
        except FileError:
            return False
        self._lost[run_id] = self._lost.get(run_id, 0) + 1
        return written.get("state") in _LIVE and self._lost[run_id] <= LOST

    def _reports(self, trial: OpenTrial, run_id: str) -> bool:
        """Notes the new validations of a trial's first seed; True where it is behind and to be pruned."""
        if self._spec.prune == "none":
            return False
        for entry in RunFolder(runs_root() / run_id).metrics(trial.reported):
            value = (entry.get("validation") or {}).get(self._spec.score)
            if is_finite(value) and self._ledger.report(trial, entry["step"], float(value)):
                return True
        return False

    def _give_up(self, trial: OpenTrial, problem: str) -> None:
        self._ledger.keep(trial)
        self._ledger.fail(trial, shortened(problem, 500))
        self._close(trial, "failed", problem)

    def _close(self, trial: OpenTrial, state: str, sentence: str) -> None:
        """Takes an ended trial off the list, and stops those of its runs that are not needed any more."""
        self._open.remove(trial)
        for run_id in trial.runs.values():
            self._live.discard(run_id)
            self._left.pop(run_id, None)
            if status_of(run_id).live:
                jobs.stop(run_id, by=self._by)
                self._leaving.add(run_id)
        values = list(trial.values.values())
        self._ended(trial, state, sum(values) / len(values) if values else None, sentence)

    def _start_runs(self) -> None:
        """Starts or resumes runs while there are slots for them. Raises NoRoom."""
        self._waits = ""
        for trial, seed in self._due():
            if not self._has_slot:
                return
            try:
                queue.check_queue(runs_root())
                queue.check_live(runs_root(), self._by)
                self._start(trial, seed)
            except Busy as error:
                self._waits = str(error)
                return
            except (NoRoom, OSError):
                raise
            except ValueError as error:  # among them a run that is refused, as it needs too much memory
                check_cluster()
                self._give_up(trial, f"seed {seed}: {error}")

    def _due(self) -> Iterator[tuple[OpenTrial, int]]:
        """The runs to start, first those of open trials; the seeds of new trials follow without end."""
        for trial in list(self._open):
            for seed in self._seeds(trial):
                run_id = trial.runs.get(seed)
                is_at_work = run_id in self._live or run_id in self._left
                if trial in self._open and seed not in trial.values and not is_at_work:
                    yield trial, seed
        while self._has_slot and (new := self._ledger.next()) is not None:
            self._open.append(new)
            for seed in self._seeds(new):
                if new in self._open:
                    yield new, seed

    @property
    def _has_slot(self) -> bool:
        return len(self._live) + len(self._leaving) < self._n_slots

    def _seeds(self, trial: OpenTrial) -> tuple[int, ...]:
        """The seeds of a trial that may train now."""
        first, *_ = seeds = self._spec.seed_list
        return (first,) if self._spec.prune != "none" and first not in trial.values else seeds

    def _start(self, trial: OpenTrial, seed: int) -> None:
        run_id = trial.runs.get(seed)
        if run_id is not None:
            if status_of(run_id).live:
                self._live.add(run_id)
            else:
                jobs.resume(run_id, by=self._by, keep_going=self._keep_going)
        else:
            name = self._sweep.name
            about = {"name": name, "trial": trial.number, "seed": seed, "id": self._id}
            run_id = jobs.submit(
                self._configs.run(trial.settings, seed),
                name=run_name(name, trial.number, trial.settings, seed),
                about={"sweep": about, "tags": [name[:30]]},
                by=self._by,
                keep_going=self._keep_going,
            )
            trial.runs[seed] = run_id
            self._ledger.keep(trial)
        self._live.add(run_id)

    def _ask_runs(self, ask: Ask) -> None:
        """Asks all runs to end, each with its checkpoint."""
        for trial in self._open:
            for run_id in trial.runs.values():
                if status_of(run_id).live:
                    (jobs.pause if ask == "pause" else jobs.stop)(run_id, by=self._by)


# The process of one sweep: it starts the runs of its trials, and says in status.json how it stands.
# python -m attention_lab.models.sweeps.driver SWEEP_FOLDER [--owner ID] [--all-rights] [--slots N]
#     [--parent PID:START]

LAST_ONE_SECONDS = 10.0  # to wait for the last driver of a sweep that was paused a moment ago


def main(arguments: list[str] | None = None) -> int:
    """Works on the sweep of a folder; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attention_lab.models.sweeps.driver")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=Identity.parse, help="whose end pauses the sweep")
    parser.add_argument("--owner", default="", help="the visitor to whom its runs belong")
    parser.add_argument("--all-rights", action="store_true", help="the owner has no limits of a class")
    parser.add_argument("--slots", type=int, default=0, help="runs at once; 0 for what the limits allow")
    parser.add_argument("--keep-going", action="store_true", help="its runs go on without a server, too")
    options = parser.parse_args(arguments)
    by = Visitor(options.owner, all_rights=options.all_rights)
    n_slots = min(options.slots or usual_slots(), usual_slots())
    try:
        with FileLock(options.folder / LOCK, timeout=LAST_ONE_SECONDS):
            watch = Watch(options.folder, Sweep(options.folder).status(), parent=options.parent)
            status = _work(watch, by=by, n_slots=n_slots, keep_going=options.keep_going)
            return 0 if status.state != "failed" else 1
    except Timeout:
        print("another process works on this sweep; this one ends", file=sys.stderr)
        return 1


def drive_here(sweep: Sweep, *, n_slots: int = 0, show: Callable[[int, str], None], ended: Ended) -> Status:
    """Works on a sweep in this process, for the command line; pages see it, too.

    n_slots: runs at once, also above the limit of this machine, since a person at it asks. A signal to end
    (Ctrl-C, SIGTERM) pauses it. Raises JobRefused where a process works on it or nothing is left to do.
    """
    check_startable(sweep, MACHINE)
    if n_slots:
        os.environ[SLOTS] = str(n_slots)
    try:
        with FileLock(sweep.path / LOCK, timeout=0):
            (sweep.path / REQUEST).unlink(missing_ok=True)
            watch = Watch(sweep.path, queued_status(sweep, sweep.status(), keep_going=True))
            return _work(watch, by=MACHINE, n_slots=n_slots or usual_slots(), show=show, ended=ended)
    except Timeout:
        raise JobRefused(f"sweep {sweep.name!r} works in another process; pause it first") from None


def _work(
    watch: Watch, show: Callable[[int, str], None] = lambda n_ended, sentence: None, **options: Any
) -> Status:
    """Works until the sweep ends or is asked to end; returns its last status. options: of `Conductor`."""
    # A killed driver leaves no run behind that nobody watches: its runs pause when it ends.
    os.environ[SERVING] = str(this_process())
    start, before, last = time.monotonic(), watch.status.seconds, [""]

    def say(n_ended: int, sentence: str) -> None:
        show(n_ended, sentence)
        if (n_ended, sentence) != (watch.step, last[0]):
            last[0] = sentence
            watch.trains(n_ended, lambda: before + time.monotonic() - start, sentence, "")

    with heeding_signals(watch), watch:
        watch.starts("loads PyTorch")
        state: State = "failed"
        try:
            sweep = Sweep(watch.folder)
            watch.note(steps=sweep.spec.trials)
            state, sentence = Conductor(sweep, request=lambda: watch.asked, say=say, **options).run()
        except Exception as error:
            with suppress(OSError), (watch.folder / LOG).open("a") as log:
                traceback.print_exc(file=log)
            sentence = f"{type(error).__name__}: {error}; {LOG} in the sweep's folder says where"
            if isinstance(error, OSError):  # a disk that refuses only pauses the sweep
                state, sentence = "paused", f"{error}; then resume the sweep"
            elif isinstance(error, ValueError | ArithmeticError):
                sentence = str(error)
        watch.finish(state, sentence)
    return watch.status


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # everything is written
