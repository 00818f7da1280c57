"""Hard concrete gates: their distribution against its closed form, and what they do to heads."""

import json
import math
from dataclasses import replace
from itertools import islice

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.grammar.pairs import held_out
from attention_lab.models.data.tasks import generator_of
from attention_lab.models.data.word_tokenizer import PRONOUNS
from attention_lab.models.findings import findings, make, pruning
from attention_lab.models.findings.pruning import (
    HIGH,
    LOW,
    TEMPERATURE,
    Gates,
    edits_of,
    gated,
    n_kept,
    prune,
    quality,
    shipped,
    values_of,
)
from attention_lab.models.zoo.folders import SHIPPED


def gates(*log_alpha: float) -> Gates:
    made = Gates(["encoder.0.self"], len(log_alpha))
    made.log_alpha.data[0] = torch.tensor(log_alpha)
    return made


def below(x: float, log_alpha: float) -> float:
    """The probability that a gate is at most x, 0 <= x < 1: that u is below the u whose gate is x."""
    share = (x - LOW) / (HIGH - LOW)
    return 1 / (1 + math.exp(-(TEMPERATURE * math.log(share / (1 - share)) - log_alpha)))


def test_drawn_gates_are_distributed_as_the_closed_form_says() -> None:
    """At 0, between, and at 1; 40,000 draws: three standard errors are 0.0075."""
    alphas = (-2.0, 0.0, 1.5)
    with torch.no_grad():
        drawn = gates(*alphas)(40_000, generator_of(0, 0))[:, 0]
    for at, log_alpha in enumerate(alphas):
        for x in (0.0, 0.2, 0.5, 0.9):
            assert float((drawn[:, at] <= x).float().mean()) == pytest.approx(below(x, log_alpha), abs=0.0075)
        one = 1 - 1 / (1 + math.exp(-(TEMPERATURE * math.log((1 - LOW) / (HIGH - 1)) - log_alpha)))
        assert float((drawn[:, at] == 1).float().mean()) == pytest.approx(one, abs=0.0075)
    assert drawn.min() == 0 and drawn.max() == 1


def test_the_expected_number_of_open_gates_is_one_less_the_probability_of_nought() -> None:
    made = gates(-3.0, 0.0, 4.0)
    assert made.open()[0].tolist() == pytest.approx([1 - below(0, alpha) for alpha in (-3.0, 0.0, 4.0)])
    made.open().sum().backward()
    slopes = [p * (1 - p) for p in made.open()[0].tolist()]
    assert made.log_alpha.grad is not None
    assert made.log_alpha.grad[0].tolist() == pytest.approx(slopes)
    assert made.heads_kept() == {"encoder.0.self": [2]} or made.open()[0, 1] > 0.5


def test_a_gate_of_nought_is_the_edit_zero_and_gates_of_one_change_nothing() -> None:
    lm = load_model("translator")
    target = "l'animal n'a pas traversé la rue"
    reading = lm.read("the animal did not cross the street", target=target)
    every = {address: [0, 1, 2, 3] for address in lm.projections()}
    cut = every | {"encoder.1.self": [1], "decoder.0.cross": [0, 3], "decoder.1.self": []}
    edits = ["encoder.1.self heads 0,2,3: zero", "decoder.0.cross heads 1,2: zero", "decoder.1.self: zero"]
    before, edited = lm.trace(reading)["logits"], lm.trace(reading, edits=edits)["logits"]
    with torch.no_grad():
        with gated(lm.projections(), values_of(every, 4)):
            assert torch.equal(lm.model(*reading.inputs)[0], lm.model(*reading.inputs, mask=None)[0])
            torch.testing.assert_close(lm.model(*reading.inputs)[0], before, atol=1e-4, rtol=1e-4)
        with gated(lm.projections(), values_of(cut, 4)):
            torch.testing.assert_close(lm.model(*reading.inputs)[0], edited, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(lm.model(*reading.inputs)[0], before, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(edited, before, atol=0.1)


SENTENCES = 3
LM = load_model("translator")


def test_the_same_heads_cut_by_edits_write_what_the_gates_measured() -> None:
    """One sentence after the other through `Model.answer`, against all at once with gates."""
    each = shipped().penalties[3]
    edits, right, pronouns = edits_of(each.kept, 4), [], []
    for pair, direction in held_out(SENTENCES):
        wanted = " ".join(pair.target(direction))
        reading = LM.task.read(" ".join(pair.source(direction)), direction=direction)
        written = LM.answer(reading, edits=edits, direction=direction).tokens["decoder"][1:]
        right.append(" ".join(written) == wanted)
        if pair.recipe:
            named = [[word for word in words if word in PRONOUNS] for words in (written, wanted.split())]
            pronouns.append(named[0] == named[1])
    found = quality(LM, held_out(SENTENCES), each.kept)
    assert found.translation == pytest.approx(sum(right) / SENTENCES)
    assert found.pronoun == pytest.approx(sum(pronouns) / len(pronouns))


def test_what_shipped_is_of_the_shipped_translator() -> None:
    known = shipped()
    card = json.loads((SHIPPED / known.model / "card.json").read_text(encoding="utf-8"))
    assert known.whole.translation == pytest.approx(card["metrics"]["translation"]["all"], abs=0.01)
    assert [each.penalty for each in known.penalties] == sorted(pruning.PENALTIES)
    counts = [n_kept(each.kept) for each in known.penalties]
    assert counts == sorted(counts, reverse=True) and counts[-1] < 12
    assert all(list(each.kept) == list(LM.projections()) for each in known.penalties)


def test_the_outcome_says_the_fewest_heads_that_lose_a_hundredth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three of the penalties, to be quick."""
    known = replace(shipped(), penalties=shipped().penalties[2::2])
    monkeypatch.setattr(pruning, "shipped", lambda: known)
    outcome = findings()["pruning"].measured(None, sentences=20)
    enough = [each for each in known.penalties if each.trained.translation >= known.whole.translation - 0.01]
    fewest = min(enough, key=lambda each: n_kept(each.kept))
    values = {number.label: number.value for number in outcome.numbers}
    assert values["fewest heads that lose 0.01 or less"] == n_kept(fewest.kept)
    of_encoder = [len(heads) for at, heads in fewest.kept.items() if at.startswith("encoder")]
    assert values["share of the encoder's heads among them"] == sum(of_encoder) / 8
    assert outcome.holds == (sum(of_encoder) <= 2)
    assert outcome.charts[0].x == [n_kept(each.kept) for each in known.penalties]
    now = outcome.charts[0].series["sentences, merely cut, now"]
    assert now[-1] == quality(LM, held_out(20), known.penalties[-1].kept).translation


def test_a_penalty_closes_gates_and_the_shipped_weights_stay() -> None:
    """Two steps with a penalty so large that the gates' rate alone decides, and one that settles."""
    before = [weight.clone() for weight in islice(LM.model.parameters(), 5)]
    tuned, kept = prune(LM, 1e4, steps=2, settling=1, gate_rate=3.0, batch_size=4)
    assert n_kept(kept) == 0
    after = list(islice(LM.model.parameters(), 5))
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    changed = list(islice(tuned.model.parameters(), 5))
    assert any(not torch.equal(one, other) for one, other in zip(before, changed, strict=True))
    assert n_kept(prune(LM, 0.0, steps=1, settling=0, batch_size=4)[1]) == 24


def test_the_command_writes_beside_the_finding(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(make.MAKERS, "pruning", lambda: {"model": "translator"})
    path = make.make("pruning", tmp_path)
    assert path.name == "pruning.json" and json.loads(path.read_text())["model"] == "translator"
