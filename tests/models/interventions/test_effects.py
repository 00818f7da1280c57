"""Two passes beside each other: every number again in plain Python."""

import math
from collections.abc import Callable

import pytest
import torch

from attention_lab.models import compare, load_model
from tests.models.interventions.conftest import LETTERS, Letters

Make = Callable[..., Letters]
TEXT = "abcabd"
LINE = "encoder.0.self heads 1: zero"


def softmax(row: list[float]) -> list[float]:
    high = max(row)
    powers = [math.exp(x - high) for x in row]
    return [power / sum(powers) for power in powers]


def test_outputs_are_compared_in_nats(letters: Make) -> None:
    lm = letters("encoder-decoder")
    before, after = lm.trace(TEXT), lm.trace(TEXT, edits=[LINE])
    found = compare(before, after, lm.outputs)
    for at, rows in enumerate(zip(before["logits"].tolist(), after["logits"].tolist(), strict=True)):
        p, q = map(softmax, rows)
        kl = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
        assert found.kl[at].item() == pytest.approx(kl, abs=1e-12) and kl > 0
        assert (found.best_before[at], found.best_after[at]) == (p.index(max(p)), q.index(max(q)))
        listed = found.outputs(at, n=3)
        best = {
            *sorted(range(len(p)), key=lambda i: -p[i])[:3],
            *sorted(range(len(q)), key=lambda i: -q[i])[:3],
        }
        assert [o.number for o in listed] == sorted(best, key=lambda i: -p[i])
        for output in listed:
            assert output.name == LETTERS[output.number]
            assert (output.before, output.after) == pytest.approx((p[output.number], q[output.number]))


def test_patterns_and_the_stream_are_compared_by_plain_loops(letters: Make) -> None:
    lm = letters("encoder-decoder")
    before, after = lm.trace(TEXT), lm.trace(TEXT, edits=[LINE])
    found = compare(before, after)
    assert set(found.patterns) == {"encoder.self", "decoder.self", "decoder.cross"}
    for stack, (largest, variation) in found.patterns.items():
        side, kind = stack.split(".")
        for layer in range(2):
            for head in range(2):
                rows = [t[f"{side}.{layer}.{kind}.pattern"][head].tolist() for t in (before, after)]
                moved = [[abs(a - b) for a, b in zip(*pair, strict=True)] for pair in zip(*rows, strict=True)]
                assert largest[layer, head].item() == pytest.approx(max(map(max, moved)), abs=1e-12)
                distances = [sum(row) / 2 for row in moved]
                assert variation[layer, head].item() == pytest.approx(
                    sum(distances) / len(distances), abs=1e-12
                )
    assert (found.patterns["encoder.self"].largest[0] == 0).all()
    assert (found.patterns["encoder.self"].largest[1] > 0).all()
    for side, moved in found.stream.items():
        for place, address in enumerate(
            [f"{side}.0.resid_pre", f"{side}.0.resid_post", f"{side}.1.resid_post"]
        ):
            for at, (a, b) in enumerate(zip(before[address].tolist(), after[address].tolist(), strict=True)):
                expected = math.dist(a, b) / math.hypot(*a)
                assert moved[place, at].item() == pytest.approx(expected, abs=1e-12)


def test_what_traces_lack_is_left_out(letters: Make) -> None:
    lm = letters("encoder-only")
    trace = lm.trace(TEXT, reduce=lambda address, value: value if address == "encoder.0.resid_pre" else None)
    found = compare(trace, trace)
    assert len(found.kl) == 0 and found.patterns == {} and found.stream["encoder"].shape == (1, 6)


def test_traces_of_other_tokens_or_models_are_refused(letters: Make) -> None:
    lm = letters("encoder-only")
    with pytest.raises(ValueError) as error:
        compare(lm.trace(TEXT), lm.trace("abcadd"))
    assert str(error.value).startswith("the encoder's tokens differ in 1 of 6 places; compare traces of one ")
    with pytest.raises(
        ValueError, match=r"is \[6, 8\] before and \[6, 4\] after; compare traces of one model"
    ):
        compare(lm.trace(TEXT), letters("encoder-only", d_model=4, d_head=4).trace(TEXT))


def test_the_means_over_reference_texts_are_those_of_the_task() -> None:
    lm = load_model("translator")
    assert len(lm.references()) == 16
    z = torch.cat([lm.trace(reading)["encoder.1.self.z"] for reading in lm.references()], dim=1)
    edited = lm.trace("the animal was tired", edits=["encoder.1.self heads 2: mean of reference"])
    torch.testing.assert_close(
        edited["encoder.1.self.z"][2], z[2].mean(0).expand(6, -1), rtol=1e-5, atol=1e-6
    )
