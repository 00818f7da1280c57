"""What varies in a sweep: how it is written, read back, and what is refused."""

import pytest

from models.sweeps.space import Choices, Range, parse, variation


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
    assert {name: variation(varied.to_dict()) for name, varied in space.items()} == space


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("n_heads", "'n_heads' sets nothing; write it as n_heads=1,2,4 or n_heads=8"),
        ("rate=log(0,1)", "cannot be drawn on a logarithmic scale: give a first number above 0"),
        ("rate=log(1e-2,1e-4)", "holds no range: its first number must be the smaller one"),
        ("rate=uniform(1)", "rate=uniform(1) needs two numbers; write rate=uniform(1,8)"),
        ("rate=log(a,b)", "needs two numbers"),
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


@pytest.mark.parametrize("said", [{}, {"kind": "log"}, {"kind": "choices", "values": [[1]]}, {"kind": "x"}])
def test_what_describes_no_values_is_refused(said):
    with pytest.raises(ValueError):
        variation(said)
