"""Segment recurrence: the numbers of the memory mask, the gradients of Dai et al. 2019, 3.2."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from models import Transformer
from models.config import POSITION_SCHEMES
from models.engine.segments import SegmentMemory, in_segments

Make = Callable[..., Transformer]
TOKENS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5]])
SEGMENT, MEMORY = 4, 3


def decoder(make: Make, mask: str = "none", argument: str = "", **fields: object) -> Transformer:
    fields = {"max_len": 20, "pad_id": None, "positions": "transformer-xl", **fields}
    return make("decoder-only", mask=mask, mask_argument=argument, **fields)


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("segment", "memory"), [(3, 3), (4, 2), (2, 5), (5, 0), (20, 4)])
def test_segments_are_one_pass_under_the_memory_mask(
    make: Make, positions: str, norm: str, segment: int, memory: int
):
    model = decoder(make, "memory", f"{segment}.{memory}", positions=positions, norm=norm)
    found = in_segments(model, TOKENS, segment, memory)
    torch.testing.assert_close(found, model(TOKENS), rtol=0, atol=1e-12)


def test_padding_in_the_memory_is_not_seen(make: Make):
    model = decoder(make, "memory", f"{SEGMENT}.{MEMORY}", pad_id=0)
    tokens = TOKENS.clone()
    tokens[0, 3] = tokens[1, 5] = 0
    torch.testing.assert_close(in_segments(model, tokens, SEGMENT, MEMORY), model(tokens), rtol=0, atol=1e-12)


def test_no_gradient_flows_into_earlier_segments(make: Make):
    """The last segment's loss moves the embeddings of its own tokens; under the mask, of earlier ones too."""
    model = decoder(make, "memory", f"{SEGMENT}.{MEMORY}", tied_embeddings=False)
    tokens = torch.arange(12)[None] % 10  # the last segment reads 8 9 0 1, the memory before it 5 6 7
    in_segments(model, tokens, SEGMENT, MEMORY)[:, 8:].square().sum().backward()
    moved = model.embedding.weight.grad.abs().sum(dim=1) > 0
    assert moved.nonzero().flatten().tolist() == [0, 1, 8, 9]
    model.zero_grad()
    model(tokens)[:, 8:].square().sum().backward()
    moved = model.embedding.weight.grad.abs().sum(dim=1) > 0
    assert moved.nonzero().flatten().tolist() == list(range(10))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("recompute", [False, True])
def test_gradients_are_those_of_the_formula_written_out(make: Make, norm: str, recompute: bool):
    model = decoder(make, norm=norm)
    model.recompute = recompute
    model.train()
    loss_of(in_segments(model, TOKENS, SEGMENT, MEMORY)).backward()
    found = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    loss_of(by_hand(model, TOKENS)).backward()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(found[name], weight.grad, rtol=0, atol=1e-12, msg=name)
    model.zero_grad()
    masked = decoder(make, "memory", f"{SEGMENT}.{MEMORY}", norm=norm)
    masked.load_state_dict(model.state_dict())
    loss_of(masked(TOKENS)).backward()
    assert (found["embedding.weight"] - masked.embedding.weight.grad).abs().max() > 1e-4


def loss_of(logits: Tensor) -> Tensor:
    return cross_entropy(logits[:, :-1].flatten(0, 1), TOKENS[:, 1:].flatten())


def by_hand(model: Transformer, tokens: Tensor) -> Tensor:
    """The paper's loop: h = [SG(memory), segment] makes keys and values, the segment alone makes queries; the
    score of query i and key j is (q + u) . k + (q + v) . W_R r(i - j).
    """
    stack = model.decoder
    memories: list[Tensor | None] = [None] * len(stack.layers)
    logits = []
    for part in tokens.split(SEGMENT, dim=1):
        x = model.embedding(part) * model.config.d_model**0.5
        for i, layer in enumerate(stack.layers):
            wide = x if memories[i] is None else torch.cat([memories[i].detach(), x], dim=1)
            memories[i] = wide[:, -MEMORY:]
            pre = layer.pre_norm
            seen = layer.self_norm(wide) if pre else wide
            x = x + attended(layer.self_attention, stack.positions, i, seen[:, -x.shape[1] :], seen)
            x = x if pre else layer.self_norm(x)
            x = x + layer.feed_forward(layer.ff_norm(x) if pre else x)
            x = x if pre else layer.ff_norm(x)
        logits.append(model.unembed(stack.norm(x)))
    return torch.cat(logits, dim=1)


def attended(attention, scheme, layer: int, own: Tensor, seen: Tensor) -> Tensor:
    n, m = own.shape[1], seen.shape[1]
    of_heads = [
        side.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)
        for side in (attention.q_proj(own), attention.k_proj(seen), attention.v_proj(seen))
    ]
    q, k, v = of_heads
    d_model = own.shape[2]
    rate = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=own.dtype) / d_model)
    rows = []
    for i in range(n):
        last = m - n + i
        angle = (last - torch.arange(last + 1, dtype=own.dtype))[:, None] * rate
        wave = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        r = scheme.r_proj[layer](wave).unflatten(-1, (attention.n_heads, -1)).transpose(0, 1)
        query = q[:, :, i : i + 1]
        scores = (query + scheme.u) @ k[:, :, : last + 1].mT + (query + scheme.v) @ r.mT
        rows.append((scores * attention.scale).softmax(dim=-1) @ v[:, :, : last + 1])
    return attention.out_proj(torch.cat(rows, dim=2).transpose(1, 2).flatten(2))


def test_a_memory_keeps_as_much_as_it_may(make: Make):
    model, past = decoder(make), SegmentMemory(2, MEMORY)
    for at, part in enumerate(TOKENS.split(SEGMENT, dim=1)):
        model.read_segment(part, past)
        assert past.n_read == SEGMENT * (at + 1)
        assert past.tokens.tolist() == TOKENS[:, : past.n_read][:, -MEMORY:].tolist()
        assert past.before(0, torch.zeros(2, 0, model.config.d_model, dtype=torch.double)).shape[1] == MEMORY


def test_what_cannot_be_read_in_segments_is_said(make: Make):
    with pytest.raises(ValueError, match="length=-1 positions cannot be kept; give 0, for none, or more"):
        SegmentMemory(2, -1)
    with pytest.raises(ValueError, match="segment=0 tokens cannot be read; give 1 or more"):
        in_segments(decoder(make), TOKENS, 0, 3)
    sentence = (
        "kind='decoder-only' with mask='window' cannot read segment by segment; "
        "take a decoder-only model whose mask is 'none' or 'memory'"
    )
    with pytest.raises(ValueError, match=sentence):
        in_segments(decoder(make, "window", "3"), TOKENS, 3, 3)
    with pytest.raises(ValueError, match="24 tokens do not fit max_len=20"):
        in_segments(decoder(make), torch.cat([TOKENS, TOKENS], dim=1), 12, 3)
