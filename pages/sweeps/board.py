"""Shows a sweep as a board: its trials in a line, and the importance of each setting."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_lab.models.sweeps import Spec, Trial
from attention_lab.models.sweeps.sweep import by_rank
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.viz_core import training
from attention_lab.viz_core.boards import Board, Panel
from attention_lab.viz_core.labels import short


def board_of(spec: Spec, trials: Sequence[Trial], importance: Mapping[str, float]) -> Board:
    """The board of a sweep."""
    name, lower = spec.score or "score", spec.direction == "minimize"
    known = {
        trial.number: trial.value for trial in trials if trial.state == "finished" and trial.value is not None
    }
    if not known:
        return Board(rows=[[]], notice=notice_of(spec, trials))
    values = np.array([*known.values()], dtype=np.float64)
    panels: list[Panel] = [
        training.history_panel(values, numbers=list(known), lower_is_better=lower, name=name)
    ]
    if importance:
        panels.append(
            training.importance_panel({label_of(each): share for each, share in importance.items()})
        )
    return Board(rows=[panels], notice=notice_of(spec, trials))


def settings_of(trial: Trial) -> str:
    """A trial's settings as the page writes them."""
    return ", ".join(f"{label_of(name)} {words(value)}" for name, value in trial.settings.items())


def words(value: object) -> str:
    """A setting's value as the page writes it."""
    return short(value) if isinstance(value, float) else "none" if value is None else str(value)


def notice_of(spec: Spec, trials: Sequence[Trial]) -> str:
    """The best trial in a sentence, or why there is none."""
    ranked = [trial for trial in by_rank(spec, trials) if trial.state == "finished"]
    if not ranked:
        failed = [trial for trial in trials if trial.state == "failed"]
        if failed and len(failed) == len(trials):
            return f"**All {len(failed)} trials have failed.** {failed[0].sentence}"
        return "No trial has finished yet."
    best, *others = ranked
    ended = not any(trial.state in ("waiting", "running", "stopped") for trial in trials)
    all_came = ended and len(trials) >= spec.trials
    equal = sum(trial.value == best.value for trial in others)
    more = f", as {equal} more {'has' if equal == 1 else 'have'}" if equal else ""
    score = f"{spec.score or 'score'} {value_of(best)}{more}"
    settings = settings_of(best)
    return f"**{'Best' if all_came else 'Best so far'}: trial {best.number}**, with {settings}: {score}."


def value_of(trial: Trial) -> str:
    """The value of a trial with its spread over the seeds, as far as it is known."""
    if trial.value is None:
        return "–"
    spread = "" if trial.spread is None else f" ± {short(trial.spread)} (n = {trial.n})"
    return f"{short(trial.value)}{spread}"
