"""Beam search: its tree, against exhaustive search and greedy decoding."""

import math
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest
import torch

from models import Transformer
from models.engine.beam import BeamNode, BeamTree, LengthPenalty, beam_search
from models.engine.decoding import greedy

Make = Callable[..., Transformer]
SOURCE = torch.tensor([[3, 1, 4, 2, 0]])
EOS = 2


def request(kind: str) -> dict[str, Any]:
    if kind == "encoder-decoder":
        return {"prefix": torch.tensor([[1]]), "source": SOURCE}
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
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("eos_id", [EOS, None])
def test_width_1_is_greedy(make: Make, kind: str, seed: int, eos_id: int | None):
    model, asked = make(kind, seed=seed), request(kind)
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
    model, asked = make(kind, vocab_size=5), request(kind)
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
    model, asked = make(kind, seed=seed), request(kind)
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
def test_the_cache_changes_no_node(make: Make, kind: str, norm: str):
    model = make(kind, norm=norm, seed=1)
    with_cache, without = (
        beam_search(model, **request(kind), width=3, eos_id=EOS, use_cache=use_cache)
        for use_cache in (True, False)
    )
    assert len(with_cache.nodes) > 20
    for a, b in zip(with_cache.nodes, without.nodes, strict=True):
        assert (a.parent, a.token, a.kept, a.finished) == (b.parent, b.token, b.kept, b.finished)
        assert a.score == pytest.approx(b.score)


def test_a_wider_beam_escapes_a_greedy_mistake():
    """Greedy takes the likeliest first token (0.6), whose best end is 0.6 * 0.51; 0.4 * 0.9 is likelier."""
    tree = beam_search(_Markov(), torch.tensor([[0]]), width=2, eos_id=4, max_new_tokens=2)
    assert tree.tokens() == [2, 4]
    assert math.exp(tree.best.score) == pytest.approx(0.36)
    assert beam_search(_Markov(), torch.tensor([[0]]), width=1, eos_id=4, max_new_tokens=2).tokens() == [1, 3]


class _Markov(Transformer):
    """A decoder whose next token depends on the last one only, by a table."""

    TABLE = ((0, 0.6, 0.4, 0, 0), (0, 0, 0, 0.51, 0.49), (0, 0, 0, 0.1, 0.9))

    def __init__(self) -> None:
        from models import ModelConfig

        super().__init__(
            ModelConfig(kind="decoder-only", n_layers=1, n_heads=1, d_model=4, vocab_size=5, max_len=8)
        )
        self.eval()

    def decode(self, target: torch.Tensor, *args: Any, cache: Any = None, **options: Any) -> torch.Tensor:
        cache.read(target)
        table = torch.tensor([*self.TABLE, [0.2] * 5, [0.2] * 5]).clamp(min=1e-12).log()
        return table[target]


def test_unfinished_hypotheses_count_only_if_none_finished(make: Make):
    model = make("decoder-only")
    tree = beam_search(model, torch.tensor([[3]]), width=3, eos_id=None, max_new_tokens=4)
    assert [node.finished for node in tree.hypotheses()] == [False] * 3
    assert [node.step for node in tree.hypotheses()] == [4] * 3
    assert len(tree.tokens()) == 4


def test_path_runs_from_the_roots_child_to_the_node():
    nodes = [
        BeamNode(0, None, 0, 7, 0.0, 0.0, 0.0, True, False),
        BeamNode(1, 0, 1, 5, -1.0, -1.0, -1.0, True, False),
        BeamNode(2, 0, 1, 6, -2.0, -2.0, -2.0, False, False),
        BeamNode(3, 1, 2, 4, -1.0, -2.0, -2.0, True, True),
    ]
    tree = BeamTree(nodes)
    assert tree.best is nodes[3]
    assert tree.path() == [nodes[1], nodes[3]]
    assert tree.tokens(2) == [6]
    assert tree.tokens(0) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"width": 0}, "width=0 must be at least 1 (which is greedy); try 4"),
        (
            {"width": 2, "length_penalty": -1.0},
            "length_penalty=-1.0 must be 0 (none) or a positive number; try 0.6",
        ),
        (
            {"width": 2, "length_penalty": math.nan},
            "length_penalty=nan must be 0 (none) or a positive number; try 0.6",
        ),
        (
            {"width": 2, "max_new_tokens": 99},
            "max_new_tokens=99 after 1 tokens does not fit max_len=12; ask for 1 to 11",
        ),
    ],
)
def test_refused_with_value_rule_and_remedy(make: Make, options: dict[str, Any], sentence: str):
    with pytest.raises(ValueError) as error:
        beam_search(make("decoder-only"), torch.tensor([[1]]), **options)
    assert str(error.value) == sentence
