"""The order of the data's way, and what is looked at on it."""

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


def test_candidates_are_what_is_written_then_the_next_best(tired: Reading):
    written = ids_of(tired)
    found = flow.candidates(tired.logits, written, 16)
    different = list(dict.fromkeys(written))
    assert found[: len(different)] == different
    assert len(set(found)) == len(found) == 16
    highest = tired.logits.softmax(dim=-1).amax(dim=0)
    others = [id_ for id_ in highest.argsort(descending=True).tolist() if id_ not in different]
    assert found[len(different) :] == others[: 16 - len(different)]
    assert flow.candidates(tired.logits, written, 5) == different[:5]
