"""Attention of any torch module: its own output, and a trace of all that attends in it."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import tree_leaves

from models.engine.capture.attention import near
from models.engine.capture.places import Places
from models.engine.capture.watching import Watching
from models.engine.trace import Trace

_NAMED = 4
"""Parts that a sentence names; of more, it says how many."""


def capture(module: nn.Module, *inputs: Any, **keywords: Any) -> tuple[Any, Trace]:
    """`module(*inputs, **keywords)` as it is, and a trace of every attention in it.

    Seen is what nn.MultiheadAttention, nn.Transformer and its layers, and F.scaled_dot_product_attention
    compute: q, k, v, scores, pattern and z, with `out` of multi-head attention. Torch's own layers have our
    addresses (`encoder.0.self.pattern`, `decoder.1.cross.q`), all others begin with the path of the part
    that computes them (`blocks.3.attn.pattern`; `attention.pattern` for the module itself; a second one
    there is `blocks.3.attn.2.pattern`). Where query heads share keys, k and v have fewer heads than q.
    Tensors of three axes are read as [head, position, d_head], of two as one head.

    What is written out, a softmax and then a matrix product, is not seen, as in XCiT, whose channels attend:
    a warning names the parts that do so, and `trace.notes` keeps its sentence.

    The module runs twice: first as it is, and that output is returned; then watched, without gradients,
    compiler and fast paths, from the same random state and buffers. Both outputs must be equal but for
    rounding. Raises ValueError where they are not, for a batch of more than one, for dropout in training,
    for nested tensors, for scripted modules, and where nothing attends.
    """
    _check_module(module)
    _check_dropout(module)
    buffers = {name: buffer.detach().clone() for name, buffer in module.named_buffers()}
    random = torch.random.get_rng_state()
    own = module(*inputs, **keywords)
    trace, places = Trace(), Places(module)
    with torch.random.fork_rng(), torch.no_grad(), _as_written(module), places.following():
        torch.random.set_rng_state(random)
        with Watching(trace, places) as watching:
            watched = functional_call(module, buffers, inputs, keywords)
    unheard = [path or type(module).__name__ for path in watching.unheard]
    _check_seen(module, trace, unheard)
    _check_alike(module, own, watched)
    if unheard:
        trace.notes.append(
            f"this trace lacks what is weighed by a softmax in {_listed(unheard)}, outside of PyTorch's "
            "attention; if that attends from token to token, let it call F.scaled_dot_product_attention"
        )
        warnings.warn(trace.notes[-1], stacklevel=2)
    return own, trace


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more parts" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more


def _check_module(module: nn.Module) -> None:
    if not isinstance(module, nn.Module):
        raise ValueError(
            f"{type(module).__name__} is no torch.nn.Module, so its parts cannot be told apart; "
            "make it the forward of one"
        )
    for part in module.modules():
        if isinstance(part, torch.jit.ScriptModule | nn.DataParallel):
            raise ValueError(
                f"{type(part).__name__} runs what cannot be watched; pass the module that it was made from"
            )


def _check_dropout(module: nn.Module) -> None:
    for path, part in module.named_modules():
        share = getattr(part, "dropout" if isinstance(part, nn.MultiheadAttention) else "p", 0.0)
        drops = isinstance(part, nn.MultiheadAttention | nn.modules.dropout._DropoutNd)
        if drops and part.training and share > 0:
            raise ValueError(
                f"{path or type(part).__name__} is in training with a dropout of {share:g}, so no two passes "
                "are alike; call module.eval() first"
            )


def _check_seen(module: nn.Module, trace: Trace, unheard: list[str]) -> None:
    if not trace.keys():
        by_hand = f" (a softmax of its own weighs in {_listed(unheard)})" if unheard else ""
        raise ValueError(
            f"{type(module).__name__} called neither nn.MultiheadAttention nor scaled_dot_product_attention, "
            f"so no attention was seen{by_hand}; let its attention call F.scaled_dot_product_attention "
            '(models of transformers do with attn_implementation="sdpa")'
        )


def _check_alike(module: nn.Module, own: Any, watched: Any) -> None:
    """Raises ValueError unless all tensors of both outputs are equal but for rounding."""
    firsts, seconds = tree_leaves(own), tree_leaves(watched)
    padded = any(
        isinstance(part, nn.TransformerEncoder) and part.use_nested_tensor for part in module.modules()
    )
    if len(firsts) != len(seconds) or not all(map(partial(_alike, padded), firsts, seconds)):
        raise ValueError(
            "the module's output was another when it was watched, so the trace may not be of what ran; if it "
            "keeps something from call to call, pass a fresh cache, or none; if it pads, pass all its masks"
        )


def _alike(padded: bool, own: Any, watched: Any) -> bool:
    if not isinstance(own, Tensor):
        return True
    if not isinstance(watched, Tensor) or own.is_nested or own.shape != watched.shape:
        return False
    own = own.detach()
    if padded and own.dim() > 1:
        # The fast path of nn.TransformerEncoder leaves padded positions out and writes zeros there.
        watched = watched.masked_fill((own == 0).all(dim=-1, keepdim=True), 0)
    return near(own, watched)


@contextmanager
def _as_written(module: nn.Module) -> Iterator[None]:
    """Each part runs as its code says: on no fast path of torch's layers, and not compiled."""
    parts = list(module.modules())
    compiled = any(hasattr(part, "_orig_mod") or part._compiled_call_impl is not None for part in parts)
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.compiler.set_stance("force_eager") if compiled else nullcontext():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
