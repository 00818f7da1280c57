"""Distributions against numpy; sentences drawn against the model's own probabilities."""

from collections import Counter

import numpy as np
import pytest
import torch

from models.lessons.translation import sampling
from models.lessons.translation.reading import Reading
from tests.models.lessons.translation.conftest import ids_of

TEMPERATURES = [0.1, 0.7, 1.0, 3.0]


def test_temperature_divides_the_logits(incomplete: Reading):
    z = incomplete.logits[7]
    found = sampling.spread(z, TEMPERATURES, None, None)
    for row, temperature in zip(found.whole.numpy(), TEMPERATURES, strict=True):
        powers = np.exp(z.double().numpy() / temperature - z.max().item() / temperature)
        np.testing.assert_allclose(row, powers / powers.sum(), rtol=1e-9)
    assert torch.equal(found.whole, found.cut)
    assert found.n_kept.tolist() == [len(z)] * 4
    p = found.whole.numpy()
    np.testing.assert_allclose(sampling.entropy(found.whole), -(p * np.log(p)).sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("top_k", [1, 3, 10])
def test_top_k_keeps_the_k_likeliest(incomplete: Reading, top_k: int):
    found = sampling.spread(incomplete.logits[7], TEMPERATURES, top_k, None)
    likeliest = np.argsort(-incomplete.logits[7].numpy())[:top_k]
    for whole, cut, mass in zip(found.whole.numpy(), found.cut.numpy(), found.kept_mass, strict=True):
        assert set(np.flatnonzero(cut)) == set(likeliest)
        assert mass.item() == pytest.approx(whole[likeliest].sum())
        np.testing.assert_allclose(cut[likeliest], whole[likeliest] / whole[likeliest].sum(), rtol=1e-9)


@pytest.mark.parametrize("top_p", [0.25, 0.75, 0.95])
def test_top_p_keeps_the_fewest_that_reach_p(incomplete: Reading, top_p: float):
    found = sampling.spread(incomplete.logits[7], TEMPERATURES, None, top_p)
    for whole, n, mass in zip(found.whole.numpy(), found.n_kept.tolist(), found.kept_mass, strict=True):
        ordered = -np.sort(-whole)
        assert ordered[: n - 1].sum() < top_p <= ordered[:n].sum() + 1e-9
        assert mass.item() == pytest.approx(ordered[:n].sum())
    assert found.n_kept.tolist() == sorted(found.n_kept.tolist())  # the hotter, the more


def drawn(read: Reading, temperatures: list[float], seed: int = 0, **cut) -> list[tuple[int, ...]]:
    generator = torch.Generator().manual_seed(seed)
    cut = {"top_k": None, "top_p": None} | cut
    return sampling.sentences(read.model, read.source_ids, temperatures, generator, most=20, **cut)


def test_the_coldest_and_the_narrowest_draw_is_greedy(incomplete: Reading, tired: Reading):
    for read in (incomplete, tired):
        assert set(drawn(read, [0.0001] * 3)) == {tuple(ids_of(read))}
        assert set(drawn(read, [3.0] * 3, top_k=1)) == {tuple(ids_of(read))}


def test_a_seed_draws_the_same_again(incomplete: Reading):
    assert drawn(incomplete, [2.0] * 5) == drawn(incomplete, [2.0] * 5)
    assert drawn(incomplete, [2.0] * 5) != drawn(incomplete, [2.0] * 5, seed=1)


@torch.no_grad()
def test_sentences_come_as_often_as_they_are_likely(incomplete: Reading):
    """600 draws at temperature 1: the two likeliest sentences, within four deviations of their share."""
    n = 600
    counts = Counter(drawn(incomplete, [1.0] * n))
    for sentence, count in counts.most_common(2):
        ids = torch.tensor([sentence])
        logits = incomplete.model(incomplete.source_ids, torch.tensor([[1, *sentence[:-1]]]))
        p = logits.log_softmax(dim=-1).gather(2, ids[:, :, None]).sum().exp().item()
        assert abs(count / n - p) < 4 * (p * (1 - p) / n) ** 0.5
