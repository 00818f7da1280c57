"""Reads long texts through a model of transformers, masks and biases as rules, never whole matrices.

What transformers would make of n x n numbers beside its attention is replaced while a long text is read: its
mask by the function that it is made from, T5's biases by one number for each distance.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers.masking_utils import sdpa_mask

from ...engine.long_text import LongHeads, LongTrace
from ...engine.masks import Allowed, of_tensor
from ...engine.position_scheme import ByDistance, ScoreTerm, Whole
from .attention import LONG, AttentionCall

_RULE = "_rule_of_attention_lab"


class LongReader(NamedTuple):
    """A long text that is read. names: the address of each attention by its module's id."""

    names: dict[int, str]
    trace: LongTrace

    def keep(
        self,
        call: AttentionCall,
        qkv: tuple[Tensor, Tensor, Tensor],
        mask: Tensor | None,
        bias: Tensor | None,
        *,
        causal: bool,
    ) -> Tensor:
        """z [1, query, head, d_head] of an attention of a long text."""
        q, k, v = (each[0].float() for each in qkv)
        sinks = getattr(call.module, "sinks", None)
        heads = LongHeads(
            q, k, call.scale, causal and mask is None and q.shape[1] > 1, call.cap,
            None if mask is None else _allowed(call.module, mask),
            None if bias is None else _added(bias, q.shape[1], k.shape[1]),
            None if sinks is None else sinks.detach().float(),
        )  # fmt: skip
        z = self.trace.attend(self.names[id(call.module)], heads, v)
        return z[None].transpose(1, 2).to(qkv[0].dtype)

    def mask_of(self, *args: Any, **keywords: Any) -> Tensor | None:
        """The mask that transformers makes, with its rule in the place of its numbers; None for no mask, or
        where a kernel knows it.
        """
        known = signature(sdpa_mask).bind(*args, **keywords)
        known.apply_defaults()
        arguments = known.arguments | known.arguments.pop("kwargs", {})
        if arguments["use_vmap"] or arguments["attention_mask"] is not None:
            return sdpa_mask(**arguments)
        rule = arguments["mask_function"]
        empty = sdpa_mask(
            **arguments | {"mask_function": lambda *at: torch.zeros(1, 1, 1, 1, dtype=torch.bool)}
        )
        if empty is not None:
            setattr(empty, _RULE, partial(_part, rule, arguments["q_offset"], arguments["kv_offset"]))
        return empty


@contextmanager
def reading_long(net: nn.Module, names: dict[int, str], trace: LongTrace) -> Iterator[None]:
    """Within it, this thread lets a model read a long text, whose attentions are kept in `trace`."""
    module: Any
    for module in net.modules():
        if hasattr(module, "compute_bias") and "compute_bias" not in vars(module):
            module.compute_bias = partial(_compute_bias, module.compute_bias)
    token = LONG.set(LongReader(names, trace))
    try:
        yield
    finally:
        LONG.reset(token)


def _part(rule: Callable[..., Tensor], q_offset: int, kv_offset: int, rows: slice, keys: slice) -> Tensor:
    one = torch.zeros(1, 1, 1, 1, dtype=torch.long)
    query = torch.arange(rows.start, rows.stop)[None, None, :, None] + q_offset
    key = torch.arange(keys.start, keys.stop)[None, None, None, :] + kv_offset
    return rule(one, one, query, key).expand(1, -1, query.shape[2], key.shape[3])[0]


def _allowed(module: nn.Module, mask: Tensor) -> Allowed:
    rule: Allowed | None = getattr(mask, _RULE, None)
    if rule is not None:
        return rule
    if mask.untyped_storage().nbytes() == 1:  # a part of what `mask_of` gave
        raise ValueError(f"long texts cannot follow the mask of {type(module).__name__}; open another model")
    return of_tensor(mask[0] if mask.dtype == torch.bool else mask[0] == 0)


def _compute_bias(
    whole: Callable[..., Tensor],
    query_length: int,
    key_length: int,
    device: Any = None,
    past_seen_tokens: int = 0,
) -> Tensor:
    """T5's biases: of a long text a last query's, whose keys stand at all distances that there are."""
    if LONG.get() is None:
        return whole(query_length, key_length, device=device, past_seen_tokens=past_seen_tokens)
    n_distances = query_length + key_length - 1
    return whole(1, n_distances, device=device, past_seen_tokens=past_seen_tokens + query_length - 1)


def _added(bias: Tensor, n_query: int, n_key: int) -> ScoreTerm:
    """What `_compute_bias` gave, [1, head, 1, distance], or a whole [1, head, query, key]."""
    values = bias[0].float()
    if values.shape[1:] == (1, n_query + n_key - 1):
        return ByDistance(values[:, 0].contiguous(), n_query)
    return Whole(values)
