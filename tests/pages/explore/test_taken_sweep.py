"""Sweeps, parts and paths taken away: the figure, the table, and the Python that gives the same numbers."""

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from models import load_model
from pages.explore.state import Inputs
from pages.explore.taken import Shown, taken
from pages.explore.taken_table import csv_of

PATH = {"sender": "encoder.0.self heads 2", "receiver": "encoder.1.self heads 3"}
STEP = 10


def shown(**view: Any) -> tuple[Shown, pd.DataFrame, dict[str, Any]]:
    """What is taken away at a step, its table, and what its lines of Python leave behind."""
    act = {"view": "sweep", "step": STEP, **view}
    found = Shown(Inputs(edits="encoder.0: off"), act)
    names: dict[str, Any] = {}
    exec(found.sweep.code, names)
    return found, pd.read_csv(io.StringIO(csv_of(found))), names


def test_a_sweep_of_heads_is_a_table_with_direct_effects_and_its_code_gives_them() -> None:
    found, table, names = shown(put="mean")
    effects = names["sweep"].effects
    for stack, values in effects.items():
        mine = table[table["stack"] == stack]
        np.testing.assert_allclose(mine["effect"], values.ravel(), atol=2e-4)
        assert mine["direct_effect"].isna().all() == (stack == "encoder.self")
    figure = found.sweep.figure(dark=False)
    drawn = [trace.z for trace in figure.data if trace.type == "heatmap"]
    np.testing.assert_allclose(np.array(drawn[0], dtype=float), effects["encoder.self"], atol=2e-4)
    assert found.sweep.title.startswith(
        "Each head switched off alone: what it does to the logit of “il” less"
    )
    assert found.sweep.file_name == "sweep-heads"


def test_a_sweep_of_positions_names_their_tokens() -> None:
    wide = Inputs().text.replace("tired", "wide")
    _, table, names = shown(sweep="positions", goal="probability", other=wide)
    encoder = table[table["stack"] == "encoder"]
    np.testing.assert_allclose(encoder["effect"], names["sweep"].effects["encoder"].ravel(), atol=1e-5)
    assert list(encoder["token"])[:3] == ["<2fr>", "the", "animal"]


@pytest.mark.parametrize("goal", ["logits", "logit"])
def test_the_parts_of_a_logit_sum_to_it(goal: str) -> None:
    found, table, names = shown(sweep="parts", goal=goal)
    model = load_model("translator")
    logits = model.trace(Inputs().text)["logits"][STEP]
    best, second = logits.topk(2).indices.tolist()
    total = float(logits[best] - (logits[second] if goal == "logits" else 0))
    assert table["logit"].sum() == pytest.approx(total, abs=1e-3)
    sums = names["sums"]
    for name, value in table.itertuples(index=False):
        part = float(sums[name][best] - (sums[name][second] if goal == "logits" else 0))
        assert value == pytest.approx(part, abs=1e-4)
    assert list(table["logit"].abs()) == sorted(table["logit"].abs(), reverse=True)
    assert "bias" in set(table["part"]) and len(table) == len(sums)
    assert "scale of the last norm frozen" in str(found.sweep.figure(dark=True).layout.annotations)


def test_a_path_between_two_heads_is_seen_beside_the_whole_effect() -> None:
    found, table, names = shown(sweep="path", **PATH, through="k")
    model = load_model("translator")
    reading = model.read(Inputs().text)
    whole = model.trace(reading, edits=[f"{PATH['sender']}: zero"])["logits"][STEP].double().softmax(-1)
    made = (names[name]["logits"][STEP] for name in ("before", "heard", "direct"))
    plain, *heard = (logits.double().softmax(-1) for logits in made)
    for output, *values in table.itertuples(index=False):
        at = model.outputs.index(output)
        np.testing.assert_allclose(values, [float(p[at]) for p in (plain, *heard, whole)], rtol=1e-4)
    assert not heard[0].equal(plain) and not heard[0].equal(heard[1])
    kl = found.sweep._found["kl"]
    expected = [float((plain * (plain / p).log()).sum()) for p in (*heard, whole)]
    assert kl == pytest.approx(expected, rel=1e-4)
    assert found.sweep.title == (
        "Path encoder.0.self heads 2: zero through k of encoder.1.self heads 3"
    )  # fmt: skip


def test_the_dialog_gets_all_of_it() -> None:
    found = taken(Inputs(), {"view": "sweep", "goal": "score", "step": 0}, dark=False)
    assert found.table == "This sweep"
    assert "share of right answers in 16 held-out examples of its task, now 1" in found.title
    assert found.code.endswith("sweep = sweep_heads(lm, reading, 'score', change='zero')")


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        ({"sweep": "parts", "goal": "kl"}, "kl at 10 is no sum of parts; choose a logit"),
        ({"sweep": "path", "sender": "encoder.0.ff", "receiver": "x"}, "no|write|unknown"),
        ({"sweep": "path", **PATH, "receiver": "encoder.0.self heads 1"}, "name a later receiver"),
        ({"sweep": "path", **PATH, "sender": "encoder.0.self heads 9"}, "give 0 to 3"),
    ],
)
def test_what_is_no_sum_or_no_path_is_refused(view: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        shown(**view)
