"""Strips of a head over a knob's values, and runs at their steps."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from models.contrast import Side, at_step, contrast, knobs, strip
from models.runs.folder import RunFolder
from models.zoo.cards import SHIPPED
from tests.models.interventions.conftest import Letters, letters

Make = Callable[..., Letters]
__all__ = ["letters"]
RUN = SHIPPED / "induction" / "run"


def test_each_frame_is_the_head_under_its_value(letters: Make) -> None:
    lm = letters("decoder-only")
    side, told = Side(lm, "abcd"), []
    frames = strip(
        side, knobs()["temperature"], ["0.5", "1", "hot", "2"], "decoder.0.self", 1, told=told.append
    )
    scores = side.trace()["decoder.0.self.scores"][1]
    for frame, value in zip(frames, (0.5, 1.0, None, 2.0), strict=True):
        if value is None or frame.laid is None:
            assert (
                frame.said == "temperature='hot' is no number from 0.01 to 100; try 2" and frame.laid is None
            )
            continue
        assert frame.laid.a.equal(scores.softmax(dim=-1))
        torch.testing.assert_close(frame.laid.b, (scores / value).softmax(dim=-1), rtol=1e-12, atol=1e-12)
        assert frame.head == 1
    assert told == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_of_other_numbers_of_heads_the_one_that_owns_the_first_channel_is_shown(letters: Make) -> None:
    side = Side(letters("encoder-only", n_heads=4), "abcd")
    frames = strip(side, knobs()["heads"], ["1", "2", "4", "8"], "encoder.0.self", 3)
    assert [frame.head for frame in frames] == [0, 1, 3, 6]
    for frame in frames:
        turned = knobs()["heads"].applied(side, frame.value).trace()["encoder.0.self.pattern"]
        assert frame.laid is not None and frame.laid.b.equal(turned[frame.head])


def test_a_strip_that_is_too_large_or_of_nothing_is_refused(letters: Make) -> None:
    side, knob = Side(letters("decoder-only"), "abcd"), knobs()["temperature"]
    with pytest.raises(ValueError, match="17 values: a strip has 1 to 16; name so many"):
        strip(side, knob, ["2"] * 17, "decoder.0.self", 0)
    (frame,) = strip(side, knob, ["2"], "decoder.5.self", 0)
    assert frame.laid is None and frame.said.startswith(
        "side a has no head 0 at decoder.5.self: its attentions"
    )


def test_two_steps_of_a_run_are_compared_as_they_were_kept() -> None:
    run = RunFolder(RUN)
    first, last = run.snapshots()[0], run.snapshots()[-1]
    c = contrast(at_step(RUN, first), at_step(RUN, last))
    assert c.outputs is None and "no outputs" in c.note
    (stack,) = c.moved
    for address, before in run.snapshot(first).items():
        layer = int(address.split(".")[1])
        moved = (before.double() - run.snapshot(last)[address].double()).abs().sum(dim=-1).mean(dim=-1) / 2
        torch.testing.assert_close(c.moved[stack][layer], moved, rtol=1e-6, atol=1e-6)
    assert c.aligned["decoder"].a == tuple(run.probe()["tokens"]["decoder"])


def test_a_step_is_compared_with_the_weights_of_the_end() -> None:
    from models import load_model

    run = RunFolder(RUN)
    last = at_step(RUN, run.snapshots()[-1])
    c = contrast(last, Side(load_model("induction"), last.text))
    assert c.moved["decoder.self"].max() < 1e-3
    assert last.model.attention("decoder.self").n_layers == len(c.moved["decoder.self"])
    assert knobs()["temperature"].why_not(last).startswith("the scores of 'run at step")


def test_a_step_that_kept_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"step=-1 of 'run' kept no heads; choose one of 0, "):
        at_step(RUN, -1)
    with pytest.raises(ValueError, match="kept no heads; open a run that has snapshots"):
        at_step(tmp_path, 0)
