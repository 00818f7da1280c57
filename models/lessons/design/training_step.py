"""A small stack of attention layers that is trained one step, to measure what `memory` counts."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from models.engine.attention import MultiHeadAttention
from models.lessons.design.memory import Setting
from models.lessons.design.metering import Held, held
from models.lessons.heads.cost import random_layer

HALF = torch.bfloat16


def written_out(
    q: Float[Tensor, "sequence head query d_head"],
    k: Float[Tensor, "sequence head key d_head"],
    v: Float[Tensor, "sequence head key d_head"],
) -> Float[Tensor, "sequence head query d_head"]:
    """Attention with its two matrices [query, key] in memory; q is scaled already."""
    scores = q @ k.mT
    pattern = scores.softmax(dim=-1)
    return pattern @ v


def attend(
    layer: MultiHeadAttention, x: Float[Tensor, "sequence position d_model"], fused: bool
) -> Float[Tensor, "sequence position d_model"]:
    """One layer of the stack, with the matrices written out or fused."""
    projections = (layer.q_proj, layer.k_proj, layer.v_proj)
    q, k, v = (w(x).unflatten(-1, (layer.n_heads, -1)).transpose(1, 2) for w in projections)
    z = F.scaled_dot_product_attention(q, k, v) if fused else written_out(q * layer.scale, k, v)
    return x + layer.out_proj(z.transpose(1, 2).flatten(2))


class Recomputed(torch.autograd.Function):
    """A layer that keeps only its input, and computes all else again for its backward pass.

    torch.utils.checkpoint does this for any module. Here it can be seen, and imports no compiler.
    """

    @staticmethod
    def forward(ctx: Any, layer: Callable[[Tensor], Tensor], x: Tensor, *weights: Tensor) -> Tensor:
        """Nothing inside is recorded. `weights` are named so that autograd knows of them."""
        ctx.layer = layer
        ctx.save_for_backward(x)
        return layer(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Forward once more, now recorded, and back; the weights' gradients are added where they are kept."""
        x = ctx.saved_tensors[0].detach().requires_grad_(ctx.needs_input_grad[1])
        with torch.enable_grad():
            out = ctx.layer(x)
        torch.autograd.backward(out, gradient)
        return None, x.grad, *(None for _ in ctx.needs_input_grad[2:])


def stack(setting: Setting) -> list[MultiHeadAttention]:
    """Random layers, with gradients that are already there, so that they are not counted."""
    dtype = HALF if setting.half else torch.float32
    d_model = setting.n_heads * setting.d_head
    layers = [random_layer(setting.n_heads, d_model, seed=at).to(dtype) for at in range(setting.n_layers)]
    for layer in layers:
        for weight in layer.parameters():
            weight.grad = torch.zeros_like(weight)
    return layers


def loss(layers: list[MultiHeadAttention], x: Tensor, setting: Setting) -> Tensor:
    """The sum of all outputs; any loss would do."""
    x = x.clone()
    for layer in layers:
        if setting.checkpointing:
            x = Recomputed.apply(partial(attend, layer, fused=setting.fused), x, *layer.parameters())
        else:
            x = attend(layer, x, setting.fused)
    return x.sum()


@lru_cache(maxsize=64)
def measure(setting: Setting) -> Held:
    """What a training step of the stack holds, piece by piece; it is measured once."""
    layers = stack(setting)
    size = (setting.n_sequences, setting.t, setting.n_heads * setting.d_head)
    x = torch.randn(size, generator=torch.Generator().manual_seed(0)).to(layers[0].q_proj.weight.dtype)
    pieces: list[Callable[[], Tensor]] = [
        partial(loss, layers, piece, setting) for piece in x.split(setting.at_once)
    ]
    return held(pieces)
