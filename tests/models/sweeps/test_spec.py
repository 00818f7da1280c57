"""What a sweep is asked for: its defaults, its trip through JSON and the command line, and its refusals."""

import json
import shlex

import pytest

from models.sweeps.space import Choices, Range, parse
from models.sweeps.spec import Spec

HEADS, RATE = Choices((1, 2, 4)), Range("log", 1e-4, 1e-2)


def test_the_sampler_follows_from_the_space():
    assert Spec(task="copy", space={"n_heads": HEADS}).how == "grid"
    assert Spec(task="copy", space={"n_heads": HEADS, "learning_rate": RATE}).how == "tpe"
    assert Spec(task="copy", space={"n_heads": HEADS}, sampler="random").how == "random"
    assert Spec(task="copy", space={"n_heads": HEADS, "d_model": Choices((8, 16))}).n_points == 6
    assert Spec(task="copy", space={"learning_rate": RATE}).n_points is None


def test_seeds_follow_the_first():
    assert Spec(task="copy", space={"n_heads": HEADS}, seeds=3).seed_list == (0, 1, 2)
    assert Spec(task="copy", space={"n_heads": HEADS}, seeds=2, fixed={"seed": 7}).seed_list == (7, 8)


def test_a_spec_survives_json_and_its_own_command():
    spec = Spec(
        task="reverse", space={"n_heads": HEADS, "learning_rate": RATE}, name="heads", fixed={"steps": 100},
        seeds=3, trials=40, sampler="random", score="loss", prune="asha",
    )  # fmt: skip
    assert Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    words = shlex.split(spec.command())
    assert words[:6] == ["python", "-m", "models.training", "sweep", "--task", "reverse"]
    lines = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
    assert parse(lines) == (spec.fixed, spec.space)
    assert words[-10:] == [
        "--trials", "40", "--sampler", "random", "--score", "loss", "--name", "heads", "--prune", "asha"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"space": {}}, "nothing varies; give a setting several values"),
        ({"name": "My Sweep"}, "'My Sweep' is no name of a sweep"),
        ({"name": "../x"}, "such as 'x'"),
        ({"space": {"seed": HEADS}}, "seed cannot vary: every trial is trained with the same seeds"),
        ({"fixed": {"n_heads": 4}}, "n_heads is fixed and varies; keep one of the two"),
        ({"seeds": 0}, "seeds=0 is no whole number from 1 to 100"),
        ({"sampler": "grid", "space": {"learning_rate": RATE}}, "list some, such as learning_rate=0.0001,0."),
        ({"sampler": "best"}, "sampler='best' is unknown; choose one of grid, random, tpe"),
        ({"prune": "some"}, "choose one of none, asha"),
        ({"space": {f"s{n}": Choices(tuple(range(100))) for n in range(7)}}, "list fewer values"),
    ],
)
def test_what_is_no_sweep_is_refused_with_a_remedy(values, said):
    with pytest.raises(ValueError) as refusal:
        Spec(**{"task": "copy", "space": {"n_heads": HEADS}, **values})
    assert said in str(refusal.value)


@pytest.mark.parametrize("said", [{}, {"task": "copy"}, {"task": "copy", "space": 3}, {"odd": 1}])
def test_json_that_describes_no_sweep_is_refused(said):
    with pytest.raises(ValueError):
        Spec.from_dict(said)


def test_whole_numbers_that_are_proposed_for_a_grid_are_written_out():
    with pytest.raises(ValueError, match="list some, such as batch_size=1,5000,10000, or choose sampler tpe"):
        Spec(task="copy", space={"batch_size": Range("int", 1, 10_000)}, sampler="grid")
