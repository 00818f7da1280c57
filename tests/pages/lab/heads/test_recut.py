"""The same weights with other numbers of heads: what stays and what changes."""

import re

import pytest
import torch
from torch.nn import functional as F

from attention_lab.pages.lab.heads import recut
from attention_lab.pages.lab.heads.inputs import Inputs, Reading, of_translator, of_untrained
from tests.pages.lab.boards import close, panel
from tests.pages.lab.heads.conftest import SENTENCE, engine, untrained


@pytest.fixture(scope="module", params=["untrained", "trained"])
def whole(request, translator) -> Reading:
    if request.param == "trained":
        return of_translator(translator, SENTENCE, 1)
    return of_untrained(untrained(d_model=64), SENTENCE)


def test_with_one_pattern_for_all_the_number_of_heads_would_not_matter(whole: Reading):
    one, *more = recut.recuts(whole)
    for cut in more:
        out = recut.with_one_pattern(whole.attention, cut.v, one.pattern[0])
        assert recut.difference(out, one.out) < 1e-6
        assert recut.difference(cut.out, one.out) > 0.1


def test_no_weight_is_copied_or_changed(whole: Reading):
    before = {name: weight.clone() for name, weight in whole.attention.state_dict().items()}
    state = torch.get_rng_state()
    recut.recuts(whole)
    assert torch.equal(torch.get_rng_state(), state)
    assert whole.attention.n_heads == whole.config.n_heads
    for name, weight in whole.attention.state_dict().items():
        assert torch.equal(weight, before[name])


@pytest.mark.parametrize(("n_heads", "near"), [(3, "2 or 4"), (40, "32 or 64"), (100, "64")])
def test_what_cannot_be_cut_is_refused(whole: Reading, n_heads: int, near: str):
    sentence = f"64 columns cannot be cut into n_heads={n_heads} equal heads; try {near}$"
    with pytest.raises(ValueError, match=sentence):
        recut.recut(whole, n_heads)


PATTERNS = "weights with h = 1, 2, 4 and 8 heads"
FIRST_ROWS = {1: 0, 2: 1, 4: 3, 8: 7}  # of each cut


def with_heads(n_heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pattern [head, query, key] and output of the same weights, by torch.nn.functional."""
    model, trace = engine(d_model=64)
    layer = model.model.encoder.layers[0]
    a = layer.self_attention
    with torch.no_grad():
        x = layer.self_norm(trace["encoder.0.resid_pre"])[:, None]
        weights = torch.cat([p.weight for p in (a.q_proj, a.k_proj, a.v_proj)])
        biases = torch.cat([p.bias for p in (a.q_proj, a.k_proj, a.v_proj)])
        out, pattern = F.multi_head_attention_forward(
            x, x, x, 64, n_heads, weights, biases, None, None, False, 0.0, a.out_proj.weight, a.out_proj.bias,
            training=False, average_attn_weights=False,
        )  # fmt: skip
    return pattern[0], out[:, 0]


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_patterns_are_those_of_torch(n_heads: int):
    shown = panel(recut.lesson(Inputs()).board, PATTERNS)
    first = FIRST_ROWS[n_heads]
    mine = shown.values[:, first : first + n_heads]
    close(mine, with_heads(n_heads)[0].transpose(0, 1))  # [query, head, key]
    names = [f"h = {n_heads}: {head}" for head in range(n_heads)]
    assert list(shown.rows[first : first + n_heads]) == names


def test_dot_products_of_eight_heads_sum_to_those_of_one():
    board = recut.lesson(Inputs()).board
    title = "q · k in each of 8 heads, their sum, and q · k of the one head"
    rows = torch.as_tensor(panel(board, title).values)
    torch.testing.assert_close(rows[:, :8].sum(1), rows[:, 8], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(rows[:, 8], rows[:, 9], rtol=1e-4, atol=1e-4)
    scores = rows[:, 9] / 8  # of the one head, over the root of its 64 channels
    torch.testing.assert_close(scores.softmax(-1), with_heads(1)[0][0], rtol=1e-3, atol=1e-4)


def test_facts_are_differences_and_entropies():
    facts = {f.label: f.values for f in recut.lesson(Inputs()).board.rows[-1][0].facts}
    one = with_heads(1)[1]
    for n_heads in (2, 4, 8):
        pattern, out = with_heads(n_heads)
        assert (
            facts[f"output of {n_heads} heads differs from 1 by"] == f"{(out - one).norm() / one.norm():.2f}"
        )
        entropy = -(pattern * pattern.log()).sum(-1).mean()
        assert facts[f"entropy of {n_heads} head{'s' * (n_heads > 1)}"] == f"{entropy:.2f}"


def test_the_notice_compares_one_and_eight_heads_at_each_token():
    one, eight = with_heads(1)[0][0], with_heads(8)[0]
    for query, notice in enumerate(recut.lesson(Inputs()).board.notice):
        key = int(one[query].argmax())
        found = [float(n) for n in re.findall(r"\*\*([\d.]+)\*\*", notice)]
        there = eight[:, query, key]
        expected = [one[query, key].item(), there.min().item(), there.max().item()]
        assert found == pytest.approx(expected, abs=0.0051)
