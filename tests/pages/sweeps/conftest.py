"""Sweeps made by hand, as their driver writes them: no training, no processes."""

import math
from collections.abc import Callable
from pathlib import Path

import optuna
import pytest

from attention_lab.models.runs.owners import PERSON
from attention_lab.models.sweeps import Spec, Sweep, create, optuna_study, parse

MakeSweep = Callable[..., Sweep]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runs' folder of this test alone."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def value_of(settings: dict, seed: int) -> float:
    """What a made-up run of these settings scores."""
    return math.log2(settings.get("n_heads", 2)) / 4 + seed / 100


@pytest.fixture
def make_sweep(root: Path) -> MakeSweep:
    """Function that makes a sweep of which all but the last `waiting` trials have ended.

    fails: every such trial has failed.
    """

    def make(*lines: str, name: str = "heads", waiting: int = 0, fails: int = 0, **given) -> Sweep:
        fixed, space = parse(lines or ("n_heads=1,2,4", "norm=pre,post"))
        spec = Spec(**{"task": "reverse", "fixed": fixed, "space": space, "name": name, "seeds": 2, **given})
        sweep = create(spec, by=PERSON)
        spec = sweep.spec
        study, _ = optuna_study.open_study(sweep.path, spec)
        for number in range(spec.trials - waiting):
            trial = study.ask()
            optuna_study.suggest(trial, spec)
            if fails and number % fails == fails - 1:
                trial.set_user_attr(
                    "sentence", "<b>the loss is not a number</b>; take a smaller learning_rate"
                )
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                continue
            values = {str(seed): value_of(trial.params, seed) for seed in spec.seed_list}
            trial.set_user_attr("values", values)
            trial.set_user_attr("runs", {seed: f"run-{number}-{seed}" for seed in values})
            study.tell(trial, sum(values.values()) / len(values))
        return sweep

    return make
