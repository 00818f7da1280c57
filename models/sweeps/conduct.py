"""Trains the runs of a sweep's trials through `models.runs.jobs`, watches them, prunes, and sums them up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from models.files import FileError, writing
from models.names import shortened
from models.runs import jobs, limits
from models.runs.folder import RunFolder, list_runs
from models.runs.limits import Busy, NoRoom
from models.runs.owners import Visitor
from models.runs.ray.cluster import UNREACHED, WENT_AWAY
from models.runs.status import Ask, State, Status, ended_by
from models.sweeps.journal import JOURNAL
from models.sweeps.ledger import Ledger, Open
from models.sweeps.plan import Configs
from models.sweeps.results import check_cluster, is_finite, last_score, outcome, status_of
from models.sweeps.sweep import Sweep, run_name
from models.zoo.run_folders import runs_root

TURN_SECONDS = 0.3
FAILURES = 5
"""A sweep of which so many trials failed, and none did not, ends with the first reason."""
LOST = 3
"""A run whose process is lost so often is not begun again."""
FULL = "the disk is full"
_LIVE = ("queued", "running", "stopping")
_GOES_ON = "resume goes on"  # ends the sentence of a run that was paused by no person

Ended = Callable[[Open, str, float | None, str], None]


class Conductor:
    """One sweep at work, in its driver's process.

    by: the owner of its runs. n_slots: runs at once. asked: says "pause" or "stop" once somebody wishes so.
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
        asked: Callable[[], str] = lambda: "",
        say: Callable[[int, str], None] = lambda n_ended, sentence: None,
        ended: Ended = lambda trial, state, value, sentence: None,
    ) -> None:
        self._sweep, self._by, self._n_slots, self._keep_going = sweep, by, n_slots, keep_going
        self._asked, self._say, self._ended = asked, say, ended
        self._spec, self._id = sweep.spec, sweep.id
        self._configs = Configs(self._spec)
        self._ledger = Ledger(sweep, self._configs)
        self._open: list[Open] = []
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
                while not self._asked():
                    found = self._turn()
                    if found is not None:
                        self._ask_runs("pause")
                        return found
                    time.sleep(TURN_SECONDS)
            except NoRoom as error:
                self._ask_runs("pause")
                return "paused", f"{error}; then resume the sweep"
            except OSError:
                self._ask_runs("pause")
                raise
        ask: Ask = "stop" if self._asked() == "stop" else "pause"
        self._ask_runs(ask)
        return ended_by(ask), ""

    def _turn(self) -> tuple[State, str] | None:
        """Looks at all runs, starts what may start; how the sweep ended, if it did."""
        for trial in list(self._open):
            self._look(trial)
        self._leaving = {run for run in self._leaving if status_of(run).live}
        failures = self._ledger.failures
        if len(failures) >= min(FAILURES, self._spec.trials):
            said = f"all {len(failures)} trials so far failed; the first: {failures[0]}"
            return "failed", f"{said}; start a sweep with other settings"
        self._start_runs()
        self._say(self._ledger.n_ended, self._sentence())
        if not self._open:
            return ("finished", self._ledger.exhausted or outcome(self._sweep)) if not self._leaving else None
        if self._left and not self._live and not self._waits:
            run, whose = next(iter(self._left.items()))
            return "paused", f"run {run} of {whose} was paused by hand; resume the sweep to go on with it"
        return None

    def _sentence(self) -> str:
        n, word = len(self._live), "run" if len(self._live) == 1 else "runs"
        trains = f"{n} {word} of {len(self._open)} open trials train or wait"
        return f"{trains}; {self._waits}" if self._waits else trains

    def _adopt(self) -> None:
        """Takes over what an earlier driver began: its runs are known by what their config.json says."""
        self._open = self._ledger.open_trials()
        by_number = {trial.number: trial for trial in self._open}
        for run in list_runs():
            try:
                said = run.description().get("sweep")
            except FileError:
                continue
            if not isinstance(said, dict) or said.get("id") != self._id:
                continue
            trial = by_number.get(said.get("trial", -1))
            if trial is not None and said.get("seed") in self._spec.seed_list:
                trial.runs.setdefault(said["seed"], run.id)
            elif trial is None and status_of(run.id).live:
                self._leaving.add(run.id)

    def _look(self, trial: Open) -> None:
        """Takes note of what the runs of a trial have done, and ends the trial where it has ended."""
        for seed, run_id in list(trial.runs.items()):
            if seed in trial.values:
                continue
            status = status_of(run_id)
            if status.live:
                self._live.add(run_id)
                self._left.pop(run_id, None)
                if seed == self._spec.seed_list[0] and self._reports(trial, run_id):
                    return self._prune(trial, run_id)
                continue
            seen = run_id in self._live
            self._live.discard(run_id)
            problem = self._after(trial, seed, run_id, status, seen)
            if problem:
                return self._give_up(trial, problem)
        if len(trial.values) == self._spec.seeds:
            self._ledger.finish(trial)
            self._close(trial, "finished", "")
        return None

    def _after(self, trial: Open, seed: int, run_id: str, status: Status, seen: bool) -> str:
        """Deals with a run that is not live; why its trial cannot end well, or "".

        seen: whether this driver saw it live before.
        """
        has_failed = status.state == "failed" or (seen and status.refused)  # an old refusal may be mended
        if status.state == "finished":
            if seed == self._spec.seed_list[0]:
                self._reports(trial, run_id)
            value = last_score(RunFolder(runs_root() / run_id), self._spec.score)
            if value is None:
                return f"seed {seed}: {run_id} has no finite {self._spec.score!r} in its last validation"
            trial.values[seed] = value
            self._ledger.keep(trial)
        elif has_failed and any(cause in status.sentence for cause in (FULL, WENT_AWAY, UNREACHED)):
            if seen:
                raise NoRoom(status.sentence)
        elif has_failed and not self._begins_again(run_id):
            return f"seed {seed}: {status.sentence}"
        elif seen and status.state in ("paused", "stopped") and _GOES_ON not in status.sentence:
            if status.state == "stopped":
                self._ledger.keep(trial)
                self._ledger.stopped(trial, f"seed {seed}: {run_id} was stopped at step {status.step:,}")
                self._close(trial, "stopped", f"seed {seed} was stopped")
            else:
                self._left[run_id] = f"trial {trial.number}"
        return ""

    def _begins_again(self, run_id: str) -> bool:
        """Whether a failed run only lost its process: it goes on from its checkpoint, a few times."""
        try:
            said = RunFolder(runs_root() / run_id).status()
        except FileError:
            return False
        self._lost[run_id] = self._lost.get(run_id, 0) + 1
        return said.get("state") in _LIVE and self._lost[run_id] <= LOST

    def _reports(self, trial: Open, run_id: str) -> bool:
        """Notes the new validations of a trial's first seed; True where it is behind and to be pruned."""
        if self._spec.prune == "none":
            return False
        for entry in RunFolder(runs_root() / run_id).metrics(trial.reported):
            value = (entry.get("validation") or {}).get(self._spec.score)
            if is_finite(value) and self._ledger.report(trial, entry["step"], float(value)):
                return True
        return False

    def _prune(self, trial: Open, run_id: str) -> None:
        step = trial.reported
        sentence = f"pruned at step {step:,}: of the trials that came so far, most are better"
        self._ledger.keep(trial)
        self._ledger.prune(trial, sentence)
        self._close(trial, "pruned", sentence)

    def _give_up(self, trial: Open, problem: str) -> None:
        self._ledger.keep(trial)
        self._ledger.fail(trial, shortened(problem, 500))
        self._close(trial, "failed", problem)

    def _close(self, trial: Open, state: str, sentence: str) -> None:
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
                limits.check_queue(runs_root())
                limits.check_live(runs_root(), self._by)
                self._start(trial, seed)
            except Busy as error:
                self._waits = str(error)
                return
            except (NoRoom, OSError):
                raise
            except ValueError as error:  # among them a run that is refused, as it needs too much memory
                check_cluster()
                self._give_up(trial, f"seed {seed}: {error}")

    def _due(self) -> Iterator[tuple[Open, int]]:
        """The runs to start, first those of open trials; the seeds of new trials follow without end."""
        for trial in list(self._open):
            for seed in self._seeds(trial):
                if trial in self._open and self._may_start(trial, seed):
                    yield trial, seed
        while self._has_slot and (new := self._ledger.next()) is not None:
            self._open.append(new)
            for seed in self._seeds(new):
                if new in self._open:
                    yield new, seed

    @property
    def _has_slot(self) -> bool:
        return len(self._live) + len(self._leaving) < self._n_slots

    def _seeds(self, trial: Open) -> tuple[int, ...]:
        """The seeds of a trial that may train now."""
        first, *_ = seeds = self._spec.seed_list
        return (first,) if self._spec.prune != "none" and first not in trial.values else seeds

    def _may_start(self, trial: Open, seed: int) -> bool:
        run_id = trial.runs.get(seed)
        return seed not in trial.values and run_id not in self._live and run_id not in self._left

    def _start(self, trial: Open, seed: int) -> None:
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
