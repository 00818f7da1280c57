"""Sweeps as folders: made, found, listed, read, deleted; whose they are; and what is refused."""

import itertools
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from attention_lab.models import sweeps
from attention_lab.models.runs.folder import Status, write_status
from attention_lab.models.runs.owners import MACHINE, PERSON, NotAllowed, Visitor
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.sweeps import Choices, Range, Spec
from attention_lab.models.sweeps.plan import plan

SMALL = {"n_layers": 1, "d_model": 24, "steps": 5, "batch_size": 4, "device": "cpu"}
GRID = Spec(
    task="reverse",
    fixed=SMALL,
    space={"n_heads": Choices((1, 2, 5)), "norm": Choices(("pre", "post"))},
    seeds=2,
)


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def test_a_grid_counts_what_makes_a_model():
    found = plan(GRID)
    wanted = [{"n_heads": h, "norm": n} for h, n in itertools.product((1, 2), ("pre", "post"))]
    assert found.points == wanted
    assert [settings for settings, _ in found.skipped] == [
        {"n_heads": 5, "norm": "pre"}, {"n_heads": 5, "norm": "post"}
    ]  # fmt: skip
    assert found.n_runs == 8
    assert found.sentence.startswith(
        "4 settings × 2 seeds = 8 runs; left out, as they make no model: n_heads=5"
    )
    assert (found.spec.score, found.spec.direction) == ("exact match", "maximize")
    assert found.config.model.n_heads == 2


def test_fewer_trials_than_the_grid_has_are_drawn():
    few = plan(Spec(task="reverse", fixed=SMALL, space={"n_heads": Choices((1, 2, 3, 4, 6, 8))}, trials=3))
    assert (few.spec.sampler, few.spec.trials) == ("random", 3)
    assert len({point["n_heads"] for point in few.points}) == 3
    rates = {"learning_rate": Range("log", 1e-4, 1e-2)}
    assert (
        len(plan(Spec(task="reverse", fixed=SMALL, space=rates, trials=40)).points) == 10
    )  # the rest is TPE's


def test_draws_end_where_there_are_no_more_settings():
    space = {"n_heads": Choices((1, 2, 5)), "n_layers": Choices((1, 2))}
    found = plan(
        Spec(task="reverse", fixed={"d_model": 24, "steps": 5}, space=space, trials=6, sampler="random")
    )
    assert (found.spec.trials, len(found.points), len(found.skipped)) == (4, 4, 2)


def test_the_loss_is_better_when_it_is_less_and_a_score_when_it_is_more():
    space = {"learning_rate": Range("log", 1e-4, 1e-2)}
    by_loss = plan(Spec(task="reverse", fixed=SMALL, space=space, score="loss")).spec
    assert (by_loss.direction, by_loss.how, by_loss.trials) == ("minimize", "tpe", 20)
    with pytest.raises(
        ValueError, match="task 'reverse' has no score 'accuracy'; known are exact match, loss"
    ):
        plan(Spec(task="reverse", fixed=SMALL, space=space, score="accuracy"))


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"nheads": Choices((1, 2))}, "'nheads' is nothing that can be set; did you mean n_heads"),
        ({"n_heads": Choices((5, 7))}, "none of the 2 settings makes a model: d_model=24 is not divisible"),
        ({"n_heads": Range("int", 25, 30)}, "settings makes a model: d_model=24 is not divisible"),
        ({"vocab_size": Choices((5, 7))}, "vocab_size follows from task 'reverse' and cannot be set"),
    ],
)
def test_settings_of_no_model_are_refused_before_anything_is_made(root, space, said):
    with pytest.raises(ValueError) as refusal:
        sweeps.create(Spec(task="reverse", fixed=SMALL, space=space), by=MACHINE)
    assert said in str(refusal.value)
    assert sweeps.list_sweeps() == [] and not (root / ".sweeps").exists()


def test_a_grid_of_ten_thousand_is_refused_with_its_count(set_limits):
    large = {name: Choices(tuple(range(1, 101))) for name in ("batch_size", "warmup_steps")}
    fixed = {name: value for name, value in SMALL.items() if name != "batch_size"}
    with pytest.raises(
        JobRefused,
        match=r"10,000 settings × 1 seed = 10,000 runs, and .* at most 200 settings; list fewer values, or",
    ):
        plan(Spec(task="reverse", fixed=fixed, space=large))
    assert plan(Spec(task="reverse", fixed=fixed, space=large, trials=30)).spec.trials == 30
    set_limits(visitor_sweep_runs=3)
    with pytest.raises(JobRefused, match="8 runs, and a sweep has at most 3 runs; list fewer values"):
        plan(GRID, by=Visitor("a"))
    set_limits(visitor_sweep_runs=0)
    with pytest.raises(JobRefused, match="visitors start no sweeps here"):
        plan(GRID, by=Visitor("a"))


def test_a_sweep_is_made_found_read_and_deleted():
    made = sweeps.create(Spec(**{**vars(GRID), "name": "heads"}), by=PERSON)
    assert [sweep.name for sweep in sweeps.list_sweeps()] == ["heads"]
    found = sweeps.find("heads")
    assert found.spec == plan(Spec(**{**vars(GRID), "name": "heads"})).spec
    assert [(trial.number, trial.settings, trial.state) for trial in found.trials()] == [
        (at, settings, "waiting") for at, settings in enumerate(plan(GRID).points)
    ]
    assert (found.importance(), found.best(), found.status().live) == ({}, None, False)
    with pytest.raises(ValueError, match=r"there is a sweep 'heads' already; .* such as 'heads-2'"):
        sweeps.create(Spec(**{**vars(GRID), "name": "heads"}), by=PERSON)
    assert made.name == found.name != sweeps.create(GRID, by=PERSON).name
    sweeps.delete("heads", by=PERSON)
    with pytest.raises(ValueError, match="there is no sweep 'heads'"):
        sweeps.find("heads")


@pytest.mark.parametrize("name", ["..", "a/b", "", "A", "x" * 60])
def test_a_name_leads_nowhere_else(name):
    with pytest.raises(ValueError, match="there is no sweep"):
        sweeps.find(name)


def test_a_sweep_belongs_to_its_visitor():
    one, other = Visitor("one"), Visitor("other")
    sweep = sweeps.create(Spec(**{**vars(GRID), "name": "mine"}), by=one)
    assert sweep.may_change(one) and not sweep.may_see(other)
    for act in (sweeps.start, partial(sweeps.ask, what="stop"), sweeps.delete):
        with pytest.raises(NotAllowed, match="this sweep is another visitor's"):
            act("mine", by=other)


def test_what_works_or_is_done_is_not_started_again():
    sweep = sweeps.create(Spec(**{**vars(GRID), "name": "mine"}), by=PERSON)
    write_status(sweep.path, Status(state="finished", step=4, steps=4))
    with pytest.raises(JobRefused, match="sweep 'mine' has tried its 4 settings; start a new one"):
        sweeps.start("mine", by=PERSON)


def test_a_damaged_folder_says_which_file():
    sweep = sweeps.create(Spec(**{**vars(GRID), "name": "mine"}), by=PERSON)
    (sweep.path / "journal.log").write_text('{"op_code":0}\n{"op\n{}\n')
    with pytest.raises(ValueError, match=r"journal.log' is damaged"):
        sweep.trials()
    (sweep.path / "sweep.json").write_text('{"version": 1, "spec": {"task": 3}}')
    with pytest.raises(ValueError, match=r"sweep.json' describes no sweep"):
        _ = sweep.spec


def test_sweeps_are_read_without_torch():
    sweeps.create(Spec(**{**vars(GRID), "name": "mine"}), by=PERSON)
    code = """
import sys
from attention_lab.models import sweeps
found = sweeps.list_sweeps()[0]
assert len(found.trials()) == 4 and found.spec.seeds == 2 and not found.status().live
found.importance()
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=True)
