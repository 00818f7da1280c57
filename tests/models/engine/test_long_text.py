"""Long texts in blocks: every number is that of the whole pattern, which is never in memory."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.engine import long_text, masks
from attention_lab.models.engine.long_text import LongHeads, LongTrace

N = 300


def pooled(pattern: Tensor, tall: int, wide: int, measure: str) -> Tensor:
    """The cells of a pattern by a plain loop, in float64."""
    rows = [pattern[start : start + tall].double() for start in range(0, len(pattern), tall)]
    return torch.stack(
        [
            torch.stack(
                [
                    (cell.max() if measure == "largest" else cell.mean())
                    for cell in (row[:, start : start + wide] for start in range(0, row.shape[1], wide))
                ]
            )
            for row in rows
        ]
    )


def heads(n_query: int, n_key: int, *, causal: bool, seed: int = 0, n_key_heads: int = 2) -> LongHeads:
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(4, n_query, 8, generator=generator)
    k = torch.randn(n_key_heads, n_key, 8, generator=generator)
    return LongHeads(q, k, 8**-0.5, causal)


def pattern_of(of: LongHeads, head: int) -> Tensor:
    scores = of.scale * of.q[head].double() @ of.k[head * len(of.k) // len(of.q)].double().T
    if of.cap is not None:
        scores = of.cap * torch.tanh(scores / of.cap)
    if of.causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
    if of.allowed is not None:
        allowed = of.allowed(slice(0, of.n_queries), slice(0, of.n_keys))
        scores = scores.masked_fill(~allowed[min(head, len(allowed) - 1)], -torch.inf)
    return scores.softmax(-1).nan_to_num(0.0)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few cells at once that even these texts take several blocks, the last one smaller."""
    monkeypatch.setattr(long_text, "CELLS", 7_000)


@pytest.mark.parametrize(("size", "measure"), [(16, "largest"), (37, "mean"), (512, "largest")])
@pytest.mark.parametrize("causal", [True, False])
def test_the_picture_of_the_whole_has_the_cells_of_the_whole_pattern(
    causal: bool, size: int, measure: long_text.Measure
) -> None:
    of = heads(N, N, causal=causal)
    for head in (0, 3):
        found = of.whole(head, size=size, measure=measure)
        expected = pooled(pattern_of(of, head), found.tall, found.wide, measure)
        assert max(expected.shape) <= size
        torch.testing.assert_close(found.cells.double(), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("without", [0, 1, 5])
def test_without_the_first_keys_the_others_stay_as_they_are(without: int) -> None:
    of = heads(N, N, causal=True)
    pattern = pattern_of(of, 1)
    pattern[:, :without] = 0
    found = of.whole(1, size=20, without=without)
    torch.testing.assert_close(found.cells.double(), pooled(pattern, 15, 15, "largest"), atol=1e-6, rtol=0)
    pairs = of.brightest(1, found, 10, without=without)
    top = pattern[1:].flatten().topk(10).values  # query 0 has one key, and nothing to say
    torch.testing.assert_close(torch.tensor([p.weight for p in pairs]).double(), top, atol=1e-6, rtol=0)
    assert all(pair.key >= without for pair in pairs)
    part = of.window(1, slice(3, 90), slice(2, 50), without=without)
    torch.testing.assert_close(part.cells.double(), pattern[3:90, 2:50], atol=1e-6, rtol=0)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("size", [10, 512])
def test_a_window_is_a_part_of_the_pattern(known: bool, size: int) -> None:
    of = heads(N, N, causal=True)
    if known:
        of.whole(2)
    found = of.window(2, slice(101, 290), slice(40, 187), size=size)
    expected = pooled(pattern_of(of, 2)[101:290, 40:187], found.tall, found.wide, "largest")
    assert (found.q0, found.k0) == (101, 40)
    torch.testing.assert_close(found.cells.double(), expected, atol=1e-6, rtol=0)


def test_rows_columns_and_the_brightest_pairs() -> None:
    of = heads(N, N + 20, causal=False)
    pattern = pattern_of(of, 3)
    torch.testing.assert_close(of.row(3, 17).double(), pattern[17], atol=1e-6, rtol=0)
    torch.testing.assert_close(of.column(3, 5).double(), pattern[:, 5], atol=1e-6, rtol=0)
    pairs = of.brightest(3, of.whole(3, size=30), 25)
    top = pattern.flatten().topk(25)
    torch.testing.assert_close(
        torch.tensor([p.weight for p in pairs]).double(), top.values, atol=1e-6, rtol=0
    )
    assert {(p.query, p.key) for p in pairs} == {divmod(at, N + 20) for at in top.indices.tolist()}


@pytest.mark.parametrize(
    ("mask", "argument", "expected"),
    [
        ("causal", "", [0]),
        ("causal+packed", "40.7.1.60", [0, 40, 47, 48, 108]),
        ("causal+window", "1", list(range(N))),
        ("padding", str(N - 1), list(range(N))),
        ("none", "", []),
    ],
)
def test_a_query_with_one_key_alone_is_among_no_brightest_pairs(
    mask: str, argument: str, expected: list[int]
) -> None:
    of = heads(N, N, causal=False)
    of.k[:, :, 0] *= 40  # so sharp that many rows come to 1 in float32 although they see many keys
    of = LongHeads(of.q, of.k, of.scale, False, allowed=masks.in_parts(mask, argument, N))
    assert of.lone(1).nonzero().flatten().tolist() == expected
    pairs = of.brightest(1, of.whole(1, size=20), 10)
    pattern = pattern_of(of, 1)
    pattern[expected] = 0
    top = pattern.flatten().topk(10).values
    found = torch.tensor([pair.weight for pair in pairs]).double()
    torch.testing.assert_close(found, top[top > 0], atol=1e-6, rtol=0)


def test_without_a_mask_only_a_first_query_sees_one_key() -> None:
    assert heads(N, N, causal=True).lone(0).nonzero().flatten().tolist() == [0]
    assert not heads(N, N, causal=False).lone(0).any()
    assert heads(N, 1, causal=False).lone(0).all()


def test_sinks_take_their_part_of_every_row() -> None:
    of = heads(N, N, causal=True)
    of = LongHeads(of.q, of.k, of.scale, True, sinks=torch.tensor([0.3, 9.0, -4.0, 1.5]))
    v = torch.randn(2, N, 8, generator=torch.Generator().manual_seed(3))
    z = of.attend(v, lambda share: None)
    for head in range(4):
        scores = of.scale * of.q[head].double() @ of.k[head // 2].double().T
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
        sink = of.sinks[head].double().expand(N, 1)
        pattern = torch.cat([scores, sink], dim=1).softmax(-1)[:, :-1]
        assert pattern.sum(-1).max() < 1
        torch.testing.assert_close(of.whole(head).cells.double(), pattern, atol=1e-6, rtol=0)
        torch.testing.assert_close(of.row(head, 7).double(), pattern[7], atol=1e-6, rtol=0)
        torch.testing.assert_close(z[head].double(), pattern @ v[head // 2].double(), atol=1e-5, rtol=1e-5)
    assert not of.lone(0).any()  # what the first query gives to its only key says something
    top = pattern.flatten().topk(5).values
    pairs = of.brightest(3, of.whole(3, size=30), 5)
    torch.testing.assert_close(torch.tensor([p.weight for p in pairs]).double(), top, atol=1e-6, rtol=0)


def test_caps_and_masks() -> None:
    of = heads(N, N, causal=True)
    mask = torch.ones(1, N, N, dtype=torch.bool).triu(-9)
    mask[0, 50] = False
    for changed in (
        LongHeads(of.q, of.k, of.scale, True, cap=0.5),
        LongHeads(of.q, of.k, of.scale, True, allowed=masks.of_tensor(mask)),
        LongHeads(of.q, of.k, of.scale, False, allowed=masks.of_tensor(mask[:, :1])),
    ):
        expected = pattern_of(changed, 0)
        torch.testing.assert_close(changed.whole(0).cells.double(), expected, atol=1e-6, rtol=0)
        v = torch.randn(2, N, 8, generator=torch.Generator().manual_seed(3))
        z = changed.attend(v, lambda share: None)
        torch.testing.assert_close(z[0].double(), expected @ v[0].double(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-only"])
@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_a_long_pass_is_the_traced_pass(positions: str, kind: str) -> None:
    model = Transformer(
        ModelConfig(
            kind=kind, n_layers=2, n_heads=4, d_model=16, vocab_size=50, max_len=N, positions=positions,
            pad_id=None,
        ),
        seed=1,
    ).eval()  # fmt: skip
    ids = torch.randint(50, (1, N), generator=torch.Generator().manual_seed(2))
    whole, long = Trace(), LongTrace()
    side = kind.removesuffix("-only")
    with torch.no_grad():
        logits = model(ids, trace=whole)
        torch.testing.assert_close(model(ids, trace=long), logits, atol=1e-4, rtol=1e-4)
    assert list(long) == []
    assert list(long.heads) == [f"{side}.0.self", f"{side}.1.self"]
    for address, of in long.heads.items():
        for head in range(4):
            expected = whole[f"{address}.pattern"][head]
            torch.testing.assert_close(of.whole(head).cells, expected, atol=1e-6, rtol=0)


def test_what_is_kept_is_what_is_wanted_and_whoever_listens_may_end_the_work() -> None:
    model = Transformer(
        ModelConfig(kind="decoder-only", n_layers=3, n_heads=2, d_model=8, vocab_size=50, max_len=N), seed=1
    ).eval()
    ids = torch.arange(N)[None] % 49 + 1
    heard: list[int] = []
    long = LongTrace(lambda address: address == "decoder.1.self", heard.append)
    with torch.no_grad():
        model(ids, trace=long)
    assert (list(long.heads), heard) == (["decoder.1.self"], [1, 2, 3])
    assert long.heads["decoder.1.self"].n_bytes == 2 * N * 8 * 4

    def stop(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        long.heads["decoder.1.self"].whole(0, progress=stop)
