"""The task's score under sweeps, beside the task's own and beside one edited pass for each example."""

import pytest
import torch

from models import load_model
from models.data.tasks import IGNORED, generator_of
from models.interventions.direct import direct_heads
from models.interventions.sweep import sweep_heads, sweep_positions

MODELS = ("induction", "digits-classifier")


def share_right(name: str, edits: list[str]) -> float:
    """Of 16 held-out examples, one pass each."""
    lm = load_model(name)
    right = asked = 0
    for reading, targets in lm.examples():
        best = lm.trace(reading, edits=edits)["logits"].argmax(dim=-1)
        where = targets != IGNORED
        right += int((best == targets)[where].sum())
        asked += int(where.sum())
    return right / asked


@pytest.mark.parametrize("name", MODELS)
def test_each_head_alone_costs_the_answers_that_it_costs_one_by_one(name: str) -> None:
    lm = load_model(name)
    batch = lm.task.batch(generator_of(0, 0), 16, held_out=True)
    with torch.no_grad():
        logits, targets = lm.task.answers(lm.model, batch)
    shares: list[float] = []
    found = sweep_heads(lm, lm.examples()[0].reading, "score", told=shares.append)
    assert found.before == pytest.approx(float((logits.argmax(-1) == targets).double().mean()))
    assert len(shares) == 16 and shares == sorted(shares)
    for stack, effects in found.effects.items():
        side, kind = stack.split(".")
        layer, head = divmod(int(effects.argmin()), effects.shape[1])
        off = share_right(name, [f"{side}.{layer}.{kind} heads {head}: zero"])
        assert float(effects[layer, head]) == pytest.approx(off - found.before)
    assert min(float(effects.min()) for effects in found.effects.values()) < 0


def test_a_mean_in_place_of_a_head_is_of_each_example_alone() -> None:
    lm = load_model("translator")  # its examples are of several lengths
    found = sweep_heads(lm, lm.read("the cat sleeps"), "score", change="mean")
    effects = found.effects["decoder.cross"]
    layer, head = divmod(int(effects.argmin()), effects.shape[1])
    off = share_right("translator", [f"decoder.{layer}.cross heads {head}: mean"])
    assert float(effects[layer, head]) == pytest.approx(off - found.before)


def test_where_there_is_no_score_a_sentence_says_so() -> None:
    lm = load_model("digits-autoencoder")
    assert not lm.scored
    with pytest.raises(ValueError) as error:
        sweep_heads(lm, lm.read("1"), "score")
    assert str(error.value) == (
        "'digits-autoencoder' brings no held-out examples with answers, so it has no score; choose another"
    )
    lm = load_model("translator")
    reading, sentence = lm.read("the cat sleeps"), "score is of held-out examples and not of this text"
    with pytest.raises(ValueError, match=sentence):
        direct_heads(lm, reading, "score")
    with pytest.raises(ValueError, match=sentence):
        sweep_positions(lm, reading, "score", "the cat sleeps")
