"""Sweeps as the stage gets them, against one traced pass for each edit."""

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from torch.utils.flop_counter import FlopCounterMode

from attention_lab.models import load_model
from attention_lab.pages.explore import panel, sweep
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import operations_of, subject_of
from attention_lab.pages.explore.takeaway import StageView, csv_of, take_away
from attention_lab.pages.shared.work import BILLION

INPUTS = Inputs(edits="encoder.0: off")
WIDE = "the animal did not cross the street because it was too wide"


def test_each_head_alone_moves_the_logits_as_a_pass_without_it_does() -> None:
    found = sweep.run_sweep(INPUTS, "heads", "logits", 10)
    model = load_model("translator")
    reading = model.read(INPUTS.text)
    plain = model.trace(reading)["logits"][10]
    best, second = plain.topk(2).indices.tolist()
    assert found["title"] == f"logit of “{model.outputs[best]}” less that of “{model.outputs[second]}”"
    assert found["before"] == pytest.approx(float(plain[best] - plain[second]), rel=1e-4)
    assert list(found["effects"]) == ["encoder.self", "decoder.self", "decoder.cross"]
    for stack, rows in found["effects"].items():
        side, kind = stack.split(".")
        for layer, row in enumerate(rows):
            for head, effect in enumerate(row):
                off = model.trace(reading, edits=f"{side}.{layer}.{kind} heads {head}: zero")["logits"][10]
                change = float(off[best] - off[second] - plain[best] + plain[second])
                assert effect == pytest.approx(change, abs=2e-4)
    assert list(found["direct"]) == ["decoder.self", "decoder.cross"]


def test_each_position_of_another_text_is_patched_alone() -> None:
    found = sweep.run_sweep(INPUTS.unedited, "positions", "probability", 10, "zero", WIDE)
    model = load_model("translator")
    reading = model.read(INPUTS.text)
    p = model.trace(reading)["logits"][10].double().softmax(-1)
    best = int(p.argmax())
    edit = f'encoder.1.resid_pre at 12: from "{WIDE}"'
    after = model.trace(reading, edits=[edit])["logits"][10].double().softmax(-1)
    encoder = np.array(found["effects"]["encoder"])
    assert encoder.shape == (2, len(reading.tokens["encoder"]))
    assert encoder[1, 12] == pytest.approx(float(after[best] - p[best]), abs=1e-5)


def test_the_loss_of_what_is_written_can_be_looked_at() -> None:
    found = sweep.run_sweep(INPUTS, "heads", "loss", 3, "mean")
    assert found["title"].startswith("loss of what is written")
    assert np.shape(found["effects"]["encoder.self"]) == (2, 4)


def test_what_cannot_be_swept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = sweep.run_sweep(Inputs(model="masked", text="the cat sat"), "heads", "kl", 0, "zero", "")
    assert ("direct" in found) != ("notDirect" in found)
    monkeypatch.setattr(sweep, "MOST_BILLIONS", 0)
    with pytest.raises(ValueError, match="shorten the text, or take a smaller model"):
        sweep.run_sweep(INPUTS, "heads", "kl", 0, "zero", "")


def test_a_sweep_has_the_price_of_its_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = Inputs("untrained", "the cat sat", n_layers=3, n_heads=4)
    each = operations_of(inputs)
    assert sweep.price(inputs, "heads", "kl", 0, "zero", "") == 3 * 2 * 4 * each
    assert sweep.price(inputs, "positions", "kl", 0, "zero", "a b c") == 3 * 3 * each
    edited = Inputs("untrained", "the cat sat", "encoder.0: off", n_layers=3, n_heads=4)
    assert sweep.price(edited, "heads") == sweep.price(inputs, "heads")  # it is of the text without edits
    long = Inputs("untrained", "w " * 1_000, n_layers=8, n_heads=16)
    assert sweep.price(long, "positions") == sweep.MOST_BILLIONS * BILLION  # no more than is computed


def test_another_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="The other text has 20,001 characters; at most 20,000 are read"):
        sweep.run_sweep(INPUTS, "positions", "kl", 0, "zero", "x" * 20_001)


def test_positions_are_first_patched_from_a_text_of_as_many_tokens() -> None:
    assert panel.other_of(Inputs()) == WIDE
    review = "the plot was dull , but the acting was superb ."
    own = Inputs("sentiment", review)
    assert panel.other_of(own) == review  # the next example is shorter
    found = sweep.run_sweep(own, "positions", "logits", 0, "zero", review)
    assert max(abs(x) for row in found["effects"]["encoder"] for x in row) < 2e-6 * abs(found["before"])
    assert panel.other_of(Inputs("digits-classifier", "6")) == "7"


def test_a_score_costs_what_its_examples_do_however_short_the_text_is() -> None:
    """So a short text makes nobody of a class wait for a long sweep; counted by PyTorch."""
    short = Inputs(text="the")
    with FlopCounterMode(display=False) as counted:
        sweep._heads(subject_of(short), sweep.SweepRequest("heads", "score"), lambda share: None)
    assert counted.get_total_flops() <= sweep.price(short, "heads", "score")
    assert sweep.price(short, "heads", "score") == sweep.price(Inputs(), "heads", "score")
    assert sweep.price(short, "heads", "kl") < sweep.price(Inputs(), "heads", "kl")


PATH = {"sender": "encoder.0.self heads 2", "receiver": "encoder.1.self heads 3"}
STEP = 10


def shown(**view: Any) -> tuple[StageView, pd.DataFrame, dict[str, Any]]:
    """What is taken away at a step, its table, and what its lines of Python leave behind."""
    act = {"view": "sweep", "step": STEP, **view}
    found = StageView(Inputs(edits="encoder.0: off"), act)
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


def test_heads_take_what_they_give_in_another_text_and_the_code_takes_the_same() -> None:
    found, table, names = shown(put="from", other="the street is wide")  # of another length
    assert "direct_effect" not in table and found.sweep.title.startswith("Each head from another text:")
    for stack, values in names["sweep"].effects.items():
        mine = table[table["stack"] == stack]["effect"]
        np.testing.assert_allclose(mine, values.ravel(), rtol=1e-4, atol=1e-4)
    assert table["effect"].abs().max() > 0.1
    with pytest.raises(ValueError, match="score is of held-out examples with other positions"):
        sweep.run_sweep(INPUTS, "heads", "score", 0, "from", WIDE)


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
    assert "last norm's scale frozen" in str(found.sweep.figure(dark=True).layout.annotations)


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
    kl = found.sweep._result["kl"]
    expected = [float((plain * (plain / p).log()).sum()) for p in (*heard, whole)]
    assert kl == pytest.approx(expected, rel=1e-4)
    assert found.sweep.title == (
        "Path encoder.0.self heads 2: zero through k of encoder.1.self heads 3"
    )  # fmt: skip


def test_the_dialog_gets_all_of_it() -> None:
    found = take_away(Inputs(), {"view": "sweep", "goal": "score", "step": 0}, dark=False)
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
