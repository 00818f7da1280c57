"""Greedy decoding and sampling, with and without the cache."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from models import Transformer
from models.engine.decoding import distribution, greedy, sample

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
@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_is_the_likeliest_token_again_and_again(
    make: Make, kind: str, norm: str, positions: str, use_cache: bool
):
    model = make(kind, norm=norm, positions=positions)
    asked = request(kind)
    written = greedy(model, **asked, max_new_tokens=8, use_cache=use_cache)
    assert torch.equal(written, by_hand(model, asked["prefix"], 8, asked.get("source")))


@pytest.mark.parametrize("kind", KINDS)
def test_left_to_itself_it_fills_max_len(make: Make, kind: str):
    assert greedy(make(kind), **request(kind)).shape == (3, 12)


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"temperature": 0.5}, {"top_k": 3}, {"top_p": 0.8}, {"top_k": 5, "top_p": 0.5}]
)
def test_the_cache_changes_no_sampled_token(make: Make, kind: str, options: dict[str, Any]):
    model = make(kind)
    written = [
        sample(
            model, **request(kind), **options, generator=torch.Generator().manual_seed(7), use_cache=use_cache
        )
        for use_cache in (True, False)
    ]
    assert torch.equal(*written)
    other = sample(model, **request(kind), **options, generator=torch.Generator().manual_seed(8))
    assert not torch.equal(written[0], other)


@pytest.mark.parametrize("options", [{"top_k": 1}, {"temperature": 1e-6}, {"top_p": 1e-9}])
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
        (
            {"temperature": -1.0},
            "temperature=-1.0 must be a positive number; try 1.0, or greedy() for the limit 0",
        ),
        (
            {"temperature": math.inf},
            "temperature=inf must be a positive number; try 1.0, or greedy() for the limit 0",
        ),
        (
            {"temperature": math.nan},
            "temperature=nan must be a positive number; try 1.0, or greedy() for the limit 0",
        ),
        ({"top_k": 0}, "top_k=0 must be from 1 to the vocabulary's size 11; try 11"),
        ({"top_k": 12}, "top_k=12 must be from 1 to the vocabulary's size 11; try 11"),
        ({"top_p": 0.0}, "top_p=0.0 is outside 0 < top_p <= 1; try 0.9, or None to keep every token"),
        ({"top_p": 1.5}, "top_p=1.5 is outside 0 < top_p <= 1; try 0.9, or None to keep every token"),
        ({"top_p": math.nan}, "top_p=nan is outside 0 < top_p <= 1; try 0.9, or None to keep every token"),
    ],
)
def test_sampling_refused_with_value_rule_and_remedy(make: Make, options: dict[str, Any], sentence: str):
    with pytest.raises(ValueError) as error:
        sample(make("decoder-only"), torch.tensor([[1]]), generator=torch.Generator(), **options)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (
            "encoder-only",
            {},
            "kind='encoder-only' writes nothing; decode with a model that has a decoder",
        ),
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
            {"max_new_tokens": 0},
            "max_new_tokens=0 after 2 tokens does not fit max_len=12; ask for 1 to 10",
        ),
        (
            "decoder-only",
            {"prefix": torch.ones(3, 12, dtype=torch.long)},
            "the prefix has 12 tokens, but needs at least 1, and room below max_len=12; give 1 to 11",
        ),
        (
            "decoder-only",
            {"prefix": torch.ones(3, 0, dtype=torch.long)},
            "the prefix has 0 tokens, but needs at least 1, and room below max_len=12; give 1 to 11",
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
