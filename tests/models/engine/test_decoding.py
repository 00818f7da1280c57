"""Greedy decoding and sampling, with and without the cache."""

import math
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from attention_lab.models import Transformer
from attention_lab.models.engine.decoding import (
    BeamNode,
    LengthPenalty,
    NextToken,
    beam_search,
    distribution,
    greedy,
    sample,
)

Make = Callable[..., Transformer]
SOURCE = torch.tensor([[3, 1, 4, 10, 5], [9, 2, 6, 0, 0], [7, 0, 0, 0, 0]])
KINDS = ["decoder-only", "encoder-decoder"]


def request(kind: str) -> dict[str, Any]:
    prefix = (
        torch.tensor([[1], [1], [1]]) if kind == "encoder-decoder" else torch.tensor([[3, 4], [5, 6], [7, 8]])
    )
    return {"prefix": prefix} | ({"source": SOURCE} if kind == "encoder-decoder" else {})


def by_hand(model: Transformer, prefix: Tensor, n_new: int, source: Tensor | None = None) -> Tensor:
    """Greedy by the definition: whole forwards, the likeliest next token, again."""
    for _ in range(n_new):
        logits = model(prefix) if source is None else model(source, prefix)
        prefix = torch.cat([prefix, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return prefix


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["none", "sinusoidal", "learned"])
def test_greedy_is_the_likeliest_token_again_and_again(make: Make, kind: str, norm: str, positions: str):
    model = make(kind, norm=norm, positions=positions)
    asked = request(kind)
    expected = by_hand(model, asked["prefix"], 8, asked.get("source"))
    assert torch.equal(greedy(model, **asked, max_new_tokens=8), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_ends_with_eos_and_is_filled_with_it(make: Make, kind: str):
    model, asked = make(kind), request(kind)
    free = greedy(model, **asked)
    start = asked["prefix"].shape[1]
    eos_id = int(free[0, start + 1])
    written = greedy(model, **asked, eos_id=eos_id)
    for row, unbound in zip(written.tolist(), free.tolist(), strict=True):
        end = unbound.index(eos_id, start) if eos_id in unbound[start:] else len(unbound)
        assert row[:end] == unbound[:end]
        assert set(row[end:]) <= {eos_id}
    last_end = max(
        (row.tolist().index(eos_id, start) for row in written if eos_id in row[start:]), default=12
    )
    assert eos_id in written[0, start:]
    if all(eos_id in row[start:] for row in written):
        assert written.shape[1] == last_end + 1


@pytest.mark.parametrize(
    "options", [{"top_k": 1}, {"temperature": 1e-6}, {"temperature": 2.5e-203}, {"top_p": 1e-9}]
)
def test_sampling_without_choice_is_greedy(make: Make, options: dict[str, Any]):
    model, asked = make("decoder-only"), request("decoder-only")
    written = sample(model, **asked, **options, generator=torch.Generator().manual_seed(0))
    assert torch.equal(written, greedy(model, **asked))


def test_samples_follow_the_distribution(make: Make):
    model, n = make("decoder-only"), 20_000
    prefix = torch.tensor([[3, 4]])
    expected = distribution(model(prefix)[0, -1], temperature=0.7, top_k=6)
    generator = torch.Generator().manual_seed(0)
    drawn = sample(
        model, prefix.expand(n, -1), generator=generator, temperature=0.7, top_k=6, max_new_tokens=1
    )
    shares = drawn[:, 2].bincount(minlength=11) / n
    assert (shares - expected).abs().max() < 4 * math.sqrt(0.25 / n)
    assert (shares > 0).sum() == 6


def plain_distribution(
    logits: list[float], temperature: float, top_k: int | None, top_p: float | None
) -> list[float]:
    largest = max(logits)
    weights = {i: math.exp((x - largest) / temperature) for i, x in enumerate(logits)}
    order = sorted(weights, key=lambda i: -weights[i])[:top_k]
    total = sum(weights[i] for i in order)
    kept, reached = [], 0.0
    for i in order:
        if top_p is None or reached < top_p:
            kept.append(i)
        reached += weights[i] / total
    total = sum(weights[i] for i in kept)
    return [weights[i] / total if i in kept else 0.0 for i in range(len(logits))]


@settings(deadline=None)
@given(
    logits=st.lists(st.integers(-50, 50), min_size=1, max_size=12, unique=True),
    temperature=st.floats(0.05, 20),
    top_k=st.none() | st.integers(1, 12),
    top_p=st.none() | st.floats(0.01, 0.99),
)
def test_distribution_equals_plain_python(
    logits: list[int], temperature: float, top_k: int | None, top_p: float | None
):
    top_k = None if top_k is None else min(top_k, len(logits))
    actual = distribution(
        torch.tensor(logits, dtype=torch.float64), temperature=temperature, top_k=top_k, top_p=top_p
    )
    expected = plain_distribution([float(x) for x in logits], temperature, top_k, top_p)
    torch.testing.assert_close(actual, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-9)


def test_top_p_keeps_the_fewest_that_reach_it():
    logits = torch.tensor([0.1, 0.5, 0.15, 0.25]).log()
    torch.testing.assert_close(distribution(logits, top_p=0.7), torch.tensor([0, 2 / 3, 0, 1 / 3]))
    torch.testing.assert_close(distribution(logits, top_p=1.0), logits.exp())
    assert distribution(torch.zeros(2), top_p=0.5).tolist() == [1.0, 0.0]
    assert distribution(torch.zeros(2), top_p=0.501).tolist() == [0.5, 0.5]


def test_distribution_leaves_its_input_alone():
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    distribution(logits, temperature=0.5, top_k=2, top_p=0.5)
    assert logits.tolist() == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"temperature": 0.0},
            "temperature=0.0 must be a positive number; try 1.0, or greedy() for the limit 0",
        ),
        ({"top_k": 12}, "top_k=12 must be from 1 to the vocabulary's size 11; try 11"),
        ({"top_p": 1.5}, "top_p=1.5 is outside 0 < top_p <= 1; try 0.9, or None to keep every token"),
    ],
)
def test_sampling_refused_with_value_rule_and_remedy(make: Make, options: dict[str, Any], sentence: str):
    with pytest.raises(ValueError) as error:
        sample(make("decoder-only"), torch.tensor([[1]]), generator=torch.Generator(), **options)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("encoder-only", {}, "kind='encoder-only' writes nothing; decode with a model that has a decoder"),
        ("encoder-decoder", {}, "source is missing for kind='encoder-decoder'; give one"),
        ("decoder-only", {"source": SOURCE}, "source is given for kind='decoder-only'; leave it out"),
        (
            "encoder-decoder",
            {"source": SOURCE[:2]},
            "source has 2 rows, prefix 3; give one prefix to each source",
        ),
        ("decoder-only", {"eos_id": 11}, "eos_id=11 is outside the vocabulary; give one from 0 to 10"),
        (
            "decoder-only",
            {"max_new_tokens": 11},
            "max_new_tokens=11 after 2 tokens does not fit max_len=12; ask for 1 to 10",
        ),
        (
            "decoder-only",
            {"prefix": torch.ones(3, 12, dtype=torch.long)},
            "the prefix has 12 tokens, but needs at least 1, and room below max_len=12; give 1 to 11",
        ),
    ],
)
def test_refused_with_value_rule_and_remedy(make: Make, kind: str, options: dict[str, Any], sentence: str):
    prefix = options.pop("prefix", torch.ones(3, 2, dtype=torch.long))
    with pytest.raises(ValueError) as error:
        greedy(make(kind), prefix, **options)
    assert str(error.value) == sentence


def test_a_training_model_with_dropout_is_refused(make: Make):
    with pytest.raises(ValueError) as error:
        greedy(make("decoder-only", dropout=0.1).train(), torch.tensor([[1]]))
    assert str(error.value) == "dropout=0.1 is on, so tokens would be chance; call model.eval() first"


# Beam search: its tree, against exhaustive search and greedy decoding.

BEAM_SOURCE = torch.tensor([[3, 1, 4, 2, 0]])
EOS = 2


def request_beam(kind: str) -> dict[str, Any]:
    if kind == "encoder-decoder":
        return {"prefix": torch.tensor([[1]]), "source": BEAM_SOURCE}
    return {"prefix": torch.tensor([[3, 4]])}


def log_prob(
    model: Transformer, tokens: list[int], prefix: torch.Tensor, source: torch.Tensor | None = None
) -> float:
    """Sum of the log-probabilities of `tokens` after `prefix`, from one whole forward."""
    whole = torch.cat([prefix, torch.tensor([tokens])], dim=1)
    logits = model(whole) if source is None else model(source, whole)
    predicted = logits[0, prefix.shape[1] - 1 : -1].log_softmax(dim=-1)
    return predicted.gather(1, torch.tensor(tokens)[:, None]).sum().item()


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("eos_id", [EOS, None])
def test_width_1_is_greedy(make: Make, kind: str, seed: int, eos_id: int | None):
    model, asked = make(kind, seed=seed), request_beam(kind)
    tree = beam_search(model, **asked, width=1, eos_id=eos_id)
    expected = greedy(model, **asked, eos_id=eos_id)[0].tolist()
    assert asked["prefix"][0].tolist() + tree.tokens() == expected
    assert all(node.kept for node in tree.nodes)


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize(
    ("penalty", "divisor"),
    [
        ("length", lambda length, alpha: length**alpha),
        (
            "gnmt",
            lambda length, alpha: (5 + length) ** alpha / (5 + 1) ** alpha,
        ),  # as Wu et al. 2016 write it
    ],
)
def test_wide_enough_it_is_exhaustive(
    make: Make, kind: str, alpha: float, penalty: LengthPenalty, divisor: Callable[[int, float], float]
):
    model, asked = make(kind, vocab_size=5), request_beam(kind)
    tree = beam_search(
        model, **asked, width=200, eos_id=EOS, max_new_tokens=3, length_penalty=alpha, penalty=penalty
    )
    whole = [
        list(t) for n in (1, 2, 3) for t in product(range(5), repeat=n) if EOS not in t[:-1] and t[-1] == EOS
    ]
    scores = {tuple(t): log_prob(model, t, **asked) / divisor(len(t), alpha) for t in whole}
    found = {tuple(tree.tokens(node.id)): node.normalised_score for node in tree.hypotheses()}
    assert found == pytest.approx(scores)
    assert tuple(tree.tokens()) == max(scores, key=scores.__getitem__)
    assert list(found.values()) == sorted(found.values(), reverse=True)


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize(("seed", "width"), [(0, 2), (1, 3), (2, 3)])
def test_the_tree(make: Make, kind: str, seed: int, width: int):
    model, asked = make(kind, seed=seed), request_beam(kind)
    tree = beam_search(model, **asked, width=width, eos_id=EOS, length_penalty=0.6, max_new_tokens=6)
    root, *others = tree.nodes
    assert root == BeamNode(0, None, 0, int(asked["prefix"][0, -1]), 0.0, 0.0, 0.0, True, False)
    assert [node.id for node in tree.nodes] == list(range(len(tree.nodes)))
    for node in others:
        parent = tree.nodes[node.parent]
        assert parent.kept and not parent.finished
        assert node.step == parent.step + 1
        assert node.score == pytest.approx(parent.score + node.log_prob)
        assert node.score == pytest.approx(log_prob(model, tree.tokens(node.id), **asked))
        assert node.normalised_score == pytest.approx(node.score / ((5 + node.step) / 6) ** 0.6)
        assert node.finished == (node.kept and node.token == EOS)
    places = width
    for step in range(1, others[-1].step + 1):
        level = [node for node in others if node.step == step]
        kept, pruned = [n for n in level if n.kept], [n for n in level if not n.kept]
        assert len(kept) == places
        assert min(n.score for n in kept) >= max((n.score for n in pruned), default=-math.inf)
        proposed = [sum(n.parent == p for n in level) for p in {n.parent for n in level}]
        assert proposed == [width] * len(proposed)
        places -= sum(n.finished for n in kept)
    assert all(a.parent != b.parent or a.log_prob >= b.log_prob for a, b in pairwise(others))


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_cache_changes_no_node(make: Make, kind: str, norm: str, monkeypatch):
    model = make(kind, norm=norm, seed=1)
    with_cache = beam_search(model, **request_beam(kind), width=3, eos_id=EOS)
    monkeypatch.setattr(NextToken, "__call__", lambda at, ids: model.decode(ids, at.memory, at.source)[:, -1])
    without = beam_search(model, **request_beam(kind), width=3, eos_id=EOS)
    assert len(with_cache.nodes) > 20
    for a, b in zip(with_cache.nodes, without.nodes, strict=True):
        assert (a.parent, a.token, a.kept, a.finished) == (b.parent, b.token, b.kept, b.finished)
        assert a.score == pytest.approx(b.score)


def test_unfinished_hypotheses_count_only_if_none_finished(make: Make):
    model = make("decoder-only")
    tree = beam_search(model, torch.tensor([[3]]), width=3, eos_id=None, max_new_tokens=4)
    assert [node.finished for node in tree.hypotheses()] == [False] * 3
    assert [node.step for node in tree.hypotheses()] == [4] * 3
    assert len(tree.tokens()) == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"width": 0}, "width=0 must be at least 1 (which is greedy); try 4"),
        (
            {"width": 2, "length_penalty": math.nan},
            "length_penalty=nan must be 0 (none) or a positive number; try 0.6",
        ),
    ],
)
def test_refused_with_value_rule_and_remedy_beam(make: Make, options: dict[str, Any], sentence: str):
    with pytest.raises(ValueError) as error:
        beam_search(make("decoder-only"), torch.tensor([[1]]), **options)
    assert str(error.value) == sentence
