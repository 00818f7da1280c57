"""Keeps a sweep's trials in Optuna's own journal, a file of JSON lines beside the runs.

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
from .spec import JOURNAL, Choices, Spec

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
    study.sampler = sampler(spec, len(study.get_trials(deepcopy=False)))
    study.pruner = NopPruner()
    if spec.prune != "none":
        study.pruner = SuccessiveHalvingPruner(min_resource=max(1, min_steps), reduction_factor=REDUCTION)
    return study


def trial(folder: Path, study: Study, number: int) -> optuna.Trial:
    """A trial that an earlier driver began, to be gone on with."""
    storage = _storage(folder / JOURNAL)
    study_id = storage.get_study_id_from_name(_STUDY)
    return optuna.Trial(study, storage.get_trial_id_from_study_id_trial_number(study_id, number))


def sampler(spec: Spec, seed: int) -> BaseSampler:
    """The sampler of a sweep. seed: another one each time, or it draws what it has drawn before."""
    if spec.how == "tpe":
        at_random = min(10, max(3, spec.trials // 4))  # Optuna's 10, or a quarter of few
        return TPESampler(seed=seed, multivariate=len(spec.space) > 1, n_startup_trials=at_random)
    return RandomSampler(seed=seed)


def distributions(spec: Spec) -> dict[str, BaseDistribution]:
    """What each setting that varies is drawn from, as Optuna has it."""
    found: dict[str, BaseDistribution] = {}
    for name, varied in spec.space.items():
        if isinstance(varied, Choices):
            found[name] = CategoricalDistribution(varied.values)
        elif varied.kind == "int":
            found[name] = IntDistribution(int(varied.low), int(varied.high))
        else:
            found[name] = FloatDistribution(varied.low, varied.high, log=varied.kind == "log")
    return found


def _storage(path: Path) -> JournalStorage:
    return JournalStorage(
        JournalFileBackend(str(path), lock_obj=JournalFileOpenLock(str(path), _DEAD_SECONDS))
    )
