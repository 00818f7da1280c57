"""A finding holds when what its paper claims is measured, and not when a part of the claim is missing."""

from dataclasses import replace

import pytest
import torch

from models.findings import (
    copy_suppression,
    explanation,
    findings,
    indirect_object,
    induction,
    no_sink,
    positional,
    pruning,
    sinks,
)
from models.findings.no_sink import OnFirst
from models.findings.positional import Seen
from models.findings.pruned import Quality
from models.zoo.model import Attention


def test_rare_words_are_looked_at_in_the_papers_66_of_100_cases() -> None:
    assert "66% of the words" in findings()["rare-words"].words()[0]


@pytest.mark.parametrize(
    ("layers", "costs", "holds"),
    [
        ([0.0, 0.0, 0.6, 0.7], [5.0, 5000.0, 5.2], True),
        ([0.9, 0.9, 0.1, 0.1], [5.0, 5000.0, 5.2], False),  # in the lowest layers alone
        ([0.0, 0.0, 0.6, 0.7], [5.0, 5.3, 5.2], False),  # nothing is ruined
        ([0.0, 0.0, 0.6, 0.7], [5.0, 5000.0, 50.0], False),  # nothing is restored
    ],
)
def test_sinks(layers: list[float], costs: list[float], holds: bool) -> None:
    heads = torch.tensor(layers)[:, None].expand(-1, 3)
    assert sinks._outcome(heads, range(4), [costs], 64, 4, 0.3, 16).holds is holds


@pytest.mark.parametrize(("apart", "holds"), [([0.4, 0.6, 0.0], True), ([0.3, 0.6, 0.0], False)])
def test_attention_is_no_explanation_where_very_different_weights_answer_alike(
    apart: list[float], holds: bool
) -> None:
    agree = torch.tensor([0.1, 0.2, 0.3])
    assert explanation._outcome(agree, agree, torch.tensor(apart), 20, 0.01).holds is holds


@pytest.mark.parametrize(
    ("offset", "weight", "holds"), [(-1, 0.9, True), (1, 0.9, True), (-3, 0.9, False), (-1, 0.5, False)]
)
def test_positional_heads_are_confident_and_look_beside(offset: int, weight: float, holds: bool) -> None:
    seen = Seen()
    for _ in range(20):
        seen.offsets[offset] += 1
        seen.maxima.append(weight)
    assert positional._outcome({"0.0": seen}, 0.9, 0.8).holds is holds


@pytest.mark.parametrize(("loss", "holds"), [(2.0, True), (2.1, False)])
def test_models_without_a_sink_are_as_good(loss: float, holds: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_by_step", "_losses", "_film"):
        monkeypatch.setattr(no_sink, name, lambda *_: None)
    usual = OnFirst(idle=0.5, busy=0.0, given=1.0, loss=2.0)
    seen = {"softmax": usual, "softmax-plus-one": usual, "sigmoid": replace(usual, idle=0.0, loss=loss)}
    assert no_sink._outcome(seen, 0.3).holds is holds


def test_a_head_forms_suddenly_and_the_loss_falls_with_it() -> None:
    steps = list(range(0, 1001, 50))
    depth = induction.Depth(
        steps=steps, gained=[0.0 if at < 500 else -2.0 for at in steps], steps_seen=steps,
        looked=[0.0 if at < 500 else 0.8 for at in steps], address="decoder.1.self.pattern", head=0,
        film=torch.zeros(1, 1, 1),
    )  # fmt: skip
    assert induction.sudden(depth) == pytest.approx((1, 1), abs=0.01)
    slow = replace(depth, looked=[0.8 * at / 1000 for at in steps])
    assert induction.sudden(slow)[0] == pytest.approx(0.1)
    later = replace(depth, gained=[0.0 if at < 900 else -2.0 for at in steps])
    assert induction.sudden(later)[1] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("right", "weight", "holds"), [(100, 0.6, True), (98, 0.6, False), (100, 0.4, False)]
)
def test_the_indirect_object_comes_first_in_99_of_100_and_a_head_looks_at_it(
    right: int, weight: float, holds: bool
) -> None:
    differences = torch.tensor([3.0] * right + [-1.0] * (100 - right))
    about = Attention(n_layers=2, n_heads=2, d_head=4, n_key_heads=2, scales=(0.5, 0.5))
    assert indirect_object._outcome(differences, [0.5], torch.full((2, 2), weight), about).holds is holds


@pytest.mark.parametrize(
    ("share", "n", "holds"), [(0.80, 50, True), (0.80, 1000, False), (0.9, 1000, True), (0.6, 50, False)]
)
def test_copies_are_suppressed_for_as_many_tokens_as_in_the_paper(share: float, n: int, holds: bool) -> None:
    shares, effect = torch.tensor([[share, 0.0]]), torch.tensor([[-0.1, 0.0]])
    assert copy_suppression._outcome(shares, effect, n, 10, 50_000).holds is holds


@pytest.mark.parametrize(
    ("encoder", "decoder", "cross", "holds"),
    [(1, 3, 4, True), (1, 4, 3, False), (2, 3, 4, False)],
)
def test_few_heads_of_the_encoder_are_left_and_most_that_look_across(
    encoder: int, decoder: int, cross: int, holds: bool
) -> None:
    known = pruning.shipped()
    kept = {
        address: list(
            range({"encoder": encoder}.get(address.split(".")[0], cross if "cross" in address else decoder))
        )
        for address in known.penalties[0].kept
    }
    same = [replace(known.penalties[0], kept=kept, trained=known.whole)]
    quality = Quality(translation=1.0, pronoun=1.0)
    assert pruning._outcome(replace(known, penalties=same), [quality], 20, 4).holds is holds
