"""Sweeps as the stage gets them, against one traced pass for each edit."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from models import load_model
from pages.explore import controls, swept
from pages.explore.price import operations_of
from pages.explore.state import Inputs
from pages.explore.subject import subject_of
from pages.shared.affordable import BILLION

INPUTS = Inputs(edits="encoder.0: off")
WIDE = "the animal did not cross the street because it was too wide"


def test_each_head_alone_moves_the_logits_as_a_pass_without_it_does() -> None:
    found = swept.made(INPUTS, "heads", "logits", 10)
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
    found = swept.made(INPUTS.unedited, "positions", "probability", 10, "zero", WIDE)
    model = load_model("translator")
    reading = model.read(INPUTS.text)
    p = model.trace(reading)["logits"][10].double().softmax(-1)
    best = int(p.argmax())
    edit = f'encoder.1.resid_pre at 12: from "{WIDE}"'
    after = model.trace(reading, edits=[edit])["logits"][10].double().softmax(-1)
    encoder = np.array(found["effects"]["encoder"])
    assert encoder.shape == (2, len(reading.tokens["encoder"]))
    assert encoder[1, 12] == pytest.approx(float(after[best] - p[best]), abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "title"), [("kl", "KL(before ‖ after)"), ("loss", "loss of what is written")]
)
def test_other_numbers_can_be_looked_at(kind: str, title: str) -> None:
    found = swept.made(INPUTS, "heads", kind, 3, "mean")
    assert found["title"].startswith(title)
    assert torch.tensor(found["effects"]["encoder.self"]).shape == (2, 4)


def test_what_cannot_be_swept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="give a text of as many tokens"):
        swept.made(INPUTS, "positions", "kl", 0, "zero", "the animal")
    found = swept.made(Inputs(model="masked", text="the cat sat"), "heads", "kl", 0, "zero", "")
    assert ("direct" in found) != ("notDirect" in found)
    monkeypatch.setattr(swept, "MOST_BILLIONS", 0)
    with pytest.raises(ValueError, match="take a shorter text, or a smaller model"):
        swept.made(INPUTS, "heads", "kl", 0, "zero", "")


def test_a_sweep_has_the_price_of_its_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = Inputs("untrained", "the cat sat", n_layers=3, n_heads=4)
    each = operations_of(inputs)
    assert swept.price(inputs, "heads", "kl", 0, "zero", "") == 3 * 2 * 4 * each
    assert swept.price(inputs, "positions", "kl", 0, "zero", "a b c") == 3 * 3 * each
    edited = Inputs("untrained", "the cat sat", "encoder.0: off", n_layers=3, n_heads=4)
    assert swept.price(edited, "heads") == swept.price(inputs, "heads")  # it is of the text without edits
    long = Inputs("untrained", "w " * 1_000, n_layers=8, n_heads=16)
    assert swept.price(long, "positions") == swept.MOST_BILLIONS * BILLION  # no more than is computed


def test_another_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="The other text has 20,001 characters; at most 20,000 are read"):
        swept.made(INPUTS, "positions", "kl", 0, "zero", "x" * 20_001)


def test_a_sweep_tells_how_far_it_is_and_ends_where_that_raises() -> None:
    class EndedError(Exception):
        pass

    def told(share: float) -> None:
        raise EndedError

    for of in ("heads", "positions"):
        with pytest.raises(EndedError):
            swept.made(INPUTS, of, "kl", 0, "zero", WIDE, told=told)


def test_positions_are_first_patched_from_a_text_of_as_many_tokens() -> None:
    assert controls.other_of(Inputs()) == WIDE
    review = "the plot was dull , but the acting was superb ."
    own = Inputs("sentiment", review)
    assert controls.other_of(own) == review  # the next example is shorter
    found = swept.made(own, "positions", "logits", 0, "zero", review)
    assert max(abs(x) for row in found["effects"]["encoder"] for x in row) < 2e-6 * abs(found["before"])
    assert controls.other_of(Inputs("digits-classifier", "6")) == "7"


def test_a_score_costs_what_its_examples_do_however_short_the_text_is() -> None:
    """So a short text makes nobody of a class wait for a long sweep; counted by PyTorch."""
    short = Inputs(text="the")
    with FlopCounterMode(display=False) as counted:
        swept._heads(subject_of(short), swept.Wish("heads", "score"), lambda share: None)
    assert counted.get_total_flops() <= swept.price(short, "heads", "score")
    assert swept.price(short, "heads", "score") == swept.price(Inputs(), "heads", "score")
    assert swept.price(short, "heads", "kl") < swept.price(Inputs(), "heads", "kl")
