"""Families of shipped models as sweeps: a trial is a member, and its value what the family measured."""

import sys
from statistics import fmean
from subprocess import run

import pytest

from attention_lab.models.files import read_json
from attention_lab.models.runs.owners import MACHINE, NotAllowed
from attention_lab.models.sweeps import ask, delete, find, list_shipped, start
from attention_lab.models.sweeps.families import FamilySweep
from attention_lab.models.zoo.families import FAMILIES, scores_of
from attention_lab.models.zoo.folders import CARD, SHIPPED
from attention_lab.models.zoo.others.families import load, sizes_of

SWEEPS = [sweep for sweep in list_shipped() if isinstance(sweep, FamilySweep)]


def test_each_family_is_a_sweep_that_has_finished():
    assert [sweep.name for sweep in SWEEPS] == list(FAMILIES)
    for sweep in SWEEPS:
        n = len(sweep.family.members())
        assert (sweep.status().state, sweep.status().step, sweep.spec.trials) == ("finished", n, n)
        assert not sweep.status().live and sweep.importance() == {}


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda sweep: sweep.name)
def test_a_trial_has_its_members_values_scores_and_link(sweep):
    family = sweep.family
    for trial, (name, values) in zip(sweep.trials(), family.members().items(), strict=True):
        assert trial.settings == sizes_of(family, values)  # what followed a dial is told as it is
        dials = {**trial.link}
        assert dials.pop("model") == family.name
        assert load(family, **{**family.first, **{dial: values[dial] for dial in dials}}).source == repr(name)
        card = read_json(SHIPPED / name / CARD)
        if name in family.scored():
            assert trial.n == 3
            assert trial.value == pytest.approx(scores_of(family, values, family.scores[0])[0])
            means = {score: scores_of(family, values, score)[0] for score in family.scores[1:]}
            assert trial.others == pytest.approx(means)
        else:
            assert trial.values == {0: card["metrics"][family.scores[0]]} and trial.others == {}
        assert trial.seconds == card["training"].get("seconds")


def test_the_best_is_that_with_the_least_perplexity():
    best, trials = find("translator-sizes").best(), find("translator-sizes").trials()
    assert best is not None and best.turned == {"d_model": 128}
    assert best.value == fmean(best.values.values()) == min(trial.value or 0.0 for trial in trials)
    assert find("positions").spec.direction == "minimize"


@pytest.mark.parametrize("name", FAMILIES)
def test_nobody_may_go_on_with_it_stop_or_delete_it(name):
    for act in (start, delete, lambda name, by: ask(name, "stop", by=by)):
        with pytest.raises(NotAllowed, match=rf"^sweep '{name}' comes with the app, so nobody can"):
            act(name, by=MACHINE)
    assert (SHIPPED / name).is_dir()


def test_what_the_spec_of_a_grid_asks_for_are_its_members():
    for sweep in SWEEPS:
        assert sweep.repeats == (sweep.spec.n_points == len(sweep.trials()))
    assert "--set n_heads=1,2,4,8" in find("induction-sizes").spec.command()


def test_they_are_listed_without_torch():
    lines = "import sys; from attention_lab.models.sweeps import list_shipped; "
    lines += "[sweep.trials() for sweep in list_shipped()[1:]]; assert 'torch' not in sys.modules"
    assert run([sys.executable, "-c", lines]).returncode == 0
