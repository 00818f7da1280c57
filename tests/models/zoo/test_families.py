"""Families of shipped models: their dials open the member there, and members differ in nothing else."""

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.config import ModelConfig
from attention_lab.models.fields import fields_of
from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.zoo.families import FAMILIES
from attention_lab.models.zoo.offers import offers
from attention_lab.models.zoo.others.families import load
from attention_lab.viz_core.measures import head_scores

MEMBERS = [(each, name, values) for each in FAMILIES.values() for name, values in each.members().items()]
TWICE = "RtnuOIVwNfpRtnuOIVwNfp"


@pytest.mark.parametrize(("family", "name", "values"), MEMBERS, ids=lambda x: x if isinstance(x, str) else "")
def test_each_member_ships_and_differs_in_its_dials_alone(family, name, values):
    lm, first = load(family, **values), load_model(family.member(family.first))
    assert name in RECIPES
    own, usual = lm.config.to_dict(), first.config.to_dict()
    assert {dial: own[dial] for dial in family.dials} == values
    follows = {"d_head"} if "n_heads" in family.dials else {"max_len"}  # learned positions know fewer
    assert {key for key in own if own[key] != usual[key]} <= {*family.dials, *follows}
    text = family.examples[0]["text"]
    assert torch.isfinite(lm.trace(text)["logits"]).all()


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_a_family_is_offered_with_its_dials(family):
    offer = offers()[family.name]
    dials = offer.settings[: len(family.dials)]
    assert {dial.name: dial.default for dial in dials} == family.first
    assert all(dial.builds and dial.trained and dial.name in fields_of(ModelConfig) for dial in dials)
    assert [list(dial.rule.options) for dial in dials] == list(family.dials.values())


def strongest(**values) -> float:
    """The induction score of the head that has most of it."""
    trace = load(FAMILIES["induction-sizes"], **values).trace(TWICE)
    tokens = trace.tokens["decoder"]
    patterns = [trace[at].numpy() for at in trace if at.endswith(".pattern")]
    return max(float(head_scores(each, tokens=tokens)["induction"].max()) for each in patterns)


def test_two_layers_find_what_followed_one_does_not_and_eight_heads_have_not_yet():
    assert strongest(n_layers=2, n_heads=1, positions="sinusoidal") > 0.9
    assert strongest(n_layers=2, n_heads=2, positions="sinusoidal") > 0.9
    assert strongest(n_layers=1, n_heads=2, positions="sinusoidal") < 0.3
    assert strongest(n_layers=2, n_heads=8, positions="sinusoidal") < 0.3


def test_only_some_normalizers_make_a_sink():
    """With a softmax, letters that have nothing to look for look at the first token."""
    on_first = {}
    for name in FAMILIES["sinks"].dials["normalizer"]:
        trace = load(FAMILIES["sinks"], normalizer=name).trace("tbcdaftkuslmnopqrst")
        on_first[name] = float(trace["decoder.0.self.pattern"][0, 2:, 0].mean())
    assert on_first["softmax"] > 0.35
    assert max(on_first[name] for name in ("sigmoid", "softpick", "learnt-sink")) < 0.2
