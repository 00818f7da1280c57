"""The trials of a sweep that works: which settings come next, what was measured, how each ended.

All of it is in the journal before anything else depends on it, so that a killed driver loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from optuna.trial import FrozenTrial, TrialState
from optuna.trial import Trial as Asked

from models.runs.groups import summary
from models.sweeps import journal
from models.sweeps.plan import Configs, Settings, first_settings
from models.sweeps.sweep import RUNS, SENTENCE, SKIPPED, STOPPED, VALUES, Sweep, is_skipped

MOST_SKIPPED = 100
"""A sampler that draws so many useless settings one after the other has found all there are."""


@dataclass
class Open:
    """A trial under way. runs: its run of each seed so far. values: the score of each seed that has ended."""

    number: int
    settings: Settings
    asked: Asked
    runs: dict[int, str] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    reported: int = 0


class Ledger:
    """The journal of a sweep in its driver's hands. Methods raise WriteError where the disk refuses."""

    def __init__(self, sweep: Sweep, configs: Configs) -> None:
        self.spec = sweep.spec
        self._configs = configs
        self._study = journal.opened(sweep.path, self.spec, self._min_steps())
        self.exhausted = ""

    def open_trials(self) -> list[Open]:
        """The trials that an earlier driver began and did not end."""
        found = [self._reopened(each) for each in self._all() if each.state == TrialState.RUNNING]
        return [trial for trial in found if trial.runs or not self._skip_useless(trial.asked, trial.settings)]

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

    def next(self) -> Open | None:
        """The next trial, begun; None where all are. What makes no model, or was tried, is skipped."""
        for skipped in count():
            if self._n_begun() >= self.spec.trials or self.exhausted:
                return None
            if skipped >= MOST_SKIPPED:
                self.exhausted = (
                    f"the sampler drew {skipped} settings in a row that make no model or were tried already"
                )
                return None
            self._study.sampler = journal.sampler(self.spec, len(self._all()))
            asked = self._study.ask(journal.distributions(self.spec))
            settings: Settings = dict(asked.params)
            if not self._skip_useless(asked, settings):
                return Open(asked.number, settings, asked)
        raise AssertionError("unreachable")

    def keep(self, trial: Open) -> None:
        """Notes the runs and the values of a trial."""
        trial.asked.set_user_attr(RUNS, {str(seed): run for seed, run in trial.runs.items()})
        trial.asked.set_user_attr(VALUES, {str(seed): value for seed, value in trial.values.items()})

    def report(self, trial: Open, step: int, value: float) -> bool:
        """Notes the score of a step, after those of earlier ones; True where the trial is to be pruned."""
        trial.asked.report(value, step)
        trial.reported = step
        return trial.asked.should_prune()

    def finish(self, trial: Open) -> None:
        """Ends a trial with the mean of its values."""
        self._study.tell(trial.number, summary(list(trial.values.values())).mean)

    def prune(self, trial: Open, sentence: str) -> None:
        """Ends a trial that was stopped early; its value is the last that was reported."""
        self._end(trial.asked, TrialState.PRUNED, sentence)

    def fail(self, trial: Open, sentence: str) -> None:
        """Ends a trial without a value."""
        self._end(trial.asked, TrialState.FAIL, sentence)

    def stopped(self, trial: Open, sentence: str) -> None:
        """Ends a trial whose run somebody stopped or deleted."""
        trial.asked.set_user_attr(STOPPED, True)
        self._end(trial.asked, TrialState.FAIL, sentence)

    def _skip_useless(self, asked: Asked, settings: Settings) -> bool:
        """Whether settings are no trial, which then ends as skipped."""
        useless = self._useless(asked.number, settings)
        if useless:
            asked.set_user_attr(SKIPPED, True)
            self._end(asked, TrialState.FAIL, useless)
        return bool(useless)

    def _end(self, asked: Asked, state: TrialState, sentence: str) -> None:
        asked.set_user_attr(SENTENCE, sentence)
        self._study.tell(asked.number, state=state)

    def _all(self) -> list[FrozenTrial]:
        return self._study.get_trials(deepcopy=False)

    def _n_begun(self) -> int:
        return sum(each.state != TrialState.WAITING and not is_skipped(each) for each in self._all())

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

    def _reopened(self, trial: FrozenTrial) -> Open:
        runs = {int(seed): str(run) for seed, run in trial.user_attrs.get(RUNS, {}).items()}
        values = {int(seed): float(value) for seed, value in trial.user_attrs.get(VALUES, {}).items()}
        self._study.sampler = journal.sampler(self.spec, trial.number)
        asked = Asked(self._study, trial._trial_id)
        # A kill in the middle of drawing leaves settings that are drawn now.
        settings: Settings = {name: trial.params.get(name) for name in self.spec.space}
        for name in self.spec.space.keys() - trial.params.keys():
            settings[name] = journal.suggested(asked, name, self.spec.space[name])
        return Open(trial.number, settings, asked, runs, values, trial.last_step or 0)

    def _min_steps(self) -> int:
        """The first rung of ASHA: the first validation after a tenth of the steps and after the warm-up."""
        how = self._configs.run(first_settings(self.spec, self._configs)).training
        return max(how.validation_interval, how.warmup_steps, how.steps // 10)
