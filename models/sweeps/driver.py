"""Drives a sweep: asks Optuna which settings come next, trains them as runs, and tells it their scores.

All of it is in the journal before anything else depends on it, so that a killed driver loses nothing.
python -m attention_lab.models.sweeps.driver SWEEP_FOLDER is the process of one sweep.
"""

import argparse
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import optuna
from filelock import FileLock, Timeout
from optuna.pruners import SuccessiveHalvingPruner
from optuna.trial import TrialState

from ..fields import shortened
from ..files import FileError, writing
from ..runs import jobs, queue
from ..runs.folder import LOCK, LOST, Cause, RunFolder, Status, ended_by
from ..runs.owners import Visitor, ownership_of
from ..runs.processes import SERVING, Identity, leave, this_process
from ..runs.queue import Busy, NoRoom
from ..runs.worker import Ending, Watch, heeding_signals, perform
from ..zoo.folders import runs_root
from .control import usual_slots
from .optuna_study import open_study, suggest
from .plan import MOST_USELESS, Configs
from .spec import JOURNAL
from .sweep import (
    DONE,
    RUNS,
    SENTENCE,
    VALUES,
    Phase,
    Sweep,
    Trial,
    run_name,
    trial_of,
)

TURN_SECONDS = 0.3
LAST_ONE_SECONDS = 10.0  # to wait for the last driver of a sweep that was paused a moment ago
REDUCTION = 3
"""Of the trials that reach a rung of ASHA, one in so many goes on (eta in Li et al. 2020)."""
FAILURES = 5
"""A sweep of which so many trials failed, and none did not, ends with the first reason."""
RETRIES = 3
"""So often a run whose process is lost goes on from its last checkpoint."""
_BEGUN = (Phase.RUNNING, Phase.STOPPED, *DONE)


class Driver:
    """One sweep at work, in its process.

    watch: hears requests, and is told what goes on. by: the owner of its runs. n_slots: runs at once.
    Where trials are pruned, only their first seeds are compared, at the same steps; the others train once the
    first has ended unpruned.
    """

    def __init__(self, sweep: Sweep, watch: Watch, *, by: Visitor, n_slots: int) -> None:
        self._sweep, self._watch, self._by, self._n_slots = sweep, watch, by, n_slots
        self._spec, self._configs = sweep.spec, Configs(sweep.spec)
        self._start_time = time.monotonic() - watch.status.seconds
        self._open: list[optuna.Trial] = []
        self._live: set[str] = set()  # runs that train or wait
        self._starts = Counter[str]()  # of each run, by this driver
        self._n_useless, self._waits, self._left = 0, "", ""

    def run(self) -> Ending:
        """Works until all trials have ended or somebody asks it to end."""
        ending = None
        try:
            with writing(self._sweep.path / JOURNAL):
                self._study, begun = open_study(self._sweep.path, self._spec)
                self._open = [each for each in begun if by_seed(each, RUNS) or self._is_useful(each)]
                while ending is None and not self._watch.asked:
                    ending = self._turn()
                    time.sleep(TURN_SECONDS)
        except (NoRoom, OSError) as error:  # nothing is wrong with the trials
            cause = Cause.ROOM if isinstance(error, NoRoom) else Cause.DISK
            ending = Ending("paused", f"{error}; then resume the sweep", cause)
        asked = self._watch.asked
        for run_id in self._live:
            if status_of(run_id).live:
                (jobs.stop if asked == "stop" else jobs.pause)(run_id, by=self._by)
        by_hand = "its runs keep their checkpoints" if self._watch.status.cause == Cause.PERSON else ""
        return ending or Ending(ended_by(asked), by_hand)

    def _turn(self) -> Ending | None:
        """Looks at all runs, starts what may start; how the sweep ended, if it did."""
        self._live, self._waits, self._left = set(), "", ""
        due = [(trial, seed) for trial in list(self._open) for seed in self._follow(trial)]
        ended = [trial for trial in self._trials() if trial.state in (*DONE, Phase.STOPPED)]
        if len(ended) >= min(FAILURES, self._spec.trials) and {each.state for each in ended} == {Phase.FAIL}:
            sentence = f"all {len(ended)} trials so far failed; the first: {ended[0].sentence}"
            return Ending("failed", f"{sentence}; start a sweep with other settings")
        for trial, seed in chain(due, self._new_seeds()):
            if trial in self._open and not self._start(trial, seed):
                break
        n, word = len(self._live), "run" if len(self._live) == 1 else "runs"
        trains = f"{n} {word} of {len(self._open)} open trials train or wait" if self._open else ""
        says = "; ".join(filter(None, (trains, self._waits)))
        self._watch.trains(len(ended), lambda: time.monotonic() - self._start_time, says, "")
        if not self._open:
            if self._n_useless >= MOST_USELESS:
                drew = f"{MOST_USELESS} draws in a row made no model, or were tried already"
                return Ending("finished", drew, Cause.EXHAUSTED)
            return Ending("finished")
        if self._left and not self._live and not self._waits:
            return Ending("paused", self._left, Cause.PERSON)
        return None

    def _follow(self, trial: optuna.Trial) -> list[str]:
        """Takes note of what the runs of a trial have done, and ends it where it has ended; the seeds that
        are to be started or resumed.
        """
        due, values, runs = list[str](), by_seed(trial, VALUES), by_seed(trial, RUNS)
        for seed in (each for each in self._seeds(trial) if each not in values):
            run_id = runs.get(seed)
            if run_id is None:
                due.append(seed)
                continue
            status = status_of(run_id)
            if self._spec.prune != "none" and seed == self._first and status.state in ("running", "finished"):
                behind = self._reports(trial, run_id)
                if behind and status.live:
                    why = f"pruned at step {behind:,}: most trials so far are better"
                    return self._end(trial, Phase.PRUNED, why)
            if status.live:
                self._live.add(run_id)
            elif status.state == "finished":
                values[seed] = (scores(run_id, self._spec.score) or [(0, math.nan)])[-1][1]
                if not math.isfinite(values[seed]):
                    why = f"seed {seed}: {run_id} has no finite {self._spec.score!r} in its last validation"
                    return self._end(trial, Phase.FAIL, why)
                trial.set_user_attr(VALUES, values)
            elif not self._starts[run_id]:  # by an earlier driver: whatever ended it may be mended
                due.append(seed)
            elif status.cause in (Cause.DISK, Cause.CLUSTER):
                raise NoRoom(status.sentence)
            elif status.cause in LOST and self._starts[run_id] <= RETRIES:
                due.append(seed)
            elif status.state == "failed" or status.refused:
                return self._end(trial, Phase.FAIL, f"seed {seed}: {status.sentence}")
            elif status.cause != Cause.PERSON:
                due.append(seed)
            elif status.state == "stopped":
                why = f"seed {seed}: {run_id} was stopped at step {status.step:,}"
                return self._end(trial, Phase.STOPPED, why)
            else:
                number = trial.number
                self._left = (
                    f"run {run_id} of trial {number} was paused by hand; resume the sweep to go on with it"
                )
        return self._end(trial, Phase.COMPLETE) if len(values) == self._spec.seeds else due

    @property
    def _first(self) -> str:
        return str(self._spec.seed_list[0])

    def _seeds(self, trial: optuna.Trial) -> list[str]:
        """The seeds of a trial that may train now."""
        alone = self._spec.prune != "none" and self._first not in by_seed(trial, VALUES)
        return [self._first] if alone else [str(seed) for seed in self._spec.seed_list]

    def _reports(self, trial: optuna.Trial, run_id: str) -> int:
        """Tells Optuna the new validations of a trial's first seed; the step at which it is pruned, or 0."""
        if not isinstance(self._study.pruner, SuccessiveHalvingPruner):
            # The first rung is the first validation after a tenth of the steps and after the warm-up.
            how = self._configs.run(trial.params).training
            first = max(how.validation_interval, how.warmup_steps, how.steps // 10, 1)
            self._study.pruner = SuccessiveHalvingPruner(min_resource=first, reduction_factor=REDUCTION)
        known = self._study.get_trials(deepcopy=False)[trial.number].last_step or 0
        for step, value in scores(run_id, self._spec.score, after=known):
            if math.isfinite(value):
                trial.report(value, step)
                if trial.should_prune():
                    return step
        return 0

    def _new_seeds(self) -> Iterator[tuple[optuna.Trial, str]]:
        """The runs of new trials, which Optuna draws while there are slots for them and trials to begin."""
        while len(self._live) < self._n_slots and self._n_useless < MOST_USELESS:
            if sum(trial.state in _BEGUN for trial in self._trials()) >= self._spec.trials:
                return
            trial = self._study.ask()
            if self._is_useful(trial):
                self._n_useless = 0
                self._open.append(trial)
                yield from ((trial, seed) for seed in self._seeds(trial))
            else:
                self._n_useless += 1

    def _is_useful(self, trial: optuna.Trial) -> bool:
        """Draws the settings of a trial; one that makes no model, or was tried before, is skipped."""
        settings, why = suggest(trial, self._spec), ""
        for each in self._trials():
            if each.state in _BEGUN and each.number != trial.number and each.settings == settings:
                why = f"the same settings as those of trial {each.number}"
        try:
            self._configs.run(settings)
        except ValueError as error:
            why = str(error)
        if why:
            self._end(trial, Phase.SKIPPED, why)
        return not why

    def _start(self, trial: optuna.Trial, seed: str) -> bool:
        """Starts or resumes a run if there is a slot; whether there may be one for another. Raises NoRoom."""
        if len(self._live) >= self._n_slots:
            return False
        runs, name = by_seed(trial, RUNS), self._sweep.name
        try:
            queue.check_queue(runs_root())
            queue.check_live(runs_root(), self._by)
            if seed in runs:
                jobs.resume(runs[seed], by=self._by)
            else:
                about = {"name": name, "trial": trial.number, "seed": int(seed)}
                runs[seed] = jobs.submit(
                    self._configs.run(trial.params, int(seed)),
                    name=run_name(name, trial.number, trial.params, seed),
                    about={"sweep": about, "tags": [name[:30]]},
                    by=self._by,
                )
                trial.set_user_attr(RUNS, runs)
        except Busy as error:
            self._waits = str(error)
            return False
        except (NoRoom, OSError):
            raise
        except ValueError as error:  # among them a run that is refused, as it needs too much memory
            self._end(trial, Phase.FAIL, f"seed {seed}: {error}")
        else:
            self._live.add(runs[seed])
            self._starts[runs[seed]] += 1
        return True

    def _end(self, trial: optuna.Trial, phase: Phase, sentence: str = "") -> list[str]:
        """Tells Optuna how a trial ended, and stops those of its runs that are not needed any more; a pruned
        one has the value that was reported last. No seed is due.
        """
        trial.set_user_attr(SENTENCE, shortened(sentence, 500))
        if phase in (Phase.SKIPPED, Phase.STOPPED):  # Optuna has no such states
            trial.set_user_attr(phase, True)
        if phase is Phase.COMPLETE:
            values = by_seed(trial, VALUES).values()
            self._study.tell(trial.number, sum(values) / len(values))
        else:  # TPE keeps away from what was pruned, and knows nothing of what failed
            is_bad = phase in (Phase.SKIPPED, Phase.PRUNED)
            self._study.tell(trial.number, state=TrialState.PRUNED if is_bad else TrialState.FAIL)
        self._open = [each for each in self._open if each is not trial]
        for run_id in by_seed(trial, RUNS).values():
            self._live.discard(run_id)
            if status_of(run_id).live:
                jobs.stop(run_id, by=self._by)
        return []

    def _trials(self) -> list[Trial]:
        return [trial_of(each) for each in self._study.get_trials(deepcopy=False)]


def by_seed(trial: optuna.Trial, name: str) -> dict[str, Any]:
    """The runs or the values of a trial, by the seed, as far as the journal has them."""
    return dict(trial.user_attrs.get(name, {}))


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


def main(arguments: list[str] | None = None) -> int:
    """Works on the sweep of a folder; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attention_lab.models.sweeps.driver")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=Identity.parse, help="whose end pauses the sweep")
    parser.add_argument("--all-rights", action="store_true", help="the owner has no limits of a class")
    parser.add_argument("--slots", type=int, default=0, help="runs at once; 0 for what the limits allow")
    options = parser.parse_args(arguments)
    sweep, n_slots = Sweep(options.folder), min(options.slots or usual_slots(), usual_slots())
    by = Visitor(ownership_of(sweep.path).owner, all_rights=options.all_rights)
    # A killed driver leaves no run behind that nobody watches: its runs pause when it ends.
    os.environ[SERVING] = str(this_process())
    try:
        with FileLock(sweep.path / LOCK, timeout=LAST_ONE_SECONDS):
            watch = Watch(sweep.path, sweep.status(), parent=options.parent)
            with heeding_signals(watch), watch:
                status = perform(watch, lambda: Driver(sweep, watch, by=by, n_slots=n_slots).run())
            return 0 if status.state != "failed" else 1
    except Timeout:
        print("another process works on this sweep; this one ends", file=sys.stderr)
        return 1


if __name__ == "__main__":
    leave(main())
