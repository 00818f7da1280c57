"""Keeps a sweep's trials in Optuna's own journal, a file of JSON lines beside the runs.

Only the driver of a sweep writes it, under the lock of the sweep's folder. It is read without a lock, so that
a page sees the trials while they train. Optuna is imported here and in the driver, and without torch.
"""

import warnings
from pathlib import Path

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import NopPruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalStorage
from optuna.study import Study
from optuna.trial import Trial, TrialState

from ..byte_units import MB
from ..files import FileError, check_size, writing
from .spec import JOURNAL, Choices, Spec, Value

_MOST_BYTES = 256 * MB
_DEAD_SECONDS = 3  # a line is written in less: a lock that is older was left by a driver that was killed
_STUDY = "sweep"

optuna.logging.set_verbosity(optuna.logging.WARNING)
warnings.filterwarnings("ignore", category=ExperimentalWarning)


def begin(folder: Path, spec: Spec, points: list[dict[str, Value]]) -> None:
    """Makes the journal of a new sweep, in which the first settings wait. Raises WriteError."""
    path = folder / JOURNAL
    with writing(path):
        study = optuna.create_study(study_name=_STUDY, storage=_storage(path), direction=spec.direction)
        for settings in points:
            study.enqueue_trial(settings)


def read(folder: Path) -> Study:
    """The trials of a sweep's folder. Raises FileError for a journal that is missing or damaged."""
    path = folder / JOURNAL
    check_size(path, _MOST_BYTES, "a journal")
    try:
        return optuna.load_study(study_name=_STUDY, storage=_storage(path))
    except (ValueError, LookupError, TypeError, AssertionError, AttributeError, OSError) as error:
        raise FileError(
            f"{str(path)!r} is damaged ({str(error)[:100]}); restore it, or delete the sweep: its runs stay"
        ) from None


def open_study(folder: Path, spec: Spec) -> tuple[Study, list[Trial]]:
    """The trials of a sweep for its one driver, and those of them that an earlier driver began.

    Raises FileError for a damaged journal, and WriteError.
    """
    path = folder / JOURNAL
    if path.is_file():
        # A last line that a kill left half-written: the next would be written on its end.
        with writing(path), path.open("rb+") as file:
            file.truncate(path.read_bytes().rfind(b"\n") + 1)
    study = read(folder)
    # Another seed each time, or it draws what it has drawn before.
    study.sampler = sampler(spec, len(study.get_trials(deepcopy=False)))
    study.pruner = NopPruner()
    begun = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    return study, [Trial(study, each._trial_id) for each in begun]


def sampler(spec: Spec, seed: int) -> BaseSampler:
    """The sampler draws the settings that do not wait in the journal."""
    if spec.how != "tpe":
        return RandomSampler(seed=seed)
    return TPESampler(seed=seed, multivariate=len(spec.space) > 1, n_startup_trials=at_random(spec.trials))


def at_random(trials: int) -> int:
    """The trials of a TPE sweep that are drawn at random at first: Optuna's 10, or a quarter of few."""
    return min(10, max(3, trials // 4))


def suggest(trial: Trial, spec: Spec) -> dict[str, Value]:
    """The settings of a trial: those that wait for it or that a killed driver drew, the others drawn now."""
    for name, varied in spec.space.items():
        if isinstance(varied, Choices):
            trial.suggest_categorical(name, varied.values)
        elif varied.kind == "int":
            trial.suggest_int(name, int(varied.low), int(varied.high))
        else:
            trial.suggest_float(name, varied.low, varied.high, log=varied.kind == "log")
    return dict(trial.params)


def _storage(path: Path) -> JournalStorage:
    return JournalStorage(
        JournalFileBackend(str(path), lock_obj=JournalFileOpenLock(str(path), _DEAD_SECONDS))
    )
