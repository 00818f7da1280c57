"""Today's parts and dropped positions: numbers computed again from queries, keys and losses alone."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from attention_lab.models import load_model
from attention_lab.models.findings import dropped_positions, findings
from attention_lab.models.findings.dropped_positions import dropped, losses
from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.runs.train_shipped import config_of
from attention_lab.models.zoo.folders import CARD, SHIPPED, read_card


def by_hand(name: str) -> tuple[float, float]:
    """The largest score without its sign, and the largest mean weight of a head on the letter before."""
    lm, largest, means = load_model(name), 0.0, {}
    texts = [each["text"] for each in read_card(SHIPPED / "shakespeare" / CARD)["examples"]]
    for text in texts:
        trace = lm.trace(text)
        for layer in range(4):
            q, k = (trace[f"decoder.{layer}.self.{name}"].double() for name in "qk")
            k = k.repeat_interleave(len(q) // len(k), dim=0)
            n = q.shape[1]
            for head in range(4):
                of_queries = []
                for at in range(n):
                    row = (k[head, : at + 1] @ q[head, at]) / math.sqrt(32)
                    largest = max(largest, float(row.abs().max()))
                    if at > 3:
                        of_queries.append(float(row.softmax(-1)[at - 1]))
                means.setdefault((layer, head), []).append(sum(of_queries) / len(of_queries))
    return largest, max(sum(each) / len(texts) for each in means.values())


def test_scores_and_weights_are_those_of_queries_and_keys():
    outcome = findings()["todays-parts"].measured()
    values = {number.label: number.value for number in outcome.numbers}
    for name, title in (("shakespeare", "2019's parts"), ("shakespeare-today", "today's parts")):
        largest, before = by_hand(name)
        assert values[f"{title}: largest score"] == pytest.approx(largest, rel=1e-4)
        assert values[f"{title}: weight on the letter before, best head"] == pytest.approx(before, abs=1e-4)


def test_the_models_differ_in_todays_parts_alone():
    old, new = (load_model(name).config.to_dict() for name in ("shakespeare", "shakespeare-today"))
    assert {name for name in old if old[name] != new[name]} == {
        *("positions", "norm_type", "gated", "activation", "n_kv_heads", "qk_norm", "d_ff")
    }


def test_dropped_positions_begin_with_the_rotary_weights(monkeypatch):
    usual, shares = config_of(RECIPES["positions/rotary"]), list[float]()
    few = replace(usual, task=replace(usual.task, words=10_000))  # the recipe's take seconds to draw
    monkeypatch.setattr(dropped_positions, "config_of", lambda recipe: few)
    model = dropped(2, shares.append)
    assert shares == [0.5, 1.0]
    assert model.config.positions == "none"
    before = load_model("positions/rotary").model.state_dict()
    for name, weight in model.state_dict().items():
        assert torch.allclose(weight, before[name], atol=0.02), name  # two steps of at most the rate each


def test_losses_are_means_over_the_places():
    lm = load_model("positions/none")
    batch = lm.task.examples(1, 256, at_once=64)
    sums, counts = {32: 0.0, 64: 0.0, 128: 0.0}, {32: 0, 64: 0, 128: 0}
    with torch.no_grad():
        for part in batch:
            nats = F.cross_entropy(
                lm.model(*part.inputs).mT, part.targets, reduction="none", ignore_index=-100
            )
            for row, targets in zip(nats, part.targets, strict=True):
                for at, (value, target) in enumerate(zip(row.tolist(), targets.tolist(), strict=True)):
                    if target >= 0:
                        end = next(end for end in sums if at < end)
                        sums[end] += value
                        counts[end] += 1
    found = losses(lm.task, lm.model)
    assert list(found.values()) == pytest.approx([sums[end] / counts[end] for end in sums], abs=1e-4)
