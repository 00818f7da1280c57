"""A capture leaves everything as one plain call would; what cannot be captured is refused in a sentence."""

from typing import Any

import pytest
import torch
from jaxtyping import config
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules import module as hooks

from models import Trace, capture
from models.engine.capture.attention import Call
from tests.models.engine.capture.test_modules import Attending


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


class Remembering(nn.Module):
    """Attends, counts its calls in a buffer, normalises by its batches and adds noise."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.norm = nn.BatchNorm1d(3)
        self.attention = nn.MultiheadAttention(3, 1, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        x = self.norm(x.mT).mT
        return self.attention(x, x, x)[0] + torch.randn(3) + self.calls


def test_state_is_as_after_one_plain_call() -> None:
    module, twin, x = Remembering(), Remembering(), random(1, 4, 3)
    twin.load_state_dict(module.state_dict())
    functions = (F.scaled_dot_product_attention, F.multi_head_attention_forward, F.softmax)
    torch.manual_seed(5)
    output, _ = capture(module, x)
    random_after = torch.get_rng_state()
    torch.manual_seed(5)
    assert torch.equal(output, twin(x))
    assert torch.equal(random_after, torch.get_rng_state())
    for name, value in twin.state_dict().items():
        assert torch.equal(module.state_dict()[name], value), name
    assert module.calls == 1 and module.training
    assert (F.scaled_dot_product_attention, F.multi_head_attention_forward, F.softmax) == functions
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
    assert not hooks._global_forward_hooks and not hooks._global_forward_pre_hooks
    output.sum().backward()  # its own output, with its own gradients
    assert module.attention.in_proj_weight.grad is not None


class Failing(nn.Module):
    """Fails where it is watched, after its attention."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Attending()
        self.fast: list[bool] = []

    def forward(self, x: Tensor) -> Tensor:
        self.fast.append(torch.backends.mha.get_fastpath_enabled())
        x = self.inner(x, x, x)
        if len(self.fast) == 2:
            raise RuntimeError("not today")
        return x


@pytest.mark.parametrize("enabled", [True, False])
def test_all_is_undone_where_the_module_fails(enabled: bool) -> None:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(enabled)
    try:
        module = Failing()
        with pytest.raises(RuntimeError, match="not today"):
            capture(module, random(1, 1, 4, 3))
        assert module.fast == [enabled, False]
        assert torch.backends.mha.get_fastpath_enabled() == enabled
        assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class Counting(nn.Module):
    calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return F.scaled_dot_product_attention(x, x, x) * self.calls


class Native(nn.Module):
    """Calls the fast path by itself."""

    def forward(self, x: Tensor) -> Any:
        square, bias = torch.ones(12, 4), torch.ones(12)
        return torch._native_multi_head_attention(x, x, x, 4, 2, square, bias, square[:4], bias[:4])


class ByHand(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x @ x.mT).softmax(-1) @ x


def nested(x: Tensor) -> Tensor:
    return torch.nested.nested_tensor(list(x), layout=torch.jagged).transpose(1, 2)


REFUSED: list[tuple[nn.Module, list[Tensor], dict[str, Any], str]] = [
    (Attending(), [random(2, 1, 4, 3)] * 3, {}, r"attention attends with a batch of 2, .* x\[i : i \+ 1\]"),
    (Attending(), [random(1, 1, 4, 3), *[random(2, 1, 4, 3)] * 2], {}, "with a batch of 2"),
    (Attending(), [random(1, 1, 4, 3)] * 3, {"dropout_p": 1e-9}, "dropout_p=1e-09, .* call module.eval"),
    (Attending(), [nested(random(1, 4, 1, 3))] * 3, {}, "attends in nested tensors, .* pass one sequence"),
    (
        nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True),
        [random(1, 3, 4)] * 3,
        {},
        "MultiheadAttention is in training with a dropout of 0.1, .* call module.eval",
    ),
    (
        nn.TransformerEncoderLayer(4, 2),
        [random(3, 1, 4)],
        {},
        "self_attn is in training with a dropout of 0.1",
    ),
    (
        nn.MultiheadAttention(4, 2, batch_first=True),
        [random(3, 5, 4)] * 3,
        {},
        "attention attends with a batch of 3, but a trace holds one prompt",
    ),
    (
        ByHand(),
        [random(1, 4, 3)],
        {},
        "ByHand called neither nn.MultiheadAttention nor scaled_dot",
    ),
    (Counting(), [random(1, 1, 4, 3)], {}, "another when it was watched, .* pass a fresh cache"),
    (Native(), [random(1, 3, 4)], {}, "calls torch._native_multi_head_attention by itself, which shows no"),
]


@pytest.mark.parametrize(("module", "inputs", "keywords", "message"), REFUSED)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_cannot_be_captured_is_refused_in_a_sentence(
    module: nn.Module, inputs: list[Tensor], keywords: dict[str, Any], message: str
) -> None:
    with torch.no_grad(), pytest.raises(ValueError, match=message):
        capture(module, *inputs, **keywords)


def test_a_result_that_its_pattern_does_not_explain_is_refused() -> None:
    """As a fused kernel might give that knows another mask."""
    q = random(1, 2, 4, 3)
    ran = F.scaled_dot_product_attention(q, q, q)
    Call(q, q, q).record(Trace(), "blocks.0", ran)
    with pytest.raises(ValueError, match=r"blocks.1 gave another result than softmax\(scores\) v"):
        Call(q, q, q, is_causal=True).record(Trace(), "blocks.1", ran)


def test_what_is_no_module_is_refused_in_a_sentence() -> None:
    config.update("jaxtyping_disable", True)  # as users have it
    try:
        with pytest.raises(ValueError, match=r"function is no torch.nn.Module, .* the forward of one"):
            capture(random, 3)
    finally:
        config.update("jaxtyping_disable", False)
