"""Matching heads: what was exchanged is found again, and no other assignment is better."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
import torch
from torch import Tensor

from attention_lab.models import load_model
from attention_lab.models.contrast import Side, match_heads, match_sides
from tests.models.interventions.conftest import Letters

Make = Callable[..., Letters]


def drawn(*shape: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).softmax(dim=-1)


def test_the_distance_and_the_assignment_are_those_of_brute_force() -> None:
    a = [drawn(2, 2, 5, 5, seed=0), drawn(2, 2, 3, 3, seed=1)]
    b = [drawn(1, 5, 5, 5, seed=2), drawn(1, 5, 3, 3, seed=3)]
    found = match_heads(a, b)
    plain = [[0.0] * 5 for _ in range(4)]
    for one, other in zip(a, b, strict=True):
        for i in range(4):
            for j in range(5):
                p, q = one[i // 2, i % 2].tolist(), other[0, j].tolist()
                plain[i][j] += sum(
                    abs(x - y) / 2 for rows in zip(p, q, strict=True) for x, y in zip(*rows, strict=True)
                )
    for i in range(4):
        assert found.distances[i].tolist() == pytest.approx([each / 8 for each in plain[i]], abs=1e-12)
    best = min(sum(plain[i][j] for i, j in enumerate(chosen)) for chosen in permutations(range(5), 4)) / 8
    assert sum(match.distance for match in found.pairs) == pytest.approx(best, abs=1e-12)
    assert [match.a for match in found.pairs] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert found.n_texts == 2 and len({match.b for match in found.pairs}) == 4


def exchanged(lm: Any, order: list[int]) -> Any:
    """The model with the heads of every layer in another order: the same function."""

    def change(net: Any) -> None:
        width = net.config.head_size
        rows = torch.cat([torch.arange(head * width, (head + 1) * width) for head in order])
        for layer in net.encoder.layers:
            for name in ("q_proj", "k_proj", "v_proj"):
                part = getattr(layer.self_attention, name)
                part.weight = torch.nn.Parameter(part.weight[rows])
                part.bias = torch.nn.Parameter(part.bias[rows])
            out = layer.self_attention.out_proj
            out.weight = torch.nn.Parameter(out.weight[:, rows])

    return lm.remade(change)


def test_heads_that_were_exchanged_are_matched_back(letters: Make) -> None:
    lm = letters("encoder-only", n_heads=4)
    order = [2, 0, 3, 1]
    other = exchanged(lm, order)
    torch.testing.assert_close(lm.trace("abcd")["logits"], other.trace("abcd")["logits"])
    told: list[float] = []
    found = match_sides(Side(lm), Side(other), "encoder.self", ["abcd", "bbja"], progress=told.append)
    assert told == [0.0, 0.5, 1.0] and found.n_texts == 2
    partners = {match.a: match.b for match in found.pairs}
    assert partners == {(layer, head): (layer, order.index(head)) for layer in range(2) for head in range(4)}
    assert max(match.distance for match in found.pairs) < 1e-12


def test_two_trained_translators_are_matched_on_held_out_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attention_lab.models.zoo.engine_model.REFERENCES", 4)
    a, b = load_model("translator"), load_model("translator-plain")
    found = match_sides(Side(a), Side(b), "decoder.cross")
    assert found.n_texts == len(a.references()) == 4
    assert len(found.pairs) == 8
    same = sum(float(found.distances[at, at]) for at in range(8))
    assert sum(match.distance for match in found.pairs) <= same
    first, second = a.trace(a.references()[0]), b.trace(a.references()[0])
    assert first["decoder.0.cross.pattern"].shape == second["decoder.0.cross.pattern"].shape


def test_what_cannot_be_matched_is_refused_in_a_sentence(letters: Make) -> None:
    a, b = Side(letters("encoder-only")), Side(letters("decoder-only"))
    with pytest.raises(ValueError, match="'letters' brings no reference texts; give texts to match"):
        match_sides(a, a, "encoder.self")
    with pytest.raises(ValueError, match=r"'letters' has no attention 'encoder\.self'; choose one that both"):
        match_sides(a, b, "encoder.self", ["abc"])
    with pytest.raises(ValueError, match="are not of the same tokens; align them first"):
        match_heads([drawn(1, 1, 2, 2, seed=0)], [drawn(1, 1, 3, 3, seed=0)])
    with pytest.raises(ValueError, match="0 and 0 texts: give the patterns of both"):
        match_heads([], [])
