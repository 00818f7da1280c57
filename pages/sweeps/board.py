"""A sweep as a board: history, the value by one setting, and the importance of each."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from attention_lab.models.runs.results import bounds_of
from attention_lab.models.runs.significance import mean_interval
from attention_lab.models.sweeps import Choices, Spec, Trial
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.viz_core import training
from attention_lab.viz_core.boards import Board, Panel
from attention_lab.viz_core.labels import short
from attention_lab.viz_core.training import Axis


def board_of(
    spec: Spec,
    trials: Sequence[Trial],
    importance: Mapping[str, float],
    *,
    by: str,
) -> Board:
    """The board of a sweep. by: the setting of the second chart."""
    name, lower = spec.score or "score", spec.direction == "minimize"
    finished = [trial for trial in trials if trial.state == "finished"]
    if not finished:
        return Board(rows=[[]], notice=notice_of(spec, trials))
    numbers = [trial.number for trial in finished]
    history = training.history_panel(values_of(finished), numbers=numbers, lower_is_better=lower, name=name)
    panels: list[Panel] = [history, by_setting(spec, finished, by)]
    if len(importance) > 1:  # of one setting there is nothing to tell
        shares = {label_of(each): share for each, share in importance.items()}
        panels.append(training.importance_panel(shares))
    return Board(rows=[panels], notice=notice_of(spec, trials))


def by_setting(spec: Spec, finished: Sequence[Trial], by: str) -> Panel:
    """Every finished run's value by one setting, with the mean over trials and seeds and its interval."""
    per_run = [(trial, value) for trial in finished for value in trial.values.values() or [trial.value]]
    runs = [trial for trial, _ in per_run]
    values = np.array([np.nan if value is None else value for _, value in per_run], dtype=np.float64)
    interval = partial(mean_interval, bounds=bounds_of(spec.score)) if spec.score else mean_interval
    axis, name = axis_of(spec, by, runs), spec.score or "score"
    return training.setting_panel(axis, values, name=name, interval=interval)


def values_of(trials: Sequence[Trial]) -> np.ndarray:
    """The values [trial], NaN where there is none."""
    values = [np.nan if trial.value is None else trial.value for trial in trials]
    return np.array(values, dtype=np.float64)


def axis_of(spec: Spec, name: str, trials: Sequence[Trial]) -> Axis:
    """A setting's axis: of words by their places, of numbers by their size."""
    varied = spec.space[name]
    settings = [trial.settings.get(name) for trial in trials]
    if isinstance(varied, Choices) and not all(_is_number(value) for value in varied.values):
        places = {repr(value): at for at, value in enumerate(varied.values)}
        at = np.array([places.get(repr(value), np.nan) for value in settings], dtype=np.float64)
        return Axis(name=label_of(name), values=at, choices=[words(value) for value in varied.values])
    numbers = np.array([value if _is_number(value) else np.nan for value in settings], dtype=np.float64)
    log = _are_ratios(varied.values) if isinstance(varied, Choices) else varied.kind == "log"
    return Axis(name=label_of(name), values=numbers, log=log)


def _are_ratios(values: Sequence[Any]) -> bool:
    """Whether numbers lie so far apart, such as 1, 2, 4, 8, that their ratios are what varies."""
    return bool(min(values) > 0 and max(values) >= 8 * min(values))


def words(value: object) -> str:
    """A setting's value as the page writes it."""
    return short(value) if isinstance(value, float) else "none" if value is None else str(value)


def notice_of(spec: Spec, trials: Sequence[Trial]) -> str:
    """The best trial in a sentence, or why there is none."""
    sign = 1 if spec.direction == "minimize" else -1
    finished = [trial for trial in trials if trial.state == "finished" and trial.value is not None]
    if not finished:
        failed = [trial for trial in trials if trial.state == "failed"]
        if failed and all(trial.state in ("failed", "skipped") for trial in trials):
            return f"**All {len(failed)} trials have failed.** {failed[0].sentence}"
        return "No trial has finished yet."
    best = min(finished, key=lambda trial: sign * (trial.value or 0.0))
    settings = ", ".join(f"{label_of(name)} {words(value)}" for name, value in best.settings.items())
    ended = not any(trial.state in ("waiting", "running", "stopped") for trial in trials)
    all_came = ended and len(trials) >= spec.trials
    equal = sum(trial.value == best.value for trial in finished) - 1
    others = f", as {equal} more {'has' if equal == 1 else 'have'}" if equal else ""
    score = f"{spec.score or 'score'} {value_of(best)}{others}"
    return f"**{'Best' if all_came else 'Best so far'}: trial {best.number}**, with {settings}: {score}."


def value_of(trial: Trial) -> str:
    """The value of a trial with its spread over the seeds, as far as it is known."""
    if trial.value is None:
        return "–"
    if trial.spread is None or trial.n < 2:
        return short(trial.value)
    return f"{short(trial.value)} ± {short(trial.spread)} (n = {trial.n})"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
