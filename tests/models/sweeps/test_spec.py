"""What varies in a sweep: how it is written, read back, and what is refused."""

import json
import shlex

import pytest

from attention_lab.models.sweeps.spec import Choices, Range, Spec, parse


def test_lines_are_fixed_choices_or_ranges(tmp_path):
    own = tmp_path / "a,b.txt"
    own.write_text("a text")
    fixed, space = parse(
        [
            "steps=2_000",
            "n_heads=1,2,4",
            "learning_rate=log(1e-4, 1e-2)",
            "dropout=uniform(0,0.5)",
            "n-layers=int(1,4)",
            "norm=pre,post",
            "tied_embeddings=true,false",
            "d_ff=none",
            "mask_argument=0,1;1,1",
            f"text={own}",
        ]
    )
    assert fixed == {"steps": 2000, "d_ff": None, "mask_argument": "0,1;1,1", "text": str(own)}
    assert space == {
        "n_heads": Choices((1, 2, 4)),
        "learning_rate": Range("log", 1e-4, 1e-2),
        "dropout": Range("uniform", 0, 0.5),
        "n_layers": Range("int", 1, 4),
        "norm": Choices(("pre", "post")),
        "tied_embeddings": Choices((True, False)),
    }
    again = parse([f"{name}={varied}" for name, varied in space.items()])[1]
    assert again == space
    assert Spec.from_dict(Spec(task="reverse", space=space).to_dict()).space == space


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("n_heads", "'n_heads' sets nothing; write it as n_heads=1,2,4 or n_heads=8"),
        ("rate=log(0,1)", "cannot be drawn on a logarithmic scale: give a first number above 0"),
        ("rate=log(1e-2,1e-4)", "holds no range: its first number must be the smaller one"),
        ("rate=uniform(1)", "rate=uniform(1) needs two numbers; write rate=uniform(1,8)"),
        ("heads=int(1.5,4)", "needs whole numbers; write int(1,8), or uniform(0.1,0.5)"),
        ("heads=1,2,1", "'1' is among the choices twice; name it once"),
        ("heads=" + ",".join(map(str, range(101))), "101 choices of one setting: give 1 to 100"),
    ],
)
def test_a_line_that_says_no_values_is_refused_with_a_remedy(line, said):
    with pytest.raises(ValueError) as refusal:
        parse([line])
    assert said in str(refusal.value)


def test_a_setting_is_named_once():
    with pytest.raises(ValueError, match="n_heads is set twice"):
        parse(["n_heads=1,2", "n_heads=4"])


HEADS, RATE = Choices((1, 2, 4)), Range("log", 1e-4, 1e-2)


def test_the_sampler_follows_from_the_space():
    assert Spec(task="reverse", space={"n_heads": HEADS}).how == "grid"
    assert Spec(task="reverse", space={"n_heads": HEADS, "learning_rate": RATE}).how == "tpe"
    assert Spec(task="reverse", space={"n_heads": HEADS}, sampler="random").how == "random"
    assert Spec(task="reverse", space={"n_heads": HEADS}, trials=2).how == "random"
    assert Spec(task="reverse", space={"n_heads": HEADS}, trials=3).how == "grid"
    assert Spec(task="reverse", space={"n_heads": HEADS, "d_model": Choices((8, 16))}).n_points == 6
    assert Spec(task="reverse", space={"learning_rate": RATE}).n_points is None


def test_seeds_follow_the_first():
    assert Spec(task="reverse", space={"n_heads": HEADS}, seeds=3).seed_list == (0, 1, 2)
    assert Spec(task="reverse", space={"n_heads": HEADS}, seeds=2, fixed={"seed": 7}).seed_list == (7, 8)


def test_a_spec_survives_json_and_its_own_command():
    spec = Spec(
        task="reverse", space={"n_heads": HEADS, "learning_rate": RATE}, name="heads", fixed={"steps": 100},
        seeds=3, trials=40, sampler="random", score="loss", prune="asha",
    )  # fmt: skip
    assert Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    words = shlex.split(spec.command())
    assert words[:6] == ["python", "-m", "attention_lab.models.training", "sweep", "--task", "reverse"]
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
        ({"space": {"seed": HEADS}}, "seed cannot vary: every trial is trained with the same seeds"),
        ({"fixed": {"n_heads": 4}}, "n_heads is fixed and varies; keep one of the two"),
        ({"seeds": 0}, "seeds=0 is not within 1 to 100"),
        ({"sampler": "grid", "space": {"learning_rate": RATE}}, "list some, or choose sampler tpe"),
        ({"sampler": "best"}, "sampler='best' is unknown; choose one of grid, random, tpe"),
        ({"prune": "some"}, "choose one of none, asha"),
    ],
)
def test_what_is_no_sweep_is_refused_with_a_remedy(values, said):
    with pytest.raises(ValueError) as refusal:
        Spec(**{"task": "reverse", "space": {"n_heads": HEADS}, **values})
    assert said in str(refusal.value)


NO_VALUES = [{}, {"kind": "log"}, {"kind": "choices", "values": [[1]]}, {"kind": "x"}]


@pytest.mark.parametrize(
    "said",
    [
        *({"task": "reverse", "space": {"n_heads": values}} for values in NO_VALUES),
        *({}, {"task": "reverse"}, {"task": "reverse", "space": 3}, {"odd": 1}),
    ],
)
def test_json_that_describes_no_sweep_is_refused(said):
    with pytest.raises(ValueError):
        Spec.from_dict(said)
