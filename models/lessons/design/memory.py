"""Where the memory of training goes in attention, by formula; and the same, measured on a small stack.

The stack is attention alone: x + W_O z, layer upon layer, without feed-forward network, norms or biases.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from models.engine.attention import MultiHeadAttention
from models.lessons.design.metering import Held, held
from models.lessons.heads.cost import random_layer

HALF = torch.bfloat16
LOGSUMEXP_BYTES = 4  # float32 whatever the rest is


@dataclass(frozen=True)
class Setting:
    """n_sequences of t tokens in n_layers layers of n_heads heads; and what is done to save memory."""

    n_sequences: int
    t: int
    n_heads: int
    n_layers: int
    d_head: int = 64
    half: bool = False
    n_pieces: int = 1
    checkpointing: bool = False
    fused: bool = False

    @property
    def number_bytes(self) -> int:
        return 2 if self.half else 4

    @property
    def at_once(self) -> int:
        """Sequences in memory together; gradients of several pieces add up (gradient accumulation).

        Raises ValueError where the pieces are not equal.
        """
        if self.n_sequences % self.n_pieces:
            raise ValueError(
                f"{self.n_sequences} sequences are no {self.n_pieces} equal pieces; "
                f"try {_divisor(self.n_sequences, self.n_pieces)} pieces"
            )
        return self.n_sequences // self.n_pieces


SMALL = Setting(n_sequences=8, t=96, n_heads=2, n_layers=2, d_head=8)
"""A stack so small that training it one step, to measure, takes no time."""


def _divisor(n: int, near: int) -> int:
    """The divisor of n nearest to a number."""
    return min((d for d in range(1, n + 1) if n % d == 0), key=lambda d: abs(d - near))


def matrix_bytes(n_sequences: int, t: int, number_bytes: int = 4) -> int:
    """One attention matrix [t, t] for each sequence: one head of one layer."""
    return n_sequences * t * t * number_bytes


def four_copies(setting: Setting) -> int:
    """The count of Bloem 2019, Transformers from scratch: before and after softmax, and both gradients,
    in every head of every layer.
    """
    one = matrix_bytes(setting.at_once, setting.t, setting.number_bytes)
    return 4 * one * setting.n_heads * setting.n_layers


def layer_bytes(setting: Setting) -> int:
    """What one layer keeps for its backward pass: x, q, k, v and z, and the pattern of every head.

    Fused attention keeps one number a query and head, from which it makes the pattern again
    (Dao et al. 2022, 3.1).
    """
    return 5 * stream_bytes(setting) + (
        setting.at_once * setting.n_heads * setting.t * LOGSUMEXP_BYTES
        if setting.fused
        else setting.n_heads * matrix_bytes(setting.at_once, setting.t, setting.number_bytes)
    )


def stream_bytes(setting: Setting) -> int:
    """x itself, [sequence, position, n_heads * d_head]."""
    return setting.at_once * setting.t * setting.n_heads * setting.d_head * setting.number_bytes


def kept_bytes(setting: Setting) -> int:
    """From the forward pass to the backward pass; with checkpointing only the layers' inputs.

    Chen et al. 2016 (4) keep the ends of segments of several layers; here every layer is a segment.
    """
    return setting.n_layers * (stream_bytes(setting) if setting.checkpointing else layer_bytes(setting))


def peak_bytes(setting: Setting) -> int:
    """The most at any time, weights left out: what is kept, and what one layer's backward pass works on.

    That is the gradients of pattern and scores; of fused attention, those of q, k, v and z. With
    checkpointing, the layer's own have first been computed again.
    """
    at_work = (
        4 * stream_bytes(setting)
        if setting.fused
        else 2 * setting.n_heads * matrix_bytes(setting.at_once, setting.t, setting.number_bytes)
    )
    again = layer_bytes(setting) if setting.checkpointing else 0
    return kept_bytes(setting) + again + at_work


def attend(
    layer: MultiHeadAttention, x: Float[Tensor, "sequence position d_model"], fused: bool
) -> Float[Tensor, "sequence position d_model"]:
    """One layer of the stack, with the matrices written out or fused."""
    projections = (layer.q_proj, layer.k_proj, layer.v_proj)
    q, k, v = (w(x).unflatten(-1, (layer.n_heads, -1)).transpose(1, 2) for w in projections)
    z = F.scaled_dot_product_attention(q, k, v) if fused else written_out(q * layer.scale, k, v)
    return x + layer.out_proj(z.transpose(1, 2).flatten(2))


def written_out(
    q: Float[Tensor, "sequence head query d_head"],
    k: Float[Tensor, "sequence head key d_head"],
    v: Float[Tensor, "sequence head key d_head"],
) -> Float[Tensor, "sequence head query d_head"]:
    """Attention with its two matrices [query, key] in memory; q is scaled already."""
    scores = q @ k.mT
    pattern = scores.softmax(dim=-1)
    return pattern @ v


class Recomputed(torch.autograd.Function):
    """A layer that keeps only its input, and computes all else again for its backward pass.

    What torch.utils.checkpoint does for any module; to see, and without the compiler that that imports.
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
    """What a training step of the stack holds, piece by piece. Remembered."""
    layers = stack(setting)
    size = (setting.n_sequences, setting.t, setting.n_heads * setting.d_head)
    x = torch.randn(size, generator=torch.Generator().manual_seed(0)).to(layers[0].q_proj.weight.dtype)
    pieces: list[Callable[[], Tensor]] = [
        partial(loss, layers, piece, setting) for piece in x.split(setting.at_once)
    ]
    return held(pieces)


def one_by_one(plain: Setting, n_pieces: int = 4) -> dict[str, Setting]:
    """The plain setting, and with each saving alone."""
    return {
        "plain": plain,
        "half precision": replace(plain, half=True),
        f"accumulation, {n_pieces} pieces": replace(plain, n_pieces=n_pieces),
        "checkpointing": replace(plain, checkpointing=True),
        "fused attention": replace(plain, fused=True),
    }
