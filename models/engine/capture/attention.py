"""One call of PyTorch's attention, computed again step by step."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from models.engine.trace import Scope, Trace, record

# How far a sum may lie from another of the same numbers in another order, as a share of the largest.
ROUNDING = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}


@dataclass(frozen=True)
class Call:
    """What `scaled_dot_product_attention` is given, by its own names."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False

    def check(self, place: str) -> None:
        """Raises ValueError where no trace can hold this call."""
        if any(tensor.is_nested for tensor in (self.query, self.key, self.value)):
            raise ValueError(
                f"{place} attends in nested tensors, which have no matrix of queries and keys; "
                "pad the input, or pass one sequence"
            )
        if self.dropout_p:
            raise ValueError(
                f"{place} drops weights with dropout_p={self.dropout_p:g}, so no two passes are alike; "
                "call module.eval(), or pass 0 for it"
            )
        batch = max(math.prod(tensor.shape[:-3]) for tensor in (self.query, self.key, self.value))
        if batch != 1:
            raise ValueError(
                f"{place} attends with a batch of {batch}, but a trace holds one prompt; "
                "pass inputs with a batch of 1, like x[i : i + 1]"
            )

    def record(self, trace: Trace, place: str, ran: Tensor) -> None:
        """Records q, k, v, scores, pattern and z; raises ValueError if that z is not what ran.

        Tensors of two axes are one head, those of three [head, position, d_head]. Where query heads share
        keys (grouped queries), k and v have fewer heads than q, each for as many neighbouring ones.
        """
        scope = Scope(trace, place)
        for name, tensor in (("q", self.query), ("k", self.key), ("v", self.value)):
            record(scope, name, _kept(tensor))
        q, k, v = (_precise(_one_prompt(tensor)) for tensor in (self.query, self.key, self.value))
        k, v = _for_each(k, q.shape[1]), _for_each(v, q.shape[1])
        scale = 1 / math.sqrt(q.shape[-1]) if self.scale is None else self.scale
        scores = record(scope, "scores", self._masked((q * scale) @ k.mT))  # [1, head, query, key]
        pattern = record(scope, "pattern", _softmax(scores))
        z = pattern @ v  # [1, head, query, d_head]
        if not near(z, ran.reshape(z.shape)):
            raise ValueError(
                f"{place} gave another result than softmax(scores) v, so its pattern is not known; "
                "please tell us how it attends"
            )
        record(scope, "z", _kept(ran))

    def _masked(self, scores: Tensor) -> Tensor:
        if self.is_causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        if self.attn_mask is None:
            return scores
        mask = self.attn_mask
        mask = mask.reshape(-1, *mask.shape[-2:]) if mask.dim() > 2 else mask  # [1 or head, query, key]
        return scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask


def near(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors of one shape are equal but for rounding; NaN equals NaN."""
    if not (first.is_floating_point() and second.is_floating_point()):
        return torch.equal(first, second)
    coarser = first if first.element_size() < second.element_size() else second
    share = ROUNDING.get(coarser.dtype, 0.0)
    first, second = _precise(first), _precise(second)
    finite = second[second.isfinite()]
    reach = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(first.to(second.dtype), second, rtol=0, atol=share * reach, equal_nan=True)


def _one_prompt(tensor: Tensor) -> Tensor:
    """[..., position, channel] as [1, head, position, channel]."""
    return tensor.reshape(1, -1, *tensor.shape[-2:])


def _kept(tensor: Tensor) -> Tensor:
    """A copy, for the module may go on and change its own in place."""
    return _one_prompt(tensor.detach()).clone()


def _for_each(shared: Tensor, n_heads: int) -> Tensor:
    return shared.repeat_interleave(n_heads // shared.shape[1], dim=1)


def _precise(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _softmax(scores: Tensor) -> Tensor:
    """Softmax over keys; zeros, not NaN, where a row is all -inf."""
    empty = scores.isneginf().all(dim=-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)
