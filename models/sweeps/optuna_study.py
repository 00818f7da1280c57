"""The trials of a sweep in Optuna's own journal: a file of JSON lines beside the runs, without a server.

Only the driver of a sweep writes it, under the lock of the sweep's folder. It is read without a lock, so that
a page sees the trials while they train. Optuna is imported here alone, and without torch.
"""

import warnings
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import NopPruner, SuccessiveHalvingPruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalStorage
from optuna.study import Study

from ..byte_units import MB
from ..files import FileError, check_size, writing
from .spec import Choices, Spec, Value, Variation

JOURNAL = "journal.log"
REDUCTION = 3
"""Of the trials that reach a rung of ASHA, one in so many goes on (eta in Li et al. 2020)."""
_MOST_BYTES = 256 * MB
_DEAD_SECONDS = 3  # a line is written in less: a lock that is older was left by a driver that was killed
_STUDY = "sweep"

optuna.logging.set_verbosity(optuna.logging.WARNING)
warnings.filterwarnings("ignore", category=ExperimentalWarning)


def read(folder: Path) -> Study | None:
    """The trials of a sweep's folder; None before there are any. Raises FileError for a damaged journal."""
    path = folder / JOURNAL
    if not path.is_file():
        return None
    check_size(path, _MOST_BYTES, "a journal")
    try:
        storage = _storage(path)
        if _STUDY not in optuna.get_all_study_names(storage):
            return None  # it was begun this moment
        return optuna.load_study(study_name=_STUDY, storage=storage)
    except (ValueError, LookupError, TypeError, AssertionError, AttributeError, OSError) as error:
        raise FileError(
            f"{str(path)!r} is damaged ({str(error)[:100]}); restore it, or delete the sweep: its runs stay"
        ) from None


def begin(folder: Path, spec: Spec, points: list[dict[str, bool | int | float | str | None]]) -> None:
    """Makes the journal of a new sweep; the points of a grid wait in it. Raises WriteError."""
    path = folder / JOURNAL
    with writing(path):
        study = optuna.create_study(
            study_name=_STUDY, storage=_storage(path), direction=spec.direction or "maximize"
        )
        for settings in points:
            study.enqueue_trial(settings)


def open_study(folder: Path, spec: Spec, min_steps: int) -> Study:
    """The trials of a sweep to be gone on with, by its one driver.

    min_steps: of the first rung of ASHA. Raises FileError for a damaged journal, and WriteError.
    """
    path = folder / JOURNAL
    if path.is_file():
        # A last line that a kill left half-written: the next would be written on its end.
        with writing(path), path.open("rb+") as file:
            file.truncate(path.read_bytes().rfind(b"\n") + 1)
    study = read(folder)
    if study is None:
        raise FileError(f"{str(path)!r} is missing or empty; delete the sweep, and start it anew")
    study.pruner = NopPruner()
    if spec.prune != "none":
        study.pruner = SuccessiveHalvingPruner(min_resource=max(1, min_steps), reduction_factor=REDUCTION)
    return study


def trial(folder: Path, study: Study, number: int) -> optuna.Trial:
    """A trial that an earlier driver began, to be gone on with."""
    storage = _storage(folder / JOURNAL)
    study_id = storage.get_study_id_from_name(_STUDY)
    return optuna.Trial(study, storage.get_trial_id_from_study_id_trial_number(study_id, number))


def sampler(spec: Spec, number: int, seed: int = 0) -> BaseSampler:
    """The sampler that draws trial `number`.

    It has random numbers of its own, so that a sweep that goes on after a kill draws what it would have
    drawn: "random" the same settings throughout, "tpe" the same where the same results were in before.
    """
    own = (seed * 1_000_003 + number) % (1 << 32)
    if spec.how == "tpe":
        at_random = min(10, max(3, spec.trials // 4))  # Optuna's 10, or a quarter of few
        return TPESampler(seed=own, multivariate=len(spec.space) > 1, n_startup_trials=at_random)
    return RandomSampler(seed=own)


def distributions(spec: Spec) -> dict[str, BaseDistribution]:
    """What each setting that varies is drawn from, as Optuna has it."""
    return {name: _distribution(varied) for name, varied in spec.space.items()}


def suggest(trial: optuna.trial.Trial, name: str, varied: Variation) -> Value:
    """The value that a trial under way draws for one setting."""
    if isinstance(varied, Choices):
        return trial.suggest_categorical(name, varied.values)
    if varied.kind == "int":
        return trial.suggest_int(name, int(varied.low), int(varied.high))
    return trial.suggest_float(name, varied.low, varied.high, log=varied.kind == "log")


def _distribution(varied: Variation) -> BaseDistribution:
    if isinstance(varied, Choices):
        return CategoricalDistribution(varied.values)
    if varied.kind == "int":
        return IntDistribution(int(varied.low), int(varied.high))
    return FloatDistribution(varied.low, varied.high, log=varied.kind == "log")


def _storage(path: Path) -> JournalStorage:
    return JournalStorage(
        JournalFileBackend(str(path), lock_obj=JournalFileOpenLock(str(path), _DEAD_SECONDS))
    )
