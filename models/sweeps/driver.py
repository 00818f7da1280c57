"""Drives a sweep: asks Optuna which settings come next, trains them as runs, and reports their scores.

All of it is in the journal before anything else depends on it, so that a killed driver loses nothing.
python -m attention_lab.models.sweeps.driver SWEEP_FOLDER is the process of one sweep.
"""

import argparse
import math
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import optuna
from filelock import FileLock, Timeout
from optuna.trial import TrialState

from ..fields import shortened
from ..files import FileError, writing
from ..runs import jobs, queue
from ..runs.folder import LOCK, LOG, LOST, Ask, Cause, RunFolder, State, Status, ended_by, list_runs
from ..runs.owners import Visitor
from ..runs.processes import SERVING, Identity, this_process
from ..runs.queue import Busy, NoRoom
from ..runs.worker import Watch, heeding_signals
from ..zoo.folders import runs_root
from . import optuna_study
from .control import usual_slots
from .plan import Configs, first_settings
from .spec import JOURNAL
from .sweep import (
    DONE,
    RUNS,
    SENTENCE,
    VALUES,
    Sweep,
    Trial,
    TrialPhase,
    in_words,
    run_name,
    trial_of,
)

TURN_SECONDS = 0.3
MOST_SKIPPED = 100
"""A sampler that draws so many useless settings one after the other has found all there are."""
FAILURES = 5
"""A sweep of which so many trials failed, and none did not, ends with the first reason."""
RETRIES = 3
"""So often a run whose process is lost goes on from its last checkpoint."""


class Ending(NamedTuple):
    """How a sweep ended."""

    state: State
    sentence: str = ""
    cause: Cause = Cause.NONE


class Driver:
    """One sweep at work, in its process.

    by: the owner of its runs. n_slots: runs at once. request: says "pause" or "stop" once somebody wishes so.
    say: is told how many trials have ended and what goes on.

    Where trials are pruned, only their first seeds are compared, at the same steps; the other seeds train
    once the first has ended unpruned.
    """

    def __init__(
        self,
        sweep: Sweep,
        *,
        by: Visitor,
        n_slots: int,
        request: Callable[[], str] = lambda: "",
        say: Callable[[int, str], None] = lambda n_ended, sentence: None,
    ) -> None:
        self._sweep, self._by, self._n_slots = sweep, by, n_slots
        self._request, self._say = request, say
        self._spec, self._id = sweep.spec, sweep.id
        self._first, *_ = self._spec.seed_list
        self._configs = Configs(self._spec)
        self._open: list[optuna.Trial] = []
        self._live: set[str] = set()  # runs that train or wait
        self._seen: set[str] = set()  # runs that this driver started, or saw live
        self._left: dict[str, int] = {}  # runs that a person paused, each with its trial's number
        self._lost = Counter[str]()
        self._n_skipped, self._waits = 0, ""

    def run(self) -> Ending:
        """Works until all trials have ended or somebody asks it to end."""
        ending = None
        try:
            with writing(self._sweep.path / JOURNAL):
                self._study = self._opened()
                self._adopt()
                while ending is None and not self._request():
                    ending = self._turn()
                    time.sleep(TURN_SECONDS)
        except (NoRoom, OSError) as error:  # nothing is wrong with the trials
            cause = Cause.ROOM if isinstance(error, NoRoom) else Cause.DISK
            ending = Ending("paused", f"{error}; then resume the sweep", cause)
        ask: Ask = "stop" if self._request() == "stop" else "pause"
        for run_id in self._live:
            if status_of(run_id).live:
                (jobs.pause if ask == "pause" else jobs.stop)(run_id, by=self._by)
        return ending or Ending(ended_by(ask))

    def _opened(self) -> optuna.Study:
        # The first rung of ASHA: the first validation after a tenth of the steps and after the warm-up.
        how = self._configs.run(first_settings(self._spec, self._configs)).training
        min_steps = max(how.validation_interval, how.warmup_steps, how.steps // 10)
        return optuna_study.open_study(self._sweep.path, self._spec, min_steps)

    def _adopt(self) -> None:
        """Takes over what an earlier driver began: its runs are known by what their config.json says."""
        for frozen in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            trial = optuna_study.trial(self._sweep.path, self._study, frozen.number)
            self._open.append(trial)
            if not runs_of(trial) and self._skips(trial) and "fixed_params" in frozen.system_attrs:
                self._study.enqueue_trial(frozen.system_attrs["fixed_params"])  # of a grid, which has all
        by_number = {trial.number: trial for trial in self._open}
        for run in list_runs():
            with suppress(FileError):
                origin = run.description().get("sweep")
                if isinstance(origin, dict) and origin.get("id") == self._id:
                    number, seed = origin.get("trial"), origin.get("seed")
                    if number in by_number and seed in self._spec.seed_list:
                        keep(by_number[number], RUNS, {seed: run.id, **runs_of(by_number[number])})

    def _turn(self) -> Ending | None:
        """Looks at all runs, starts what may start; how the sweep ended, if it did."""
        self._live, self._left, self._waits = set(), {}, ""
        due = [(trial, seed) for trial in list(self._open) for seed in self._follow(trial)]
        ended = [trial for trial in self._trials() if trial.state in (*DONE, "stopped")]
        if len(ended) >= min(FAILURES, self._spec.trials) and all(each.state == "failed" for each in ended):
            sentence = f"all {len(ended)} trials so far failed; the first: {ended[0].sentence}"
            return Ending("failed", f"{sentence}; start a sweep with other settings")
        for trial, seed in chain(due, self._new_seeds()):
            if trial in self._open and not self._start(trial, seed):
                break
        n, word = len(self._live), "run" if len(self._live) == 1 else "runs"
        trains = f"{n} {word} of {len(self._open)} open trials train or wait"
        self._say(len(ended), "; ".join(filter(None, (trains, self._waits))))
        if not self._open:
            if self._n_skipped >= MOST_SKIPPED:
                drew = f"{MOST_SKIPPED} draws in a row made no model, or were tried already"
                return Ending("finished", drew, Cause.EXHAUSTED)
            best, score = self._sweep.best(), self._spec.score
            if best is None:
                return Ending("finished", "no trial has a value")
            settings = in_words(best.settings)
            return Ending("finished", f"best is trial {best.number} ({settings}): {score} {best.value:.4g}")
        if self._left and not self._live and not self._waits:
            run, number = next(iter(self._left.items()))
            sentence = f"run {run} of trial {number} was paused by hand; resume the sweep to go on with it"
            return Ending("paused", sentence, Cause.PERSON)
        return None

    def _follow(self, trial: optuna.Trial) -> list[int]:
        """Takes note of what the runs of a trial have done, and ends it where it has ended; the seeds that
        are to be started or resumed.
        """
        due, values = [], values_of(trial)
        for seed in self._seeds(trial):
            if seed in values:
                continue
            run_id = runs_of(trial).get(seed)
            if run_id is None:
                due.append(seed)
                continue
            status = status_of(run_id)
            if seed == self._first and status.state in ("running", "finished"):
                behind = self._reports(trial, run_id)
                if behind and status.live:
                    why = f"pruned at step {behind:,}: most trials so far are better"
                    return self._end(trial, "pruned", why)
            if status.live:
                self._live.add(run_id)
                self._seen.add(run_id)
            elif status.state == "finished":
                value = (scores(run_id, self._spec.score) or [(0, math.nan)])[-1][1]
                if not math.isfinite(value):
                    why = f"seed {seed}: {run_id} has no finite {self._spec.score!r} in its last validation"
                    return self._end(trial, "failed", why)
                values[seed] = value
                keep(trial, VALUES, values)
            elif run_id not in self._seen:  # it ended while no driver looked: whatever it was may be mended
                due.append(seed)
            elif status.cause in (Cause.DISK, Cause.CLUSTER):
                raise NoRoom(status.sentence)
            elif status.cause in LOST and self._lost[run_id] < RETRIES:
                self._lost[run_id] += 1
                due.append(seed)
            elif status.state == "failed" or status.refused:
                return self._end(trial, "failed", f"seed {seed}: {status.sentence}")
            elif status.cause != Cause.PERSON:
                due.append(seed)
            elif status.state == "stopped":
                why = f"seed {seed}: {run_id} was stopped at step {status.step:,}"
                return self._end(trial, "stopped", why)
            else:
                self._left[run_id] = trial.number
        if len(values) == self._spec.seeds:
            return self._end(trial, "finished")
        return due

    def _seeds(self, trial: optuna.Trial) -> tuple[int, ...]:
        """The seeds of a trial that may train now."""
        alone = self._spec.prune != "none" and self._first not in values_of(trial)
        return (self._first,) if alone else self._spec.seed_list

    def _reports(self, trial: optuna.Trial, run_id: str) -> int:
        """Tells Optuna the new validations of a trial's first seed; the step at which it is pruned, or 0."""
        if self._spec.prune == "none":
            return 0
        known = self._study.get_trials(deepcopy=False)[trial.number].last_step or 0
        for step, value in scores(run_id, self._spec.score, after=known):
            if math.isfinite(value):
                trial.report(value, step)
                if trial.should_prune():
                    return step
        return 0

    def _new_seeds(self) -> Iterator[tuple[optuna.Trial, int]]:
        """The runs of new trials, which Optuna draws while there are slots for them and trials to begin."""
        while len(self._live) < self._n_slots and self._n_skipped < MOST_SKIPPED:
            n_begun = sum(trial.state not in ("waiting", "skipped") for trial in self._trials())
            if n_begun >= self._spec.trials:
                return
            trial = self._study.ask(optuna_study.distributions(self._spec))
            if self._skips(trial):
                self._n_skipped += 1
                continue
            self._n_skipped = 0
            self._open.append(trial)
            for seed in self._seeds(trial):
                yield trial, seed

    def _skips(self, trial: optuna.Trial) -> bool:
        """Skips a trial whose settings make no model or were tried before; returns whether it did."""
        why = ""
        for each in self._trials():
            tried = each.state not in ("waiting", "skipped") and each.number != trial.number
            if tried and each.settings == trial.params:
                why = f"the same settings as those of trial {each.number}"
        try:
            self._configs.run(trial.params)
        except ValueError as error:
            why = str(error)
        if trial.params.keys() != self._spec.space.keys():
            why = "the process ended while these settings were drawn"
        if why:
            self._end(trial, "skipped", why)
        return bool(why)

    def _start(self, trial: optuna.Trial, seed: int) -> bool:
        """Starts or resumes a run if there is a slot; whether there may be one for another. Raises NoRoom."""
        if len(self._live) >= self._n_slots:
            return False
        runs, name = runs_of(trial), self._sweep.name
        run_id = runs.get(seed)
        try:
            queue.check_queue(runs_root())
            queue.check_live(runs_root(), self._by)
            if run_id is not None:
                jobs.resume(run_id, by=self._by)
            else:
                about = {"name": name, "trial": trial.number, "seed": seed, "id": self._id}
                run_id = runs[seed] = jobs.submit(
                    self._configs.run(trial.params, seed),
                    name=run_name(name, trial.number, trial.params, seed),
                    about={"sweep": about, "tags": [name[:30]]},
                    by=self._by,
                )
                keep(trial, RUNS, runs)
        except Busy as error:
            self._waits = str(error)
            return False
        except (NoRoom, OSError):
            raise
        except ValueError as error:  # among them a run that is refused, as it needs too much memory
            self._end(trial, "failed", f"seed {seed}: {error}")
        else:
            self._live.add(run_id)
            self._seen.add(run_id)
        return True

    def _end(self, trial: optuna.Trial, state: TrialPhase, sentence: str = "") -> list[int]:
        """Tells Optuna how a trial ended, and stops those of its runs that are not needed any more; a pruned
        one has the value that was reported last. No seed is due.
        """
        trial.set_user_attr(SENTENCE, shortened(sentence, 500))
        values = values_of(trial).values()
        if state == "finished":
            self._study.tell(trial.number, sum(values) / len(values))
        else:
            if state in ("skipped", "stopped"):  # Optuna has no such states
                trial.set_user_attr(state, True)
            self._study.tell(trial.number, state=TrialState.PRUNED if state == "pruned" else TrialState.FAIL)
        if trial in self._open:
            self._open.remove(trial)
        for run_id in runs_of(trial).values():
            self._live.discard(run_id)
            if status_of(run_id).live:
                jobs.stop(run_id, by=self._by)
        return []

    def _trials(self) -> list[Trial]:
        return [trial_of(each) for each in self._study.get_trials(deepcopy=False)]


def runs_of(trial: optuna.Trial) -> dict[int, str]:
    """The run of each seed so far."""
    return {int(seed): str(run) for seed, run in trial.user_attrs.get(RUNS, {}).items()}


def values_of(trial: optuna.Trial) -> dict[int, float]:
    """The score of each seed that has ended."""
    return {int(seed): float(value) for seed, value in trial.user_attrs.get(VALUES, {}).items()}


def keep(trial: optuna.Trial, name: str, by_seed: dict[int, Any]) -> None:
    """Notes the runs or the values of a trial, by seed, in the journal."""
    trial.set_user_attr(name, {str(seed): each for seed, each in by_seed.items()})


def status_of(run_id: str) -> Status:
    """How a run stands; one whose folder is gone has failed."""
    try:
        return jobs.status(run_id)
    except FileError as error:
        return Status(state="failed", sentence=f"{error}")


def scores(run_id: str, score: str, *, after: int = 0) -> list[tuple[int, float]]:
    """A run's validations after a step: each step with its score, NaN where it has none."""
    lines = RunFolder(runs_root() / run_id).metrics(after)
    return [(line["step"], line["validation"].get(score, math.nan)) for line in lines if "validation" in line]


LAST_ONE_SECONDS = 10.0  # to wait for the last driver of a sweep that was paused a moment ago


def main(arguments: list[str] | None = None) -> int:
    """Works on the sweep of a folder; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attention_lab.models.sweeps.driver")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=Identity.parse, help="whose end pauses the sweep")
    parser.add_argument("--owner", default="", help="the visitor to whom its runs belong")
    parser.add_argument("--all-rights", action="store_true", help="the owner has no limits of a class")
    parser.add_argument("--slots", type=int, default=0, help="runs at once; 0 for what the limits allow")
    options = parser.parse_args(arguments)
    by = Visitor(options.owner, all_rights=options.all_rights)
    n_slots = min(options.slots or usual_slots(), usual_slots())
    try:
        with FileLock(options.folder / LOCK, timeout=LAST_ONE_SECONDS):
            watch = Watch(options.folder, Sweep(options.folder).status(), parent=options.parent)
            status = _work(watch, by=by, n_slots=n_slots)
            return 0 if status.state != "failed" else 1
    except Timeout:
        print("another process works on this sweep; this one ends", file=sys.stderr)
        return 1


def _work(watch: Watch, **options: Any) -> Status:
    """Works until the sweep ends or is asked to end; returns its last status. options: of `Driver`."""
    # A killed driver leaves no run behind that nobody watches: its runs pause when it ends.
    os.environ[SERVING] = str(this_process())
    start, before, last = time.monotonic(), watch.status.seconds, [""]

    def say(n_ended: int, sentence: str) -> None:
        if (n_ended, sentence) != (watch.step, last[0]):
            last[0] = sentence
            watch.trains(n_ended, lambda: before + time.monotonic() - start, sentence, "")

    with heeding_signals(watch), watch:
        watch.starts("loads PyTorch")
        try:
            sweep = Sweep(watch.folder)
            watch.note(steps=sweep.spec.trials)
            ending = Driver(sweep, request=lambda: watch.asked, say=say, **options).run()
        except Exception as error:
            with suppress(OSError), (watch.folder / LOG).open("a", encoding="utf-8") as log:
                traceback.print_exc(file=log)
            known = isinstance(error, ValueError | ArithmeticError)
            where = f"{type(error).__name__}: {error}; {LOG} in the sweep's folder says where"
            ending = Ending("failed", str(error) if known else where)
        by_hand = "its runs keep their checkpoints" if watch.status.cause == Cause.PERSON else ""
        watch.finish(ending.state, ending.sentence or by_hand, cause=ending.cause)
    return watch.status


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # everything is written
