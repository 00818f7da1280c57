"""Heads that share keys, and the number of heads: numbers computed again from weights, files and words."""

import itertools

import numpy as np
import pytest

from attention_lab.models import load_model
from attention_lab.models.data.grammar.pairs import held_out
from attention_lab.models.findings import findings


def by_hand(name: str, sentences: int) -> tuple[float, float]:
    """How far apart heads 0 and 1, 2 and 3 are, and the others: means over sentences and stacks."""
    lm, near, far = load_model(name), [], []
    for pair, direction in held_out(sentences):
        trace = lm.trace(" ".join(pair.source(direction)), direction=direction)
        of_stacks: dict[str, dict[bool, list[float]]] = {}
        for address in trace:
            if not address.endswith(".pattern"):
                continue
            side, _, kind, _ = address.split(".")
            found = of_stacks.setdefault(side + kind, {True: [], False: []})
            rows = trace[address].double().numpy()
            for i, j in itertools.combinations(range(4), 2):
                found[(i, j) in ((0, 1), (2, 3))].append(np.abs(rows[i] - rows[j]).sum(-1).mean() / 2)
        near.append(np.mean([np.mean(each[True]) for each in of_stacks.values()]))
        far.append(np.mean([np.mean(each[False]) for each in of_stacks.values()]))
    return float(np.mean(near)), float(np.mean(far))


def test_the_numbers_are_those_of_the_shipped_models():
    outcome = findings()["shared-keys"].measured(None, sentences=4)
    values = [number.value for number in outcome.numbers]
    assert values[:2] == pytest.approx(by_hand("translator-sizes/n_kv_heads-2", 4), abs=1e-5)
    assert values[4:] == pytest.approx(by_hand("translator-sizes/first", 4), abs=1e-5)


def test_the_share_of_right_sentences_is_counted_word_by_word():
    outcome = findings()["number-of-heads"].measured(None, sentences=20)
    lm, right = load_model("translator-sizes/n_heads-1"), 0
    for pair, direction in held_out(20):
        written = lm.read(" ".join(pair.source(direction)), direction=direction)
        right += written.tokens["decoder"][1:] == list(pair.target(direction))
    assert outcome.numbers[0].value == pytest.approx(right / 20)
