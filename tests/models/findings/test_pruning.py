"""Pruning: what shipped is measured again by edits, and learning gates does what the penalty says."""

import json
from dataclasses import replace
from itertools import islice

import pytest
import torch

from models import load_model
from models.data.grammar_text import held_out
from models.data.pronouns import PRONOUNS
from models.findings import findings, make, pruned, pruning
from models.findings.gates import n_kept
from models.findings.pruned import prune, quality
from models.findings.pruning import Pruned, edits_of, shipped
from models.zoo.cards import SHIPPED

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
    found = quality(LM, SENTENCES, each.kept)
    assert found.translation == pytest.approx(sum(right) / SENTENCES)
    assert found.pronoun == pytest.approx(sum(pronouns) / len(pronouns))


def test_what_shipped_is_of_the_shipped_translator() -> None:
    known = shipped()
    card = json.loads((SHIPPED / known.model / "card.json").read_text(encoding="utf-8"))
    assert known.whole.translation == pytest.approx(card["metrics"]["translation"]["all"], abs=0.01)
    assert [each.penalty for each in known.penalties] == sorted(pruned.PENALTIES)
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
    assert now[-1] == quality(LM, 20, known.penalties[-1].kept).translation


def test_edits_name_the_heads_that_are_gone() -> None:
    quality_ = pruned.Quality(translation=1.0, pronoun=1.0)
    kept = {"encoder.0.self": [1, 3], "encoder.1.self": [0, 1, 2, 3], "decoder.0.cross": []}
    each = Pruned(penalty=0.1, kept=kept, trained=quality_, cut=quality_)
    assert edits_of(kept, 4) == ["encoder.0.self heads 0,2: zero", "decoder.0.cross heads 0,1,2,3: zero"]
    assert (each.share("encoder.self", 4), each.share("decoder.cross", 4)) == (0.75, 0)


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
