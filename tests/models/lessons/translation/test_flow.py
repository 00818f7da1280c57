"""The order of the data's way, and what is looked at on it."""

import math

import pytest
import torch

from models.engine.trace import Trace
from models.lessons.translation import flow
from models.lessons.translation.flow import Moment
from models.lessons.translation.reading import Reading
from tests.models.lessons.translation.conftest import ids_of


def test_the_encoder_runs_once_and_the_decoder_once_a_word():
    moments = flow.moments(2, 3)
    assert moments[:6] == [
        Moment(None, "embed"), Moment(None, "self", 0), Moment(None, "ff", 0),
        Moment(None, "self", 1), Moment(None, "ff", 1), Moment(None, "memory"),
    ]  # fmt: skip
    assert len(moments) == 6 + 3 * 10
    for step in range(3):
        own = [(moment.stage, moment.layer) for moment in moments if moment.step == step]
        layers = [(stage, layer) for layer in range(2) for stage in ("self", "cross", "ff")]
        ends = [("linear", None), ("softmax", None), ("word", None)]
        assert own == [("embed", None), *layers, *ends]


def prefix_trace(read: Reading, step: int) -> Trace:
    trace = Trace()
    with torch.no_grad():
        read.model(read.source_ids, read.target_ids[:, : step + 1], trace=trace)
    return trace


def test_weights_are_those_of_the_words_so_far_alone(tired: Reading):
    for step in (0, 4, 10):
        alone = prefix_trace(tired, step)
        for layer in range(2):
            for stage in ("self", "cross"):
                looked = flow.looks(tired.trace, Moment(step, stage, layer))
                expected = alone[f"decoder.{layer}.{stage}.pattern"][:, -1]
                torch.testing.assert_close(looked, expected, rtol=1e-4, atol=1e-5)
        crossed = flow.crossed(tired.trace, 2, step)
        torch.testing.assert_close(crossed[1], alone["decoder.1.cross.pattern"][:, -1], rtol=1e-4, atol=1e-5)


def test_the_likeliest_words_of_a_step_are_those_of_that_step_alone(tired: Reading):
    words, chances = flow.likeliest(tired.logits, 8)
    assert words[:, 0].tolist() == ids_of(tired)
    for step, logits in enumerate(tired.logits):
        exponentials = [math.exp(logit) for logit in logits.double().tolist()]
        expected = sorted(range(len(logits)), key=lambda id_: -exponentials[id_])[:8]
        assert words[step].tolist() == expected
        total = sum(exponentials)
        assert chances[step].tolist() == pytest.approx(
            [exponentials[id_] / total for id_ in expected], rel=1e-4
        )
