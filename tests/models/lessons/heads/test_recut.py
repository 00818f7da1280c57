"""The same weights with other numbers of heads: what stays and what changes."""

import math

import pytest
import torch
from torch.nn import functional as F

from models.lessons.heads import recut as lesson
from models.lessons.heads.reading import Reading, of_translator, of_untrained
from tests.models.lessons.heads.conftest import SENTENCE, untrained


@pytest.fixture(scope="module", params=["untrained", "trained"])
def whole(request, translator) -> Reading:
    if request.param == "trained":
        return of_translator(translator, SENTENCE, 1)
    return of_untrained(untrained(d_model=64), SENTENCE)


def test_its_own_number_of_heads_gives_its_own_numbers(whole: Reading):
    same = lesson.recut(whole, whole.config.n_heads)
    for name in ("q", "k", "v", "scores", "pattern", "out"):
        torch.testing.assert_close(getattr(same, name), getattr(whole, name), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n_heads", [1, 2, 8])
def test_against_torchs_own_attention_with_these_weights(whole: Reading, n_heads: int):
    layer, x = whole.attention, whole.x[:, None]
    projections = [layer.q_proj, layer.k_proj, layer.v_proj]
    with torch.no_grad():
        out, pattern = F.multi_head_attention_forward(
            x, x, x, 64, n_heads, torch.cat([p.weight for p in projections]),
            torch.cat([p.bias for p in projections]), None, None, False, 0.0,
            layer.out_proj.weight, layer.out_proj.bias, training=False, average_attn_weights=False,
        )  # fmt: skip
    found = lesson.recut(whole, n_heads)
    assert found.pattern.shape == (n_heads, len(whole.tokens), len(whole.tokens))
    torch.testing.assert_close(found.pattern, pattern[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found.out, out[:, 0], rtol=1e-4, atol=1e-5)


def test_the_dot_products_sum_to_the_same_and_only_the_softmax_is_each_heads_own(whole: Reading):
    one, *more = lesson.recuts(whole)
    together = lesson.summed_dot_products(one.q, one.k)
    for cut in more:
        torch.testing.assert_close(lesson.summed_dot_products(cut.q, cut.k), together, rtol=1e-4, atol=1e-4)
        # scores are dot products / sqrt(d_head), so the heads' scores sum to sqrt(n_heads) times the one's
        torch.testing.assert_close(
            cut.scores.sum(0), math.sqrt(cut.n_heads) * one.scores[0], rtol=1e-4, atol=1e-4
        )


def test_with_one_pattern_for_all_the_number_of_heads_would_not_matter(whole: Reading):
    one, *more = lesson.recuts(whole)
    for cut in more:
        out = lesson.with_one_pattern(whole.attention, cut.v, one.pattern[0])
        assert lesson.difference(out, one.out) < 1e-6
        assert lesson.difference(cut.out, one.out) > 0.1


def test_no_weight_is_copied_or_changed(whole: Reading):
    before = {name: weight.clone() for name, weight in whole.attention.state_dict().items()}
    state = torch.get_rng_state()
    lesson.recuts(whole)
    assert torch.equal(torch.get_rng_state(), state)
    assert whole.attention.n_heads == whole.config.n_heads
    for name, weight in whole.attention.state_dict().items():
        assert torch.equal(weight, before[name])


def test_difference_by_hand():
    assert lesson.difference(torch.tensor([[3.0, 4.0]]), torch.tensor([[3.0, 0.0]])) == pytest.approx(4 / 3)


@pytest.mark.parametrize(("n_heads", "near"), [(3, "2 or 4"), (40, "32 or 64"), (100, "64")])
def test_what_cannot_be_cut_is_refused(whole: Reading, n_heads: int, near: str):
    sentence = f"64 columns cannot be cut into n_heads={n_heads} equal heads; try {near}$"
    with pytest.raises(ValueError, match=sentence):
        lesson.recut(whole, n_heads)
