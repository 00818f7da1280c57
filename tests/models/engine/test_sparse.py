"""Attention in blocks: the numbers and gradients of one call over all pairs, and only what it pays for."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.engine import masks, sparse

CASES = [
    ("fixed", "16.2", "rotary"),
    ("causal+window", "9", "rotary"),
    ("causal+window", "9", "alibi"),
    ("memory", "16.16", "transformer-xl"),
    ("memory", "24.7", "t5"),
    ("strided", "8", "rotary"),
    ("strided", "11", "none"),
    ("causal+strided", "7", "sinusoidal"),
]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups so small that a short text has many."""
    monkeypatch.setattr(sparse, "GROUP", 8)
    monkeypatch.setattr(sparse, "LEAST", 64)
    sparse.blocks.cache_clear()
    yield
    sparse.blocks.cache_clear()


def decoder(mask: str, argument: str, positions: str = "rotary", **fields: object) -> Transformer:
    sizes = {"n_layers": 2, "n_heads": 2, "d_model": 16, "vocab_size": 11, "max_len": 100, "pad_id": None}
    config = ModelConfig(
        kind="decoder-only", mask=mask, mask_argument=argument, positions=positions, **sizes | fields
    )
    return Transformer(config, seed=0)


def tokens(n: int, n_rows: int = 2) -> torch.Tensor:
    return torch.randint(1, 11, (n_rows, n), generator=torch.Generator().manual_seed(0))


def calls(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The share of each attention that goes by blocks from now on."""
    shares = []

    def counting(kind):
        attend = kind.attend

        def counted(self, *args, **options):
            shares.append(self.share)
            return attend(self, *args, **options)

        monkeypatch.setattr(kind, "attend", counted)

    counting(sparse.Blocks)
    counting(sparse.Strides)
    return shares


@pytest.mark.parametrize(("mask", "argument", "positions"), CASES)
@pytest.mark.parametrize("n", [64, 93])
def test_blocks_give_the_numbers_and_gradients_of_all_pairs(small, monkeypatch, mask, argument, positions, n):
    model, ids = decoder(mask, argument, positions), tokens(n)
    found = {}
    for least in (10_000, 64):
        monkeypatch.setattr(sparse, "LEAST", least)
        shares = calls(monkeypatch)
        model.zero_grad()
        logits = model(ids)
        cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
        found[least] = [logits.detach(), *(weight.grad.clone() for weight in model.parameters())]
        assert len(shares) == (2 if least == 64 else 0)
    for dense, in_blocks in zip(found[10_000], found[64], strict=True):
        torch.testing.assert_close(in_blocks, dense, rtol=0, atol=1e-5)


def test_only_what_pays_and_fits_goes_by_blocks(small, monkeypatch):
    shares = calls(monkeypatch)
    with torch.no_grad():
        decoder("fixed", "16.2")(tokens(63))  # too short
        decoder("strided", "2")(tokens(93))  # every second token is half of all
        decoder("strided", "8", "alibi")(tokens(93))  # a bias by distance
        decoder("fixed", "16.2", "alibi")(tokens(93))  # a bias by distance, and keys far apart
        decoder("none", "")(tokens(93))
        decoder("fixed", "16.2", pad_id=0)(tokens(93).index_fill(1, torch.tensor([92]), 0))  # padding
        decoder("fixed", "16.2")(tokens(93), mask=torch.ones(1, 1, 93, 93, dtype=torch.bool))
        decoder("fixed", "16.2")(tokens(93, 1), trace=Trace())
        model = decoder("fixed", "16.2")
        model.decode(tokens(93), cache=model.new_cache())
        assert shares == []
        model(tokens(93))
    assert len(shares) == 2
    assert shares[0] < sparse.MOST


def test_a_window_computes_as_much_as_its_width_asks_for():
    share = sparse.blocks("causal+window", "128", 2_048).share
    assert share == pytest.approx((128 * 128 + 15 * 128 * 255) / 2_048**2)


@pytest.mark.parametrize(
    ("n", "stride", "group"), [(93, 8, 8), (64, 5, 16), (30, 40, 7), (17, 1, 4), (9, 3, 9)]
)
def test_strides_are_the_softmax_under_the_mask(n, stride, group):
    generator = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(2, 3, n, 4, generator=generator, dtype=torch.float64) for _ in range(3))
    q.requires_grad_(), k.requires_grad_(), v.requires_grad_()
    scores = (0.7 * q @ k.mT).masked_fill(~masks.strided(n, stride), -torch.inf)
    expected = scores.softmax(-1) @ v
    found = sparse.Strides(n, stride, group).attend(q, k, v, scale=0.7)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)
    asked = torch.randn(found.shape, generator=generator, dtype=torch.float64)
    for ours, plain in zip(
        torch.autograd.grad((found * asked).sum(), (q, k, v)),
        torch.autograd.grad((expected * asked).sum(), (q, k, v)), strict=True,
    ):  # fmt: skip
        torch.testing.assert_close(ours, plain, atol=1e-12, rtol=0)


def test_strides_drop_weights_and_keep_their_mean():
    q = torch.zeros(1, 1, 64, 4)
    v = torch.ones(1, 1, 64, 4)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        z = [sparse.Strides(64, 8, 8).attend(q, q, v, scale=1.0, dropout=0.5) for _ in range(200)]
    assert z[0].std() > 0.05
    assert torch.stack(z).mean().item() == pytest.approx(1, abs=0.01)


def test_a_stride_computes_its_neighbours_and_its_class():
    assert sparse.Strides(8_192, 128, 128).share == (128 + 128 + 64) / 8_192
