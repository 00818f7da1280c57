"""Where the memory of training goes in attention, by formula.

The stack is attention alone: x + W_O z, layer upon layer, without feed-forward network, norms or biases.
"""

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.pages.lab.attention_cost import random_layer
from attention_lab.pages.lab.design.inputs import LONG, Inputs
from attention_lab.pages.lab.lesson import Answer, Columns, Lesson, Note, part
from attention_lab.viz_core.boards import Bars, Curves, Fact, Facts, Line, Scrub, Table

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
                f"{self.n_sequences} sequences cannot be cut into {self.n_pieces} equal pieces; "
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
    """What is kept from the forward pass to the backward pass; with checkpointing, only the layers' inputs.

    Chen et al. 2016 (4) keep the ends of segments of several layers; here every layer is a segment.
    """
    return setting.n_layers * (stream_bytes(setting) if setting.checkpointing else layer_bytes(setting))


def peak_bytes(setting: Setting) -> int:
    """The most at any time, without weights: what is kept, and what one layer's backward pass works on.

    The latter are the gradients of pattern and scores, or with fused attention those of q, k, v and z. With
    checkpointing, the layer's own tensors have first been computed again.
    """
    at_work = (
        4 * stream_bytes(setting)
        if setting.fused
        else 2 * setting.n_heads * matrix_bytes(setting.at_once, setting.t, setting.number_bytes)
    )
    again = layer_bytes(setting) if setting.checkpointing else 0
    return kept_bytes(setting) + again + at_work


def one_by_one(plain: Setting, n_pieces: int = 4) -> dict[str, Setting]:
    """The plain setting, and the same with each saving alone."""
    return {
        "plain": plain,
        "half precision": replace(plain, half=True),
        f"accumulation, {n_pieces} pieces": replace(plain, n_pieces=n_pieces),
        "checkpointing": replace(plain, checkpointing=True),
        "fused attention": replace(plain, fused=True),
    }


class MemoryUse(NamedTuple):
    """Bytes beyond those held before: kept from the forward pass to the backward pass, and at the peak."""

    kept: int
    peak: int


class Meter(TorchDispatchMode):
    """Counts the bytes of every storage that an operation makes, until nobody holds it any more.

    Views share a storage, which is counted once. Scratch space inside one operation is not seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.peak = 0
        self._known: set[int] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Otherwise the first use imports PyTorch's compiler, which takes seconds, and memory for good."""
        return False

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        results = operation(*args, **(kwargs or {}))
        new = [tensor for tensor in tensors(results) if id_of(tensor) not in self._known]
        if new:
            arguments = {id_of(tensor) for tensor in tensors((*args, *(kwargs or {}).values()))}
            for tensor in new:
                if id_of(tensor) not in arguments | self._known:  # two results may share a storage
                    self._count(tensor)
        return results

    def _count(self, tensor: Tensor) -> None:
        storage, key = tensor.untyped_storage(), id_of(tensor)
        self._known.add(key)
        self.now += storage.nbytes()
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, key, storage.nbytes())

    def _forget(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.now -= size


def tensors(values: object) -> Iterator[Tensor]:
    """All tensors among an operation's arguments or results; much faster than PyTorch's own search."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, list | tuple):
        for value in values:
            yield from tensors(value)


def id_of(tensor: Tensor) -> int:
    """The same for all views of one storage."""
    return tensor.untyped_storage()._cdata


def measure_pieces(pieces: Sequence[Callable[[], Tensor]]) -> MemoryUse:
    """What forward passes keep for their backward passes, and the most that is held at any time.

    Each piece returns a loss, and is over, with its backward pass, before the next begins. Gradients of
    weights count unless they are there before.
    """
    most = 0
    with Meter() as meter:
        for forward in pieces:
            loss = forward()
            most = max(most, meter.now - loss.untyped_storage().nbytes())
            loss.backward()
            del loss
    return MemoryUse(most, meter.peak)


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
def measure(setting: Setting) -> MemoryUse:
    """What a training step of the stack holds, piece by piece; it is measured once."""
    layers = stack(setting)
    size = (setting.n_sequences, setting.t, setting.n_heads * setting.d_head)
    x = torch.randn(size, generator=torch.Generator().manual_seed(0)).to(layers[0].q_proj.weight.dtype)
    pieces: list[Callable[[], Tensor]] = [
        partial(loss, layers, piece, setting) for piece in x.split(setting.at_once)
    ]
    return measure_pieces(pieces)


def facts(plain: list[Setting], mine: list[Setting]) -> Facts:
    n = plain[0].n_sequences
    one = np.array([matrix_bytes(each.n_sequences, each.t) for each in plain]) / 1e6
    everything, kept = (np.array(list(map(rule, plain))) / 1e9 for rule in (four_copies, kept_bytes))
    return Facts.of(
        Fact(f"one head's matrices, {n} sequences", one, 0, "MB"),
        Fact("four copies of them", 4 * one, 0, "MB"),
        Fact("× heads × layers", everything, 1, "GB"),
        Fact("PyTorch keeps, plain", kept, 1, "GB"),
        Fact("peak, with your switches", np.array(list(map(peak_bytes, mine))) / 1e9, 2, "GB", "accent"),
    )


def bars(plain: list[Setting], mine: list[Setting]) -> Bars:
    each = [[*one_by_one(one).values(), switched] for one, switched in zip(plain, mine, strict=True)]
    peaks = np.array([[peak_bytes(setting) for setting in settings] for settings in each])
    return Bars(
        title="peak, % of plain: each saving alone, and your switches",
        values=100 * peaks / peaks[:, :1],
        labels=("plain", "half", "4 pieces", "checkpoint", "fused", "yours"),
        digits=1,
        reach=115,
    )


def curves(plain: list[Setting], mine: list[Setting]) -> Curves:
    x = np.array(LONG, float)
    return Curves(
        title="peak over the length", x=x, at=x, x_label="tokens t", y_label="GB", log_x=True, log_y=True,
        lines=[
            Line(np.array([four_copies(each) for each in plain]) / 1e9, "four copies", 1),
            Line(np.array([peak_bytes(each) for each in plain]) / 1e9, "plain", 2),
            Line(np.array([peak_bytes(each) for each in mine]) / 1e9, "your switches"),
            Line(np.full(len(x), 24.0), "24 GB", "muted", dashed=True),
            Line(np.full(len(x), 80.0), "80 GB", 3, dashed=True),
        ],
    )  # fmt: skip


def measured(mine: Setting) -> Table:
    """The formulas against a stack that is trained one step here."""
    small, settings = SMALL, one_by_one(SMALL) | {"your switches": mine}
    rows = []
    for name, setting in settings.items():
        use = measure(setting)
        kept = _compared(kept_bytes(setting), use.kept)
        rows.append((name, *kept, *_compared(peak_bytes(setting), use.peak)))
    return Table(
        title=(
            f"measured here: {small.n_sequences} sequences of {small.t} tokens, {small.n_layers} layers of "
            f"{small.n_heads} heads with {small.d_head} channels, kB"
        ),
        columns=("saving", "kept: formula", "measured", "ratio", "peak: formula", "measured", "ratio"),
        rows=rows,
        marked=np.array([name == "your switches" for name in settings]),
    )


def _compared(counted: int, measured: int) -> tuple[str, str, str]:
    """Both in kB, and how they compare."""
    return f"{counted / 1e3:,.0f}", f"{measured / 1e3:,.0f}", f"{measured / counted:.3f}"


def notices(plain: list[Setting], mine: list[Setting]) -> list[str]:
    sentences = []
    for one, switched in zip(plain, mine, strict=True):
        sizes = (peak_bytes(one), four_copies(one) / 4, peak_bytes(switched))
        before, patterns, after = (f"{_short(size / 1e9)} GB" for size in sizes)
        sentences.append(
            f"With {one.t:,} tokens, training peaks at **{before}**, {patterns} of it attention patterns; "
            + (f"with your switches at **{after}**." if switched != one else "no saving is switched on.")
        )
    return sentences


def _short(size: float) -> str:
    """Three digits, or all before the point."""
    return f"{size:,.0f}" if size >= 100 else f"{size:.3g}"


def lesson(inputs: Inputs) -> Lesson:
    plain = [Setting(inputs.sequences, t, inputs.heads, inputs.layers) for t in LONG]
    mine = [_switched(setting, inputs) for setting in plain]
    h, t, b, d = inputs.heads, inputs.t, inputs.sequences, inputs.heads * plain[0].d_head
    return Lesson(
        rows=[
            [facts(plain, mine)],
            [bars(plain, mine), curves(plain, mine)],
            [measured(_switched(SMALL, inputs))],
        ],
        notice=notices(plain, mine),
        scrub=Scrub("t", "tokens t", np.array(LONG), [f"{t:,}" for t in LONG]),
        sizes=(
            rf"b={b},\; h={h},\; d={d}.\;\text{{ With }} t={t}:\; {b}\cdot{t}\cdot{t}\cdot 4\,\mathrm{{B}}="
            rf"{matrix_bytes(b, t) / 1e6:g}\,\mathrm{{MB}}"
        ),
        axes={"sequence": b, "head": h, "position": t, "query": t, "key": t, "d": d, "d_head": d // h},
        code=(
            matrix_bytes, four_copies, layer_bytes, kept_bytes, peak_bytes,
            attend, Recomputed, loss, measure,
            measure_pieces, Meter,
        ),
    )  # fmt: skip


def _switched(setting: Setting, inputs: Inputs) -> Setting:
    return replace(
        setting,
        half=inputs.half,
        n_pieces=inputs.pieces,
        checkpointing=inputs.checkpointing,
        fused=inputs.fused,
    )


def questions() -> tuple[Answer, ...]:
    twice = matrix_bytes(16, 2_000) // matrix_bytes(16, 1_000)
    small = SMALL
    others = 5 * small.n_layers * stream_bytes(small)
    matrices = small.n_layers * small.n_heads * matrix_bytes(small.n_sequences, small.t)
    n_matrices = round((measure(small).kept - others) / matrices)
    long = one_by_one(Setting(16, 4_000, 8, 6))
    names = ("half precision", "fused attention", "checkpointing")
    peaks = {name: peak_bytes(long[name]) / 1e9 for name in names}
    plain = peak_bytes(long["plain"]) / 1e9
    return (
        Answer.of(
            (2, 4, 8).index(twice),
            short_text=matrix_bytes(16, 1_000) / 1e6,
            long_text=matrix_bytes(16, 2_000) / 1e6,
        ),
        Answer.of({1: 0, 2: 1, 4: 2}[n_matrices], kept=n_matrices),
        Answer.of(
            min(range(3), key=lambda at: peaks[names[at]]),
            options=names,
            plain=plain,
            each=", ".join(f"{name} {size:.1f}" for name, size in peaks.items()),
        ),
    )


CONTROLS = (
    Columns((("sequences", "layers"), ("heads", "pieces"))),
    "half",
    "checkpointing",
    "fused",
    Note("Heads have 64 channels; weights and gradients are left out."),
)
PART = part(__name__, CONTROLS, lesson, questions, scrub="t")
